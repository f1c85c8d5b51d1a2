"""An agent that is a function in this process: it begins, speaks, is stopped and ends as a program does."""

import os
import threading

import pytest

from dragoman._model.errors import ProcessExited
from dragoman._runtime.process.played import Stage
from dragoman._runtime.session import Session
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


def reads_to_the_end(stage: Stage) -> int:
    while stage.line() is not None:
        pass
    return 0


async def test_it_ends_with_its_input() -> None:
    async with alone(toy_plan(played=reads_to_the_end)) as session:
        pass
    assert session.exit is not None
    assert (session.exit.code, session.exit.reason) == (0, "closed")


@pytest.mark.parametrize(("status", "code", "signal"), [(3, 3, None), (-9, None, "SIGKILL")])
async def test_it_exits_by_itself(status: int, code: int | None, signal: str | None) -> None:
    def play(stage: Stage) -> int:
        stage.complain(b"so it goes")
        return status

    async with alone(toy_plan(played=play)) as session:
        events = [event async for event in session.events()]
    assert session.exit is not None
    assert (session.exit.code, session.exit.signal) == (code, signal)
    assert events[-1].stderr_tail == "so it goes"


@pytest.mark.parametrize("busy", ["waits", "writes", "pauses"])
async def test_one_that_does_not_end_is_stopped(busy: str) -> None:
    """Whatever it is at: also where nobody reads what it writes."""
    begun = threading.Event()

    def play(stage: Stage) -> int:
        begun.set()
        while True:
            if busy == "writes":
                stage.say(b"x" * 100_000)
            else:
                stage.pause(60 if busy == "pauses" else 0.001)

    async with alone(toy_plan(played=play)) as session:
        pass
    assert begun.is_set()
    assert session.exit is not None
    assert session.exit.signal == "SIGINT"


def raises(stage: Stage) -> int:
    stage.line()
    raise LookupError("not in the script")


async def prompted(session: Session, error: Exception | None = None) -> None:
    async with session:
        async for _ in session.prompt("Go"):
            pass
        if error is not None:
            raise error


@pytest.mark.parametrize("consequence", [None, ProcessExited("it is gone")])
async def test_what_it_raises_is_raised_where_the_session_ends(consequence: Exception | None) -> None:
    session = alone(toy_plan(played=raises))
    with pytest.raises(LookupError, match="not in the script"):
        await prompted(session, consequence)
    assert session.result is not None
    assert session.result.stderr_tail == "LookupError: not in the script"


async def test_an_error_of_the_blocks_own_is_told_of_it() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        await prompted(alone(toy_plan(played=raises)), ZeroDivisionError())
    assert raised.value.__notes__ == ["The agent could not go on: not in the script"]


def open_files() -> int:
    """Once all that was played is over."""
    for thread in threading.enumerate():
        if thread.name == "dragoman-played":
            thread.join(10)
    return len(os.listdir("/dev/fd"))


async def test_nothing_of_it_stays() -> None:
    counts = []
    for _ in range(3):
        async with alone(toy_plan(played=reads_to_the_end)):
            pass
        counts.append(open_files())
    assert counts == counts[:1] * 3
