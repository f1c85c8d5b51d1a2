"""Forks, compactions, titles, errors, and what is unknown."""

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from tests.dialects.claude.transcript.transcript_files import NEW, OLD, lines, read
from tests.interpreted import of


def test_a_fork_alone_is_a_whole_session() -> None:
    for version in (OLD, NEW):
        events = read(version / "fork" / "session.jsonl")
        prompts = [turn.prompt for turn in of(events, ev.TurnStarted)]
        assert prompts == ["first prompt", "second prompt", "third prompt", "fork prompt"]


def test_a_fork_beside_its_original_is_read_once() -> None:
    fork = OLD / "fork"
    events = read(fork / "original.jsonl", fork / "session.jsonl")
    assert broken(events) == []
    prompts = [turn.prompt for turn in of(events, ev.TurnStarted)]
    assert prompts == ["first prompt", "second prompt", "third prompt", "fork prompt"]
    sessions = [session.session for session in of(events, ev.SessionStarted)]
    assert len(set(sessions)) == 2
    assert [turn.session for turn in of(events, ev.TurnStarted)] == [*[sessions[0]] * 3, sessions[1]]
    assert len(of(events, ev.ToolStarted)) == 1


def test_a_compaction() -> None:
    events = read(OLD / "compact" / "session.jsonl")
    (compacted,) = of(events, ev.ContextCompacted)
    assert (compacted.trigger, compacted.before_tokens, compacted.after_tokens) == ("manual", 180, 585)
    assert [turn.prompt for turn in of(events, ev.TurnStarted)] == [
        "one",
        "two",
        "/compact keep it short",
        "after",
    ]
    answers = [message.text for message in of(events, ev.Message) if message.role == "assistant"]
    assert answers == ["Answer one is here.", "Answer two.", "After compact."], (
        "the kept message is not said again"
    )
    (summary, _) = [message for message in of(events, ev.Message) if message.synthetic]
    assert (summary.text or "").startswith("This session is being continued")


def test_an_api_error_is_an_error_and_a_message() -> None:
    events = read(NEW / "api_529_exhausted" / "session.jsonl")
    assert [(retry.attempt, retry.status_code) for retry in of(events, ev.Retry)] == [(1, 529), (2, 529)]
    (error,) = of(events, ev.Error)
    assert error.code == "server_error"
    assert [message.kind for message in of(events, ev.Message) if message.role == "assistant"] == ["error"]
    (turn,) = of(events, ev.TurnEnded)
    assert turn.error is not None
    assert turn.error.message == error.message


def test_hooks() -> None:
    hooks = of(read(OLD / "hooks_settings" / "session.jsonl"), ev.Hook)
    assert [(hook.event, hook.outcome, hook.exit_code) for hook in hooks] == [
        ("SessionStart", "success", 0),
        ("UserPromptSubmit", "success", 0),
        ("PreToolUse", "success", 0),
        ("PostToolUse", "error", 1),
        ("Stop", "success", 0),
    ]


def test_titles_and_permission_modes() -> None:
    updates = of(read(NEW / "bidi_controls" / "session.jsonl"), ev.SessionUpdated)
    assert [update.title for update in updates if update.title] == ["My title"]
    assert [update.permission_mode for update in updates if update.permission_mode] == ["acceptEdits"]


def test_a_given_title_stays_and_a_summary_must_be_of_this_file() -> None:
    entry = {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/w", "message": {"content": "go"}}
    events = lines(
        {"type": "summary", "summary": "another file's", "leafUuid": "elsewhere"},
        {"type": "summary", "summary": "this one's", "leafUuid": "u1"},
        entry,
        {"type": "ai-title", "aiTitle": "made up", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "given", "sessionId": "s"},
        {"type": "ai-title", "aiTitle": "made up again", "sessionId": "s"},
    )
    assert [update.title for update in of(events, ev.SessionUpdated)] == ["this one's", "made up", "given"]


def test_redacted_thinking_is_not_lost() -> None:
    thoughts = [m for m in of(read(OLD / "thinking" / "session.jsonl"), ev.Message) if m.kind == "thinking"]
    assert [bool(thought.blocks) for thought in thoughts] == [False, True]
    assert [thought.block for thought in thoughts] == [0, 1]


def test_what_is_unknown_is_named() -> None:
    events = lines(
        {"type": "new-thing", "sessionId": "s"},
        {"type": "system", "subtype": "new_thing"},
        {"type": "attachment", "attachment": {"type": "new_thing"}},
        [],
    )
    assert [event.native_type for event in of(events, ev.NativeUnknown)] == [
        "new-thing",
        "system/new_thing",
        "attachment/new_thing",
    ]
    assert len(of(events, ev.NativeInvalid)) == 1


def test_one_toolUseResult_beside_two_results_is_nobodys() -> None:
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("t1", "t2")]
    events = lines({"type": "user", "message": {"content": results}, "toolUseResult": {"stdout": "t1"}})
    assert [(tool.output, tool.structured) for tool in of(events, ev.ToolEnded)] == [
        ("t1", None),
        ("t2", None),
    ]
