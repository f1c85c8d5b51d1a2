"""Agents that misbehave: nothing is lost, nothing hangs, and the run's end tells."""

import os
from pathlib import Path

import anyio
import pytest

from dragoman._model.errors import ProcessExited
from dragoman._model.events import Event, Message, NativeInvalid, RunEnded, TurnEnded
from dragoman._model.frames import Frame
from dragoman._runtime import run as run_module
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


async def all_events(*orders: str, recorder: Frames | None = None) -> list[Event]:
    async with alone(toy_plan("writes.py", *orders), recorder=recorder) as session:
        return [event async for event in session.events()]


def texts(events: list[Event]) -> list[str]:
    return [event.text or "" for event in events if isinstance(event, Message)]


async def test_an_agent_that_exits_at_once_still_ends_its_run_once() -> None:
    events = await all_events()
    assert [type(event).__name__ for event in events] == ["RunStarted", "RunEnded"]


async def test_a_prompt_to_an_agent_that_has_gone_raises_with_its_last_words() -> None:
    async with alone(toy_plan("writes.py", "err:100", "code:3")) as session:
        async for _ in session.events():
            pass
        with pytest.raises(ProcessExited, match=r"code 3.*eeee") as caught:
            session.prompt("say hello")
    assert caught.value.exit_code == 3
    assert caught.value.native is not None
    assert session.exit is not None
    assert session.exit.reason is None
    assert session.exit.stderr_tail == caught.value.native


async def test_a_prompt_that_is_held_when_the_agent_dies_raises() -> None:
    async with alone(toy_plan()) as session:
        first = session.prompt("take steer\nexit 4")
        held = session.prompt("say never")
        await session.steer("now")
        end = [event async for event in first][-1]
        assert isinstance(end, TurnEnded)
        assert end.outcome == "truncated"
        with pytest.raises(ProcessExited, match="code 4"):
            [event async for event in held]


async def test_a_command_that_is_never_answered_raises_when_the_agent_dies() -> None:
    async with alone(toy_plan("writes.py")) as session:
        with pytest.raises(ProcessExited, match="set_mode"):
            await session.set_mode("plan")


async def test_a_last_line_without_its_newline_counts() -> None:
    recorder = Frames()
    events = await all_events("text", "unended", recorder=recorder)
    assert texts(events) == ["hello", "hello"]
    assert [frame.eol for frame in recorder if frame.dir == "out"] == [True, False]


async def test_a_line_that_is_cut_short_is_kept_as_it_is() -> None:
    recorder = Frames()
    events = await all_events("cut", recorder=recorder)
    assert [type(event) for event in events[1:]] == [NativeInvalid, RunEnded]
    assert recorder[0] == Frame(1, "out", b'{"type":"text","text', recorder[0].t, eol=False)


async def test_a_line_may_be_as_long_as_it_likes() -> None:
    size = 20_000_000
    events = await all_events(f"line:{size}")
    assert [len(text) for text in texts(events)] == [size]


async def test_a_slow_listener_loses_nothing() -> None:
    """claude drops what a lagging reader leaves in the pipe: the pump must not wait for who listens."""
    numbers = 100_000
    async with alone(toy_plan("writes.py", f"lines:{numbers}")) as session:
        stream = session.events()
        await anext(stream)
        async for _ in session.events():
            pass  # another listener has seen the end before we take the second event
        assert texts([event async for event in stream]) == [str(n) for n in range(numbers)]


async def test_a_big_answer_to_a_prompt_arrives_whole() -> None:
    async with alone(toy_plan()) as session:
        events = [event async for event in session.prompt("big 3000000\nsay end")]
    assert [len(text) for text in texts(events)[1:]] == [3_000_000, 3]


async def test_a_flood_on_stderr_is_drained_and_its_tail_kept() -> None:
    recorder = Frames()
    events = await all_events("err:5000000", "text", "err:5000000", recorder=recorder)
    assert sum(len(frame.line) + 1 for frame in recorder if frame.dir == "err") == 10_000_000
    assert texts(events) == ["hello"]
    end = events[-1]
    assert isinstance(end, RunEnded)
    assert end.stderr_tail is not None
    assert len(end.stderr_tail) < 10_000


async def test_an_agent_that_never_reads_does_not_hold_us_up() -> None:
    async with alone(toy_plan("stubborn.py", stop=(("eof", 0.1), ("SIGKILL", 5.0)))) as session:
        session.prompt("say " + "x" * 10_000_000)
        await session.steer("still there?")
    assert session.exit is not None
    assert session.exit.signal == "SIGKILL"
    assert session.exit.reason == "cancelled"


async def test_an_heir_that_holds_the_pipes_does_not_hold_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "PIPE_GRACE", 0.3)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with alone(toy_plan("leaves_heir.py", str(fifo))) as session:
        with anyio.fail_after(30):
            events = [event async for event in session.events()]
    assert len(texts(events)) == 1
    assert session.exit is not None
    assert session.exit.code == 0
    fifo.write_text("go")
