"""What the real CLI wrote, and what it means: how turns end, what tools did, what they took."""

import pytest

from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from tests.dialects.gemini.stream.stream_lines import CAPTURES, capture, types
from tests.interpreted import of

OUTCOMES = {
    "truncated": "big_text_slow_norelaunch sigkill_parent sigterm_norelaunch",
    "failed": (
        "err_400 err_401 err_429_daily err_500_forever err_bad_sse err_conn_refused err_disconnect_mid err_empty "
        "err_malformed_fc err_nofinish err_prompt_blocked err_thought_only"
    ),
    "limited": "expagent_maxturns huge_text loop_text loop_tool max_turns unicode",
    "refused": "hook_beforeagent_deny",
    "no turn": (
        "bad_flag empty_prompt format_text list_sessions no_auth resume_7_bogus resume_short_id "
        "stdin_held_open_data untrusted"
    ),
}
"""Read by hand, capture by capture. All others completed."""

BY_NAME = {name: outcome for outcome, names in OUTCOMES.items() for name in names.split()}
NAMES = sorted(path.parent.name for path in CAPTURES.glob("*/meta.json"))


@pytest.mark.parametrize("name", NAMES)
def test_how_the_turn_ended(name: str) -> None:
    turns = [turn.outcome for turn in of(capture(name), ev.TurnEnded)]
    expected = BY_NAME.get(name, "completed")
    assert turns == ([] if expected == "no turn" else [expected])


def test_every_named_capture_is_there() -> None:
    assert BY_NAME.keys() <= set(NAMES)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("err_400", "400"),
        ("err_401", "401"),
        ("err_429_daily", "429"),
        ("err_500_forever", "500"),
        ("max_turns", "FatalTurnLimitedError"),
        ("err_conn_refused", None),
        ("err_empty", None),
    ],
)
def test_the_code_of_a_failure(name: str, code: str | None) -> None:
    error = of(capture(name), ev.TurnEnded)[0].error
    assert error is not None
    assert error.code == code


def test_an_empty_answer_is_explained_by_the_error_before_it() -> None:
    events = capture("err_empty")
    [told], [turn] = of(events, ev.Error), of(events, ev.TurnEnded)
    assert told.severity == "error"
    assert turn.error is not None
    assert (turn.error.message, turn.errors) == (told.message, [told.message])


def test_nobody_is_logged_in() -> None:
    """It exits with 41 and writes to stderr alone."""
    events = capture("no_auth")
    assert types(events) == ["run.started", "error", "run.ended"]
    assert isinstance(events[1], ev.Error)
    assert (events[1].kind, events[1].scope, events[1].synthesized) == ("loginRequired", "session", True)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("bad_flag", "failed"),
        ("untrusted", "failed"),
        ("stdin_held_open_data", "crashed"),
    ],
)
def test_a_run_that_wrote_nothing(name: str, outcome: str) -> None:
    events = capture(name)
    assert types(events) == ["run.started", "run.ended"]
    [run] = of(events, ev.RunEnded)
    assert run.outcome == outcome


def test_a_message_for_every_row_of_deltas() -> None:
    """Text, calls and text of one answer come as streamed; their results all after it."""
    events = capture("text_and_tool_interleaved")
    assert [type for type in types(events) if type in ("message", "tool.started", "tool.ended")] == [
        *("message", "message", "tool.started", "message", "tool.started", "message"),
        *("tool.ended", "tool.ended", "message"),
    ]
    spoken = [message for message in of(events, ev.Message) if message.role == "assistant"]
    assert [message.text for message in spoken] == ["before ", "between ", "after", "ok"]
    assert all(message.synthesized for message in spoken)
    assert len({message.message_id for message in spoken}) == 4


def test_the_prompt() -> None:
    events = capture("stdin_plus_p")
    [turn], prompt = of(events, ev.TurnStarted), of(events, ev.Message)[0]
    assert turn.prompt == prompt.text
    assert (prompt.role, prompt.echo, prompt.origin) == ("user", True, "agent")


def test_repeated_deltas_are_kept() -> None:
    [message] = [m for m in of(capture("err_nofinish"), ev.Message) if m.role == "assistant"]
    assert message.text == "no finish here" * 4


def test_halves_of_characters_find_each_other() -> None:
    events = capture("unicode2")
    text = next(m.text for m in of(events, ev.Message) if m.role == "assistant")
    assert text == "plain é 😀 splitlone \ufffd end\u2028LS\u2029PS\u0085NEL"
    assert of(events, ev.ToolStarted)[0].input["description"] == "\u2028 weird \ufffd"


def test_kinds_of_tools() -> None:
    kinds = {
        event.native_name or event.name: event.kind for event in of(capture("tools_yolo"), ev.ToolStarted)
    }
    assert kinds == {
        "run_shell_command": "execute",
        "write_file": "edit",
        "read_file": "read",
        "replace": "edit",
        "glob": "search",
        "grep_search": "search",
        "search_file_content": "search",
        "list_directory": "search",
        "google_web_search": "browse",
        "web_fetch": "fetch",
        "save_memory": "memory",
        "write_todos": "memory",
        "update_topic": "think",
        "mcp_tiny_echo": "mcp",
        "mcp_tiny_image": "mcp",
        "list_mcp_resources": "search",
        "read_mcp_resource": "read",
        "read_many_files": "read",
        "get_internal_docs": "think",
    }


def test_what_tools_did_beside() -> None:
    events = capture("tools_yolo")
    [plan] = of(events, ev.PlanUpdated)
    assert [(entry.text, entry.status) for entry in plan.entries] == [
        ("first", "in_progress"),
        ("second", "pending"),
    ]
    written, replaced = of(events, ev.FileChanged)
    assert (written.path, written.after, written.phase) == ("new.txt", "one\ntwo\n", "applied")
    assert (replaced.path, replaced.change) == ("a.txt", "modified")
    assert replaced.diff is not None
    assert "-beta" in replaced.diff
    assert "+BETA" in replaced.diff


def test_tools_that_failed() -> None:
    events = capture("tool_errors")
    ended = {event.call_id.partition("__")[0]: event for event in of(events, ev.ToolEnded)}
    assert ended["no_such_tool"].status == "failed"
    assert ended["no_such_tool"].error is not None
    assert ended["no_such_tool"].error.code == "tool_not_registered"
    assert ended["no_such_tool"].ext["gemini.error"]["type"] == "tool_not_registered"
    codes = [event.exit_code for event in of(events, ev.ToolEnded) if "shell" in event.call_id]
    assert codes == [3, None]
    assert [change.phase for change in of(events, ev.FileChanged)] == ["failed", "failed"]


def test_a_hook_that_denies_a_tool() -> None:
    [ended] = of(capture("hook_beforetool_deny"), ev.ToolEnded)
    assert ended.status == "declined"


def test_a_subagent() -> None:
    events = capture("subagent")
    [started], [ended] = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert (started.agent_type, started.description) == ("codebase_investigator", "look at it")
    assert started.call_id == ended.call_id == of(events, ev.ToolStarted)[0].call_id
    assert ended.status == "completed"


def test_usage_by_model() -> None:
    [turn] = of(capture("model_auto"), ev.TurnEnded)
    assert turn.usage == Usage(input_tokens=2000, cache_read_tokens=200, output_tokens=54, total_tokens=2054)
    each = ModelUsage(input_tokens=1000, cache_read_tokens=100, output_tokens=27, total_tokens=1027)
    assert turn.model_usage == {"gemini-3.5-flash-lite": each, "gemini-3.8-flash": each}
    assert turn.ext["gemini.stats"]["tool_calls"] == 0
    assert turn.duration_ms == 170


def test_a_line_that_was_cut_off() -> None:
    events = capture("big_text_slow_norelaunch")
    [invalid] = of(events, ev.NativeInvalid)
    assert invalid.reason is not None
    assert events[-1] == of(events, ev.RunEnded)[0]
    assert of(events, ev.RunEnded)[0].outcome == "truncated"
