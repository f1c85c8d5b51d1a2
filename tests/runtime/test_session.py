"""Conversations with a well-behaved agent."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Interrupt, Prompt
from dragoman._model.errors import ProcessExited, SpawnFailed, Unsupported, UsageError
from dragoman._model.events import (
    CommandEnded,
    Event,
    Message,
    NativeInvalid,
    RunEnded,
    RunStarted,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman._model.frames import Exit
from dragoman._runtime.process.pipes import Stdin
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import CAN, alone, toy_plan

pytestmark = pytest.mark.anyio


def said(events: list[Event]) -> list[str | None]:
    return [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]


async def test_a_prompt_yields_its_turn_from_start_to_end() -> None:
    async with alone(toy_plan()) as session:
        events = [event async for event in session.prompt("say one\nsay two")]
        assert isinstance(events[0], TurnStarted)
        assert isinstance(events[-1], TurnEnded)
        assert said(events) == ["one", "two"]
        assert session.id == "s-1"
        again = [event async for event in session.prompt("say three")]
        assert {event.turn for event in again} == {2}
        assert said(again) == ["three"]
    assert session.exit == Exit(code=0, reason="closed", t=session.exit.t if session.exit else None)
    assert session.result is not None
    assert session.result.outcome == "completed"


async def test_events_from_before_the_first_turn_begin_with_the_opening() -> None:
    async with alone(toy_plan()) as session:
        stream = session.events()
        turn = [event async for event in session.prompt("say hello")]
        late = session.events()
    everything = [event async for event in stream]
    assert isinstance(everything[0], RunStarted)
    assert isinstance(everything[-1], RunEnded)
    assert [event.seq for event in everything] == list(range(1, len(everything) + 1))
    assert set(map(id, turn)) <= set(map(id, everything))
    opening = everything[: everything.index(turn[0])]
    assert [type(event) for event in opening if not isinstance(event, SessionStarted)] == [RunStarted]
    assert [type(event) async for event in late] == [RunEnded]


async def test_two_prompts_at_once_each_get_their_own_turn() -> None:
    async with alone(toy_plan()) as session:
        turns: dict[str, list[Event]] = {}

        async def ask(word: str) -> None:
            turns[word] = [event async for event in session.prompt(f"say {word}\nsay {word}")]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "left")
            tasks.start_soon(ask, "right")
    assert said(turns["left"]) == ["left", "left"]
    assert said(turns["right"]) == ["right", "right"]
    assert {event.turn for event in turns["left"]} ^ {event.turn for event in turns["right"]} == {1, 2}


async def test_leaving_the_iteration_leaves_the_session_usable() -> None:
    async with alone(toy_plan()) as session:
        async for _ in session.prompt("say one\nsay two"):
            break
        stream = session.prompt("say three")
        await session.prompt("say four").aclose()
        assert said([event async for event in stream]) == ["three"]
        assert said([event async for event in session.prompt("say five")]) == ["five"]


async def test_a_first_prompt_is_sent_at_once_and_events_tell_all_of_it() -> None:
    async with alone(toy_plan(), prompt="say hello") as session:
        events = []
        async for event in session.events():
            events.append(event)
            if isinstance(event, TurnEnded):
                break
    assert isinstance(events[0], RunStarted)
    assert said(events) == ["hello"]


async def test_commands_come_back_with_the_agents_answer() -> None:
    async with alone(toy_plan()) as session:
        answer = await session.set_mode("plan")
        assert isinstance(answer, CommandEnded)
        assert answer.request_id == "dragoman-1"
        seen = []
        async for event in session.prompt("say started\nwait"):
            seen.append(event)
            if said([event]) == ["started"]:
                await session.steer("hurry")
                interrupted = await session.interrupt()
                assert interrupted is not None
                assert interrupted.ok
        assert said(seen) == ["started", "steered: hurry"]
        end = seen[-1]
        assert isinstance(end, TurnEnded)
        assert end.outcome == "cancelled"
        assert said([event async for event in session.prompt("say on")]) == ["on"]


async def test_what_the_agent_cannot_do_is_refused_before_anything_is_sent() -> None:
    recorder = Frames()
    async with alone(toy_plan(capabilities=CAN - {Capability.STEER}), recorder=recorder) as session:
        with pytest.raises(Unsupported, match="toy cannot do this: steer"):
            await session.steer("hurry")
        with pytest.raises(Unsupported):
            await session.set_model("other")
    assert [frame for frame in recorder if frame.dir == "in"] == []


async def test_frames_are_numbered_recorded_and_timed_in_one_order() -> None:
    recorder = Frames()
    async with alone(toy_plan(), recorder=recorder) as session:
        async for _ in session.prompt("say one\ncomplain loudly\ngarble\nsay two"):
            pass
    frames = recorder
    assert [frame.n for frame in frames] == list(range(1, len(frames) + 1))
    assert {frame.dir for frame in frames} == {"out", "in", "err", "note"}
    times = [frame.t for frame in frames if frame.t is not None]
    assert times == sorted(times)
    assert recorder.launch is not None
    assert recorder.launch.pid
    assert recorder.exit is not None
    assert recorder.exit.code == 0
    assert recorder.closed
    assert session.recording_error is None


async def test_a_line_that_is_owed_follows_the_line_that_asked_for_it() -> None:
    recorder = Frames()
    async with alone(toy_plan("pings.py"), recorder=recorder) as session:
        events = [event async for event in session.events()]
    traffic = [(frame.dir, frame.line) for frame in recorder if frame.dir in ("out", "in")]
    assert traffic[:4] == [
        ("out", b'{"type":"ping"}'),
        ("in", b'{"type":"pong"}'),
        ("out", b'{"type":"ping"}'),
        ("in", b'{"type":"pong"}'),
    ]
    assert said(events) == ["got both"]


async def test_what_is_told_or_sent_is_recorded_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames of one read are recorded together, and that is early enough."""
    recorder, written = Frames(), list[bytes]()
    put = Stdin.put

    def put_later(stdin: Stdin, line: bytes) -> None:
        assert (recorder[-1].dir, recorder[-1].line) == ("in", line)
        written.append(line)
        put(stdin, line)

    monkeypatch.setattr(Stdin, "put", put_later)
    async with alone(toy_plan(), recorder=recorder) as session:
        async for event in session.prompt("say one\nsay two\nsay three"):
            assert event.frame is None or event.frame <= len(recorder)
    assert written


async def test_a_disk_that_fills_up_does_not_take_the_run_with_it() -> None:
    recorder = Frames(room=3)
    async with alone(toy_plan(), recorder=recorder) as session:
        assert said([event async for event in session.prompt("say one\nsay two")]) == ["one", "two"]
    assert str(session.recording_error) == "disk full"
    assert recorder.closed


async def test_a_recording_that_cannot_begin_stops_the_start() -> None:
    recorder = Frames(room=0)
    with pytest.raises(OSError, match="disk full"):
        async with alone(toy_plan(), recorder=recorder):
            pytest.fail("it must not open")
    assert recorder.closed


async def test_lines_that_are_no_json_are_events_too() -> None:
    async with alone(toy_plan()) as session:
        events = [event async for event in session.prompt("garble\nsay on")]
    assert [type(event) for event in events].count(NativeInvalid) == 1
    assert said(events) == ["on"]


async def test_a_session_that_is_not_open_says_so() -> None:
    session = alone(toy_plan())
    with pytest.raises(UsageError, match="async with"):
        session.prompt("say hello")
    await session.close()
    async with session:
        pass
    with pytest.raises(UsageError, match="only once"):
        await session.__aenter__()
    with pytest.raises(ProcessExited, match="exited"):
        session.prompt("say hello")


async def test_a_first_prompt_that_is_refused_leaves_no_child() -> None:
    session = alone(toy_plan(capabilities=frozenset()), prompt="say hello")
    with pytest.raises(Unsupported):
        await session.__aenter__()
    assert session.exit is not None


async def test_a_command_keeps_the_id_it_was_given() -> None:
    async with alone(toy_plan()) as session:
        stream = session.events()
        await session.send(Prompt(text="say hello\nwait", id="mine"))
        async for event in stream:
            if isinstance(event, Message) and event.text == "hello":
                break
        answer = await session.send(Interrupt(id="stop-it"))
        assert answer is not None
        assert answer.request_id == "stop-it"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"argv": ["/nowhere/agent"]}, "there is no program /nowhere/agent"),
        ({"argv": [__file__]}, "may not be executed"),
        ({"cwd": "/nowhere/at/all"}, "there is no directory /nowhere/at/all"),
        ({"argv": ["/bin/true", "nul\0byte"]}, "cannot be run"),
    ],
)
async def test_an_agent_that_does_not_start_says_why_and_what_to_do(
    change: dict[str, Any], sentence: str
) -> None:
    recorder = Frames()
    with pytest.raises(SpawnFailed, match=sentence):
        async with alone(toy_plan(**change), recorder=recorder):
            pytest.fail("it must not open")
    assert recorder.closed


async def test_a_script_without_its_interpreter_says_so(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/nowhere/python\n")
    script.chmod(0o755)
    with pytest.raises(SpawnFailed, match="interpreter"):
        async with alone(toy_plan(argv=[str(script)])):
            pytest.fail("it must not open")
