"""However a session ends, the agent ends with it, gently where it lets itself be stopped gently."""

import subprocess
import sys
from typing import Any, Literal

import anyio
import psutil
import pytest

from dragoman._model.events import Event, Message, RunEnded, TurnEnded
from dragoman._model.frames import Frame
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime import run as run_module
from dragoman._runtime.connection import CalledOff
from dragoman._runtime.process import stopping
from dragoman._runtime.process.child import Child, spawn
from dragoman._runtime.requests import LATER, Handlers, Later
from dragoman._runtime.session import Session
from dragoman._wire import note_frames
from dragoman._wire.machine import Output
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import FAKES, SWIFT, ToyMachine, alone, toy_plan

pytestmark = pytest.mark.anyio


class Broken(Exception):
    pass


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def pid_of(session: Session) -> int:
    return session._run.child.pid


async def text(session: Session, orders: str) -> str:
    """Begin a turn and leave it at its first answer."""
    async for event in session.prompt(orders):
        if isinstance(event, Message) and event.role == "assistant":
            return event.text or ""
    raise AssertionError("no answer")


def ends(session: Session) -> tuple[str | None, str | None, str | None]:
    """The reason on record, the signal, and the outcome."""
    assert session.exit is not None
    assert session.result is not None
    return session.exit.reason, session.exit.signal, session.result.outcome


async def test_an_idle_agent_is_closed_by_the_end_of_its_input() -> None:
    recorder = Frames()
    async with alone(toy_plan(), recorder=recorder) as session:
        async for _ in session.prompt("say hello"):
            pass
        await session.close()
        await session.close()
    assert ends(session) == ("closed", None, "completed")
    assert recorder.notes() == [note_frames.Stopping(reason="closed")]


async def test_an_open_turn_is_interrupted_and_its_end_awaited() -> None:
    async with alone(toy_plan()) as session:
        stream = session.events()
        await text(session, "say working\nwait")
    assert ends(session) == ("cancelled", None, "cancelled")
    end = [event async for event in stream if isinstance(event, TurnEnded | RunEnded)]
    assert [event.synthesized for event in end] == [False, False]


async def test_an_exception_in_the_block_comes_out_as_it_is() -> None:
    session = alone(toy_plan())

    async def work() -> None:
        async with session:
            await text(session, "say working\nwait")
            raise Broken

    with pytest.raises(Broken):
        await work()
    assert ends(session) == ("cancelled", None, "cancelled")
    assert not alive(pid_of(session))


async def test_cancellation_stops_the_agent_too() -> None:
    session = alone(toy_plan())
    with anyio.CancelScope() as scope:
        async with session:
            await text(session, "say working\nwait")
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert ends(session) == ("cancelled", None, "cancelled")
    assert not alive(pid_of(session))


async def test_cancellation_before_anything_happened_stops_it_as_well() -> None:
    session = alone(toy_plan())
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with session:
            await anyio.sleep_forever()
    assert ends(session)[0] == "closed"
    assert not alive(pid_of(session))


async def test_it_can_be_stopped_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    session = alone(toy_plan())

    async def spawned(*args: Any, **options: Any) -> Child:
        await session.stop("cancelled", "changed my mind")
        return await spawn(*args, **options)

    monkeypatch.setattr(run_module, "spawn", spawned)
    with pytest.raises(CalledOff, match="stopped while toy was started"):
        await session.__aenter__()
    assert ends(session)[0] == "cancelled"
    assert not alive(pid_of(session))


async def test_an_agent_that_ignores_everything_is_killed() -> None:
    async with alone(toy_plan("stubborn.py", stop=(("eof", 0.1), *SWIFT[2:]))) as session:
        async for event in session.events():
            if event.session:
                break
    assert ends(session) == ("closed", "SIGKILL", "completed")
    assert not alive(pid_of(session))


async def test_a_plan_that_ends_too_gently_is_completed() -> None:
    async with alone(toy_plan("stubborn.py", stop=(("eof", 0.1),))) as session:
        async for event in session.events():
            if event.session:
                break
    assert ends(session)[1] == "SIGKILL"


async def test_what_the_agent_started_in_a_session_of_its_own_is_swept() -> None:
    async with alone(toy_plan()) as session:
        child = int(await text(session, "child\nwait"))
        bystander = await anyio.open_process(["cat"])
        assert alive(child)
    assert not alive(child)
    assert alive(bystander.pid)
    bystander.kill()
    await bystander.aclose()


async def test_time_is_up() -> None:
    recorder = Frames()
    async with alone(toy_plan(), timeout=0.5, recorder=recorder) as session:
        events: list[Event] = [event async for event in session.prompt("say working\nwait")]
        assert isinstance(events[-1], TurnEnded)
        await session.close()
    assert ends(session) == ("timeout", None, "timeout")
    assert recorder.notes() == [
        note_frames.Stopping(reason="timeout", detail="the run took longer than 0.5 s")
    ]


async def test_silence_at_work_is_a_timeout() -> None:
    async with alone(toy_plan(), idle_timeout=0.5) as session:
        async for _ in session.prompt("say working\nwait"):
            pass
    assert ends(session) == ("timeout", None, "timeout")


async def test_silence_before_the_turn_is_a_timeout_too() -> None:
    plan = toy_plan("stubborn.py", stop=(("SIGKILL", 5.0),))
    async with alone(plan, idle_timeout=0.5) as session:
        stream = session.prompt("say hello")
        async for _ in stream:
            pass
    assert ends(session) == ("timeout", "SIGKILL", "timeout")


async def test_silence_while_nobody_asked_anything_is_none() -> None:
    async with alone(toy_plan(), idle_timeout=0.05) as session:
        with anyio.move_on_after(0.3):
            async for _ in session.events():
                pass
        assert session.exit is None
    assert ends(session)[0] == "closed"


async def test_a_handler_may_close_the_session_it_serves() -> None:
    async def stop(request: PermissionRequest) -> Literal[Later.LATER]:
        await session.close()
        return LATER

    async with alone(toy_plan(), handlers=Handlers(approve=stop)) as session:
        with anyio.fail_after(30):
            events = [event async for event in session.prompt("ask Bash\nwait")]
        assert isinstance(events[-1], TurnEnded)
    assert ends(session)[0] == "cancelled"


async def test_a_stop_can_name_its_limit() -> None:
    recorder = Frames()
    async with alone(toy_plan(), recorder=recorder) as session:
        await text(session, "say working\nwait")
        await session.stop("limited", "max_cost_usd 1.00")
    assert ends(session) == ("limited", None, "limited")
    assert recorder.notes() == [note_frames.Stopping(reason="limited", detail="max_cost_usd 1.00")]


async def test_a_held_prompt_is_not_let_go_while_stopping() -> None:
    async with alone(toy_plan()) as session:
        stream = session.events()
        await text(session, "say working\nwait")
        session.prompt("say too late")
    said = [event.text async for event in stream if isinstance(event, Message)]
    assert "too late" not in said


async def test_a_stop_that_is_itself_interrupted_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(run: object) -> None:
        raise Broken

    monkeypatch.setattr(stopping, "stop", interrupted)
    session = alone(toy_plan())

    async def work() -> None:
        async with session:
            await text(session, "say working\nwait")

    with pytest.raises(Broken):
        await work()
    assert ends(session) == ("cancelled", "SIGKILL", "cancelled")
    assert not alive(pid_of(session))


async def test_a_defect_of_ours_is_loud_and_leaves_no_agent_behind() -> None:
    class Defective(ToyMachine):
        def receive(self, frame: Frame) -> Output:
            raise Broken

    session = alone(toy_plan(machine=Defective()))

    async def work() -> None:
        async with session:
            await anyio.sleep(30)

    with pytest.raises(ExceptionGroup) as caught:
        await work()
    assert caught.group_contains(Broken)
    assert ends(session)[1] == "SIGKILL"
    assert not alive(pid_of(session))


CTRL_C = """
import signal, sys, anyio
sys.path.insert(0, sys.argv[1])
from runtime.toy_dialect import alone, toy_plan

session = alone(toy_plan())

async def main():
    async with session:
        async for event in session.prompt("say working\\nwait"):
            if getattr(event, "text", None) == "working":
                signal.raise_signal(signal.SIGINT)

try:
    anyio.run(main, backend=sys.argv[2])
except KeyboardInterrupt:
    print(session.exit.code, session.exit.reason, session.result.outcome)
"""


def test_control_c_stops_the_agent_gently(anyio_backend_name: str) -> None:
    program = [sys.executable, "-W", "error", "-c", CTRL_C, str(FAKES.parent), anyio_backend_name]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0 cancelled cancelled\n", "")
