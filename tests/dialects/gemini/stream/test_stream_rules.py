"""The rules of the dialect, line by line: outcomes, messages that grow, tools that were left open."""

from typing import Any

import pytest

from dragoman._dialects import machine_for
from dragoman._model import events as ev
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.note_frames import Stopping, write
from tests.dialects.gemini.stream.stream_lines import ASKED, INIT, read, result, said, types
from tests.interpreted import of

WARNING = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}
USE = {"type": "tool_use", "tool_name": "list_directory", "tool_id": "list_directory__1", "parameters": {}}


@pytest.mark.parametrize(
    ("lines", "exit", "outcome"),
    [
        ([result()], Exit(), "completed"),
        ([result()], Exit(code=0), "completed"),
        ([result()], Exit(signal="SIGTERM"), "completed"),
        ([result()], Exit(code=1), "failed"),
        ([result("error")], Exit(code=0), "failed"),
        ([result("cancelled")], Exit(), "cancelled"),
        ([WARNING, result()], Exit(code=0), "limited"),
        ([{**WARNING, "message": "Agent execution blocked: no"}, result()], Exit(code=0), "refused"),
        ([{**WARNING, "message": "Something else"}, result()], Exit(code=0), "completed"),
        ([{**WARNING, "message": "Bad", "severity": "error"}, result()], Exit(code=0), "failed"),
        (
            [{"type": "error", "message": "Maximum session turns exceeded"}, result("error")],
            Exit(),
            "limited",
        ),
        (
            [result("error", error={"type": "FatalCancellationError", "message": "x"})],
            Exit(code=130),
            "cancelled",
        ),
        ([said("half")], Exit(code=0), "truncated"),
        ([], Exit(code=1), "truncated"),
    ],
)
def test_outcome(lines: list[object], exit: Exit, outcome: str) -> None:
    events = read(INIT, ASKED, *lines, exit=exit)
    assert [turn.outcome for turn in of(events, ev.TurnEnded)] == [outcome]


@pytest.mark.parametrize(
    ("code", "told"),
    [(144, "400"), (145, "401"), (147, "403"), (173, "429"), (244, "500"), (247, "503"), (1, None)],
)
def test_an_exit_code_is_an_http_status(code: int, told: str | None) -> None:
    error = {"type": "unknown", "message": "[API Error: no details]"}
    [turn] = of(read(INIT, ASKED, result("error", error=error), exit=Exit(code=code)), ev.TurnEnded)
    kind: Any = "loginRequired" if told == "401" else None
    assert turn.error == ev.ErrorInfo(message="[API Error: no details]", code=told, kind=kind)


def test_without_an_exit_code_the_message_tells() -> None:
    error = {"type": "unknown", "message": '[API Error: {"error":{"code":404,"message":"no"}}]'}
    [turn] = of(read(INIT, ASKED, result("error", error=error)), ev.TurnEnded)
    assert turn.error is not None
    assert turn.error.code == "404"


def test_a_process_that_died_after_init_has_cut_its_turn_off() -> None:
    events = read(INIT, exit=Exit(code=0))
    assert types(events)[-3:] == ["turn.started", "turn.ended", "run.ended"]
    assert of(events, ev.RunEnded)[0].outcome == "truncated"


def test_what_we_stopped_is_cancelled() -> None:
    machine = machine_for("gemini_stream")
    machine.start(Launch(agent="gemini", dialect="gemini_stream"))
    machine.receive(Frame(1, "out", b'{"type":"init","session_id":"s"}'))
    machine.receive(Frame(2, "note", write(Stopping(reason="cancelled"))))
    ended = machine.end(Exit(code=0)).events
    assert [event.outcome for event in ended if isinstance(event, ev.TurnEnded)] == ["cancelled"]


def test_turn_ended_waits_for_the_exit_but_the_message_does_not() -> None:
    machine = machine_for("gemini_stream")
    machine.start(Launch(agent="gemini", dialect="gemini_stream"))
    machine.receive(Frame(1, "out", b'{"type":"message","role":"assistant","content":"x","delta":true}'))
    assert not machine.finished
    events = machine.receive(Frame(2, "out", b'{"type":"result","status":"success"}')).events
    assert [type(event) for event in events] == [ev.Message]
    assert machine.finished


def test_the_final_answer_is_what_was_said_last() -> None:
    done = {"type": "tool_result", "tool_id": "list_directory__1", "status": "success"}
    [turn] = of(
        read(INIT, ASKED, said("I look."), USE, done, said("Two "), said("files."), result()), ev.TurnEnded
    )
    assert turn.text == "Two files."
    [turn] = of(read(INIT, ASKED, said("I look."), USE, done, result()), ev.TurnEnded)
    assert turn.text is None


def test_half_a_character_at_the_end_is_none() -> None:
    line = b'{"type":"message","role":"assistant","content":"a\\ud83d","delta":true}'
    events = read(INIT, ASKED, line, result())
    [message] = [m for m in of(events, ev.Message) if m.role == "assistant"]
    assert message.text == "a\ufffd" == "".join(delta.text for delta in of(events, ev.Delta))


def test_tools_that_were_left_open_end_with_the_turn() -> None:
    [ended] = of(read(INIT, ASKED, USE, result()), ev.ToolEnded)
    assert (ended.status, ended.synthesized) == ("abandoned", True)


def test_a_result_for_a_call_that_was_not_announced() -> None:
    line = {"type": "tool_result", "tool_id": "read_file__x__7", "status": "success", "output": "text"}
    events = read(INIT, ASKED, line, result())
    [started], [ended] = of(events, ev.ToolStarted), of(events, ev.ToolEnded)
    assert (started.name, started.kind, started.synthesized) == ("read_file", "read", True)
    assert ended.output == "text"


def test_a_second_result_of_a_call_is_late() -> None:
    done = {"type": "tool_result", "tool_id": "list_directory__1", "status": "success", "output": "a"}
    events = read(INIT, ASKED, USE, done, {**done, "output": "b"}, result())
    [late] = of(events, ev.ToolUpdated)
    assert (late.output, late.late) == ("b", True)


def test_the_streams_of_several_processes_in_a_row() -> None:
    events = read(
        INIT, ASKED, said("one"), result(), INIT, {**ASKED, "content": "more"}, said("two"), result()
    )
    assert [turn.prompt for turn in of(events, ev.TurnStarted)] == ["hi", "more"]
    assert [turn.text for turn in of(events, ev.TurnEnded)] == ["one", "two"]
    assert len(of(events, ev.SessionStarted)) == 1


def test_a_resumed_session() -> None:
    launch = Launch(agent="gemini", dialect="gemini_stream", resume="s1")
    [session] = of(read(INIT, ASKED, result(), launch=launch), ev.SessionStarted)
    assert (session.session, session.resumed) == ("s1", True)


def test_words_of_another_program_before_an_event() -> None:
    events = read(INIT, b'Hello there{"type":"message","role":"assistant","content":"x"}', result())
    assert of(events, ev.NativeInvalid) == []
    assert of(events, ev.Message)[0].text == "x"


def test_unknown_events_and_lines_that_are_none() -> None:
    events = read(INIT, {"type": "news"}, b"plain text", b"", b"[1]", result())
    assert [event.native_type for event in of(events, ev.NativeUnknown)] == ["news"]
    assert len(of(events, ev.NativeInvalid)) == 2
    assert of(events, ev.NativeKnown)[0].native_type == "blank"


def test_a_second_result_is_late_in_the_next_turn_too() -> None:
    """A call is forgotten when it has ended; that it has, the ledger knows."""
    told = {"type": "tool_result", "tool_id": USE["tool_id"], "status": "success", "output": "a"}
    events = read(INIT, ASKED, USE, told, result(), INIT, ASKED, {**told, "output": "b"}, result())
    assert [event.output for event in of(events, ev.ToolEnded)] == ["a"]
    assert [(event.output, event.late) for event in of(events, ev.ToolUpdated)] == [("b", True)]


def test_a_result_after_the_turn_that_ended_its_tool_is_late() -> None:
    told = {"type": "tool_result", "tool_id": USE["tool_id"], "status": "success", "output": "b"}
    events = read(INIT, ASKED, USE, result(), INIT, ASKED, told, result())
    assert [event.status for event in of(events, ev.ToolEnded)] == ["abandoned"]
    assert [(event.output, event.late) for event in of(events, ev.ToolUpdated)] == [("b", True)]
