"""A stream and its session file together: what the one leaves out, the other has."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._files.convert import convert, native_lines
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._reports.enrich import enrich
from dragoman._wire.event_json import encode
from tests.golden import CAPTURES
from tests.interpreted import of

STREAMS = CAPTURES / "gemini_stream" / "0.61.0"
CHATS = CAPTURES / "gemini_chat" / "0.61.0"
BOTH = sorted(path.name for path in CHATS.iterdir() if (STREAMS / path.name).is_dir())


def stream(name: str, *, native: bool = False) -> list[Event]:
    return list(convert(STREAMS / name / "stdout.jsonl", "gemini_stream", native=native))


def chat(*names: str) -> list[Event]:
    lines = [line for name in names for line in (CHATS / name / "session.jsonl").read_bytes().splitlines()]
    return list(convert(lines, "gemini_chat"))


def enriched(name: str, *chats: str, native: bool = False) -> list[Event]:
    events = enrich(stream(name, native=native), chat(*(chats or (name,))))
    assert broken(events) == []
    return events


def lines(*values: dict[str, Any]) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


@pytest.mark.parametrize("name", BOTH)
def test_every_capture_keeps_the_rules_and_its_frames(name: str) -> None:
    before, file = stream(name, native=True), chat(name)
    said = [encode(event) for event in (*before, *file)]
    after = enrich(before, file)
    assert broken(after) == []
    assert [encode(event) for event in (*before, *file)] == said
    wrote = (STREAMS / name / "stdout.jsonl").read_bytes()
    assert b"".join(native_lines(after)) == wrote
    kept = [(event.frame, event.origin) for event in after if event.frame is not None]
    assert kept == [(event.frame, event.origin) for event in before if event.frame is not None]


def test_there_are_both_for_enough_runs() -> None:
    assert len(BOTH) >= 12


def test_thoughts_and_tokens() -> None:
    events = enriched("text")
    thought, said = [m for m in of(events, ev.Message) if m.role == "assistant"]
    assert (thought.kind, thought.text) == ("thinking", "**Planning**\nThinking hard about it.")
    assert (thought.frame, thought.origin, thought.turn) == (None, "dragoman", 1)
    assert thought.seq < of(events, ev.Delta)[0].seq < said.seq
    used = Usage(
        input_tokens=1000, cache_read_tokens=100, output_tokens=27, reasoning_tokens=7, total_tokens=1027
    )
    assert of(events, ev.UsageUpdated)[0].usage == used
    [turn], [run] = of(events, ev.TurnEnded), of(events, ev.RunEnded)
    assert turn.usage == run.usage == used
    assert turn.model_usage["gemini-2.5-pro"].reasoning_tokens == 7


def test_what_tools_answered_and_did() -> None:
    plain, events = stream("tools_yolo"), enriched("tools_yolo")
    read = [e.output for e in of(events, ev.ToolEnded) if e.call_id.startswith("read_file__")]
    assert next(e.output for e in of(plain, ev.ToolEnded) if e.call_id.startswith("read_file__")) == ""
    assert read[0] == "alpha\nbeta\ngamma\n"
    written, replaced = of(events, ev.FileChanged)
    assert (written.change, written.path) == ("created", "/home/dev/work/tools_yolo/proj/new.txt")
    assert replaced.before == "alpha\nbeta\ngamma\n"
    grep = next(e for e in of(events, ev.ToolEnded) if e.call_id.startswith("grep_search"))
    assert grep.structured["summary"] == "Found 2 matches"


def test_the_exit_code_of_a_command() -> None:
    shells = [e for e in of(enriched("tool_errors"), ev.ToolEnded) if "shell" in e.call_id]
    assert [(e.output, e.exit_code) for e in shells] == [
        ("", 3),
        ("/usr/bin/bash: line 4: no_such_cmd_xyz: command not found", 127),
    ]
    failed = next(e for e in of(enriched("tool_errors"), ev.ToolEnded) if e.error is not None)
    assert failed.error is not None
    assert failed.error.code == "file_not_found"


def test_an_answer_that_began_anew() -> None:
    plain = [m.text for m in of(stream("retries"), ev.Message)]
    assert plain == ["hello", "Let me Let me see.", "nofinish"]
    events = enriched("retries")
    [retry] = of(events, ev.Retry)
    first, again, _ = of(events, ev.Delta)
    assert retry.discards == [first.message_id]
    assert first.seq < retry.seq < again.seq
    spoken = [m for m in of(events, ev.Message) if m.role == "assistant" and m.kind == "text"]
    assert [m.text for m in spoken] == ["Let me see.", "nofinish"]
    assert spoken[0].message_id == again.message_id != first.message_id


def test_text_around_calls_is_no_repetition() -> None:
    events = enriched("text_and_tool_interleaved")
    assert of(events, ev.Retry) == []
    spoken = [m.text for m in of(events, ev.Message) if m.role == "assistant" and m.kind == "text"]
    assert spoken == ["before ", "between ", "after", "ok"]


def test_genuine_repetition_is_kept() -> None:
    assert of(enriched("loop_text"), ev.Retry) == []
    assert of(enriched("err_nofinish"), ev.Retry) == []


def test_what_a_subagent_did() -> None:
    events = enriched("subagent", "subagent", "subagent_file")
    [call] = [e for e in of(events, ev.ToolStarted) if e.parent is None]
    inside = [event for event in events if event.parent == call.call_id]
    assert [e.name for e in of(inside, ev.ToolStarted)] == ["list_directory", "complete_task"]
    [begun], [over] = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert all(begun.seq < event.seq < over.seq for event in inside)
    assert over.agent_id is not None
    assert over.summary is not None
    assert "found it" in over.summary


def test_the_right_turn_of_a_file_with_several() -> None:
    events = enriched("resume_3_uuid")
    assert len(of(events, ev.UsageUpdated)) == 1
    assert of(events, ev.TurnEnded)[0].text == "4th answer"
    other = enrich(stream("resume_1_latest"), chat("resume_3_uuid"))
    assert broken(other) == []
    assert [m.text for m in of(other, ev.Message)] == ["second question", "second answer"]
    assert len(of(other, ev.UsageUpdated)) == 1


def test_a_file_of_another_session_changes_nothing() -> None:
    plain = stream("text")
    assert [encode(event) for event in enrich(plain, chat("unicode2"))] == [encode(event) for event in plain]


STREAM = (
    {"type": "init", "session_id": "s", "model": "m"},
    {"type": "message", "role": "user", "content": "go"},
    {"type": "message", "role": "assistant", "content": "One ", "delta": True},
)
FILE = (
    {"sessionId": "s", "projectHash": "p"},
    {"id": "u", "type": "user", "timestamp": "t", "content": "go"},
)


def entry(content: str, *calls: dict[str, Any]) -> dict[str, Any]:
    more = {"toolCalls": list(calls)} if calls else {}
    return {"id": content or "g", "type": "gemini", "timestamp": "t", "content": content, **more}


def made(id: str, output: str, status: str = "success") -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": "glob", "response": {"output": output}}}
    return {"id": id, "name": "glob", "args": {"pattern": "*"}, "result": [answer], "status": status}


def together(said: tuple[dict[str, Any], ...], stored: tuple[dict[str, Any], ...]) -> list[Event]:
    events = enrich(
        convert(lines(*STREAM, *said), "gemini_stream"), convert(lines(*FILE, *stored), "gemini_chat")
    )
    assert broken(events) == []
    return events


def test_a_stream_that_was_cut_off_goes_on_in_the_file() -> None:
    events = together((), (entry("One two."),))
    assert [m.text for m in of(events, ev.Message)] == ["go", "One two."]
    assert [(d.text, d.frame) for d in of(events, ev.Delta)] == [("One ", 3), ("two.", None)]
    assert of(events, ev.TurnEnded)[0].outcome == "truncated"


def test_calls_and_answers_that_the_stream_lost() -> None:
    events = together((), (entry("One two.", made("glob__1", "a.txt")), entry("Done.")))
    [started], [ended] = of(events, ev.ToolStarted), of(events, ev.ToolEnded)
    assert (started.name, ended.output, ended.frame) == ("glob", "a.txt", None)
    assert [m.text for m in of(events, ev.Message)] == ["go", "One two.", "Done."]


def test_a_call_that_was_open_when_the_stream_was_cut_off() -> None:
    use = {"type": "tool_use", "tool_name": "glob", "tool_id": "glob__1", "parameters": {"pattern": "*"}}
    [ended] = of(together((use,), (entry("One ", made("glob__1", "a.txt")),)), ev.ToolEnded)
    assert (ended.status, ended.output, ended.synthesized) == ("completed", "a.txt", False)


def test_a_cancelled_call_that_said_success() -> None:
    use = {"type": "tool_use", "tool_name": "glob", "tool_id": "glob__1", "parameters": {"pattern": "*"}}
    over = {"type": "tool_result", "tool_id": "glob__1", "status": "success"}
    said = (use, over, {"type": "result", "status": "success"})
    [ended] = of(together(said, (entry("One ", made("glob__1", "", "cancelled")),)), ev.ToolEnded)
    assert ended.status == "cancelled"


def test_an_answer_that_broke_off_before_one_without_words() -> None:
    use = {"type": "tool_use", "tool_name": "glob", "tool_id": "glob__1", "parameters": {"pattern": "*"}}
    events = together((use, {"type": "result", "status": "success"}), (entry("", made("glob__1", "a.txt")),))
    assert [retry.discards for retry in of(events, ev.Retry)] == [["message-2"]]
    assert [m.text for m in of(events, ev.Message)] == ["go"]


def test_a_call_that_the_stream_did_not_announce() -> None:
    over = {"type": "tool_result", "tool_id": "glob__1", "status": "success"}
    said = (over, {"type": "result", "status": "success"})
    [started] = of(together(said, (entry("One ", made("glob__1", "a.txt")),)), ev.ToolStarted)
    assert (started.input, started.title) == ({"pattern": "*"}, "*")


def test_a_call_whose_end_is_only_in_the_stream() -> None:
    use = {"type": "tool_use", "tool_name": "glob", "tool_id": "glob__1", "parameters": {}}
    over = {"type": "tool_result", "tool_id": "glob__1", "status": "success", "output": "x"}
    [ended] = of(together((use, over), (entry("One ", made("glob__1", "", "executing")),)), ev.ToolEnded)
    assert (ended.status, ended.output) == ("completed", "x")


def test_a_call_that_ended_in_neither() -> None:
    use = {"type": "tool_use", "tool_name": "glob", "tool_id": "glob__1", "parameters": {}}
    [ended] = of(together((use,), (entry("One ", made("glob__1", "", "executing")),)), ev.ToolEnded)
    assert ended.status == "abandoned"


IDS = st.sampled_from(["write_file__1", "write_file__2", "invoke_agent__3"])
TEXTS = st.sampled_from(["a", "ab", "b", "a b", " ", ""])
SAID = st.one_of(
    TEXTS.map(lambda text: {"type": "message", "role": "assistant", "content": text, "delta": True}),
    TEXTS.map(lambda text: {"type": "message", "role": "user", "content": text}),
    IDS.map(
        lambda id: {"type": "tool_use", "tool_name": id[:-3], "tool_id": id, "parameters": {"file_path": "a"}}
    ),
    IDS.map(lambda id: {"type": "tool_result", "tool_id": id, "status": "success"}),
    st.sampled_from(
        [{"type": "result", "status": "success"}, {"type": "retry"}, {"type": "init", "session_id": "s"}]
    ),
)
DIFF = {"fileDiff": "", "filePath": "a", "originalContent": "x", "newContent": "y"}
STORED = st.one_of(
    TEXTS.map(lambda text: {"id": f"u{text}", "type": "user", "timestamp": "t", "content": text}),
    st.builds(
        lambda text, ids, status: entry(
            text, *({**made(id, "out", status), "name": id[:-3], "resultDisplay": DIFF} for id in ids)
        ),
        TEXTS,
        st.lists(IDS, max_size=3, unique=True),
        st.sampled_from(["success", "error", "executing"]),
    ),
)


@given(st.lists(SAID, max_size=14), st.lists(STORED, max_size=8))
def test_any_two_fit_together(said: list[dict[str, Any]], stored: list[dict[str, Any]]) -> None:
    file = list(convert(lines({"sessionId": "s", "projectHash": "p"}, *stored), "gemini_chat"))
    for native in (False, True):
        wrote = lines({"type": "init", "session_id": "s"}, *said)
        events = enrich(convert(wrote, "gemini_stream", native=native), file)
        assert broken(events) == []
        assert not native or list(native_lines(events)) == [line + b"\n" for line in wrote]
