"""Time limits of a run: for all of it, and for the agent's silence while it is at work."""

import math
import time
from collections.abc import Awaitable, Callable

import anyio

from dragoman._model.frames import StopReason
from dragoman._runtime.run import Run

Stop = Callable[[StopReason, str], Awaitable[None]]


async def watch(
    run: Run, busy: Callable[[], bool], stop: Stop, timeout: float | None, idle_timeout: float | None
) -> None:
    """Stop the run when one of its limits is reached."""
    whole, idle = (math.inf if limit is None else limit for limit in (timeout, idle_timeout))
    why = f"the run took longer than {whole:g} s"
    with anyio.move_on_after(whole):
        await _silence(run, busy, idle)
        why = f"the agent said nothing for {idle:g} s"
    await stop("timeout", why)


async def _silence(run: Run, busy: Callable[[], bool], limit: float) -> None:
    """Comes back after that much silence. It counts only while the agent works, not while it waits for us."""
    while True:
        working = busy() and not run.ledger.requests
        left = run.last_frame_at + limit - time.monotonic()
        if working and left <= 0:
            return
        await anyio.sleep(left if working else limit)
