"""Files to events and back to the agent's bytes, whatever is in them."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._files.convert import convert, native_lines
from dragoman._files.recording import RecordingWriter
from dragoman._files.sources import Input
from dragoman._model.errors import UsageError
from dragoman._model.events import Event, NativeInvalid, NativeKnown, RunEnded, RunStarted
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import event_json

LINES = [
    b'{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":["Bash"]}',
    b'{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"h\xc3\xb6 \xe2\x80\xa8"}]},"session_id":"s"}',
    b'{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"session_id":"s"}',
    b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]},"session_id":"s"}',
    b'{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s","num_turns":2,"usage":{"input_tokens":1,"output_tokens":2}}',
]
STDOUT = b"\n".join(LINES) + b"\n"


def encoded(events: object) -> list[bytes]:
    return [event_json.encode(event) for event in events]  # type: ignore[attr-defined]


def ended(*args: object, **kwargs: object) -> RunEnded:
    *_, last = convert(*args, **kwargs)  # type: ignore[arg-type]
    assert isinstance(last, RunEnded)
    return last


def test_from_anywhere_the_same_events(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(STDOUT)
    expected = encoded(convert(STDOUT))
    assert broken(list(convert(STDOUT)), frames={1, 2, 3, 4, 5}) == []
    sources: list[Input] = [path, str(path), io.BytesIO(STDOUT), LINES]
    for source in sources:
        assert encoded(convert(source)) == expected


def test_what_is_known_of_the_run_is_in_its_first_event() -> None:
    first, *_ = convert(STDOUT, agent="my-claude")
    assert isinstance(first, RunStarted)
    assert (first.agent, first.dialect) == ("my-claude", "claude_stream")
    assert first.time is None


def test_the_exit_can_be_told() -> None:
    assert ended(STDOUT).exit_code is None
    assert ended(STDOUT, exit=3).exit_code == 3
    assert ended(STDOUT, exit=-15).signal == "SIGTERM"
    assert ended(STDOUT, exit=Exit(reason="timeout")).outcome == "timeout"
    frames = b'{"dir":"out","line":""}\n{"exit":{"code":7}}\n'
    assert ended(frames, "claude_stream").exit_code == 7
    assert ended(frames, "claude_stream", exit=0).exit_code == 0


def test_errors_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        convert(tmp_path / "none.jsonl")


def test_a_recording_gives_the_events_of_the_live_run(tmp_path: Path) -> None:
    launch = Launch(
        agent="claude",
        dialect="claude_stream",
        argv=["claude"],
        started=datetime(2026, 5, 4, 3, 2, 1, 999999, UTC),
    )
    live: list[Event] = []
    machine = machine_for("claude_stream")
    with RecordingWriter(tmp_path / "run.jsonl") as writer:
        writer.begin(launch)
        live += machine.start(launch).events
        for n, line in enumerate(LINES, 1):
            frame = Frame(n, "out", line, n / 7)
            writer.frame(frame)
            live += machine.receive(frame).events
        writer.end(Exit(code=0, t=1.1))
        live += machine.end(Exit(code=0, t=1.1)).events
    assert encoded(convert(tmp_path / "run.jsonl")) == encoded(live)


# --- canonical streams -----------------------------------------------------------------------------------


def test_canonical_events_are_read_as_they_are() -> None:
    lines = encoded(convert(STDOUT, native=True))
    assert encoded(convert(b"\n".join(lines) + b"\n\n")) == lines
    assert encoded(convert(lines, "events")) == lines


def test_a_line_that_is_no_event_is_named() -> None:
    lines = encoded(convert(STDOUT))
    lines[2] = b'{"type":"new.event"}'
    with pytest.raises(UsageError, match=r"line 3 of the input is no canonical event: .*new\.event"):
        list(convert(lines))


# --- native lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b'\n{"type":"assi', b"\n\xff\xfe", b"\n\r\n \n"])
def test_the_agents_bytes_are_written_back_exactly(end: bytes) -> None:
    content = b"\n".join(LINES) + end
    events = list(convert(content, native=True))
    assert b"".join(native_lines(events)) == content
    assert b"".join(native_lines(convert(encoded(events)))) == content


def test_only_what_the_agent_wrote_is_written_back() -> None:
    frames = b'{"dir":"in","line":"{}"}\n{"dir":"out","line":"a"}\n{"dir":"err","line":"b"}\n{"dir":"out","b64":"/w==","eol":false}\n'
    assert b"".join(native_lines(convert(frames, "claude_stream", native=True))) == b"a\n\xff"


def test_without_native_lines_there_is_nothing_to_write_back() -> None:
    with pytest.raises(UsageError, match="made without native lines"):
        list(native_lines(convert(STDOUT)))


# --- anything at all -------------------------------------------------------------------------------------

pieces = (
    st.sampled_from(LINES) | st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")) | st.just(b"")
)


@given(st.lists(pieces, max_size=12), st.booleans(), st.integers(0, 200))
def test_any_bytes_become_a_sound_stream_and_come_back(lines: list[bytes], whole: bool, cut: int) -> None:
    content = b"\n".join(lines) + b"\n"
    content = content if whole else content[: max(0, len(content) - cut)]
    events = list(convert(content, "claude_stream", native=True))
    frames = range(1, content.count(b"\n") + (not content.endswith(b"\n") and content != b"") + 1)
    assert broken(events, frames=frames) == []
    assert b"".join(native_lines(convert(encoded(events)))) == content


def test_odd_lines_are_named_not_dropped() -> None:
    events = list(convert(b"\nnot json\n", "claude_stream"))
    assert [type(event) for event in events[1:3]] == [NativeKnown, NativeInvalid]
    assert [event.frame for event in events[1:3]] == [1, 2]
