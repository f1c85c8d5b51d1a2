"""How a run is stopped: step by step, from the gentlest to the last, and never further than needed."""

import anyio

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Close, Interrupt
from dragoman._model.errors import DragomanError
from dragoman._runtime.log import log
from dragoman._runtime.plan import Step
from dragoman._runtime.run import Run
from dragoman._runtime.streams import EventStream

LAST_STEP: Step = ("SIGKILL", 3.0)
LAST_WORD_GRACE = 10.0


async def stop(run: Run) -> None:
    """End the run; an agent that has said its last word is given the time to exit by itself, since it may still
    have its session to write."""
    if run.finished.is_set():
        await _wait_for_exit(run)
    await _take_steps(run)


async def see_off(run: Run) -> None:
    """An agent that has said its last word exits by itself; one that does not is helped, which changes nothing
    about how its turn ended."""
    await run.finished.wait()
    await _wait_for_exit(run)
    await _take_steps(run)


async def _wait_for_exit(run: Run) -> None:
    with anyio.move_on_after(LAST_WORD_GRACE):
        await run.child.exited.wait()


async def _take_steps(run: Run) -> None:
    """The steps of the plan, until the agent has exited."""
    child = run.child
    for what, seconds in (*run.plan.stop, LAST_STEP):
        if child.exited.is_set():
            return
        run.helped = True
        with anyio.move_on_after(seconds):
            if what == "interrupt":
                await interrupt(run)
                continue
            if what == "eof":
                _hang_up(run)
            else:
                child.send_signal(what)
            await child.exited.wait()
    if not child.exited.is_set():
        log.warning("process %s of %s cannot be killed", child.pid, run.plan.agent)
        child.give_up()


async def interrupt(run: Run, session: str | None = None) -> None:
    """Let open turns, all or those of one session, end in good order: only so do agents stop their tools."""

    def at_work() -> list[str | None]:
        return [owner for owner in run.ledger.open_turns if session is None or owner == session]

    if not at_work() or Capability.INTERRUPT not in run.plan.capabilities:
        return
    events = EventStream()
    run.fanout.add(events)
    told = [_try_to_say(run, Interrupt(session=owner)) for owner in at_work()]
    if any(told):
        async for _ in events:
            if not at_work():
                return


def _hang_up(run: Run) -> None:
    _try_to_say(run, Close())
    run.child.stdin.end()


def _try_to_say(run: Run, command: Interrupt | Close) -> bool:
    """Agents that have no word for it are stopped by the next step."""
    try:
        run.say(command)
    except DragomanError as error:
        log.debug("%s: %s", run.plan.agent, error)
        return False
    return True
