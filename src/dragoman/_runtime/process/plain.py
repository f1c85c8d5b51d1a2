"""A program without a keeper, where the system offers none: what it started is looked for in the process table."""

import signal
import subprocess
from contextlib import suppress
from typing import Final

import anyio
from anyio import to_thread

from dragoman._runtime.process.descendants import Descendants

TRACKING: Final = 2.0
"""Seconds between two looks at what a program has started."""
LOOK: Final = 0.05


class Plain:
    """A program that we started ourselves; what can be asked of it is what can be asked of Kept."""

    def __init__(self, argv: list[str], cwd: str | None, env: dict[str, str], streams: list[int]) -> None:
        stdin, stdout, stderr = streams
        self._popen = subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, start_new_session=True
        )
        self.pid = self._popen.pid
        self._descendants = Descendants(self.pid)

    @property
    def status(self) -> int | None:
        return self._popen.returncode

    async def until_exit(self) -> None:
        """In a thread: the one way that works on every loop. It looks about meanwhile, since whoever is nobody's
        child by the end is not found then."""
        one = anyio.CapacityLimiter(1)
        await to_thread.run_sync(self._wait, abandon_on_cancel=True, limiter=one)

    def _wait(self) -> None:
        while True:
            try:
                self._popen.wait(TRACKING)
                return
            except subprocess.TimeoutExpired:
                self._descendants.look()

    def signal(self, number: int) -> None:
        self._descendants.look()
        with suppress(ProcessLookupError):
            self._popen.send_signal(number)

    async def end(self, grace: float) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.signal(number)
            with anyio.move_on_after(grace):
                while self._descendants.press(number) or self._popen.poll() is None:  # noqa: ASYNC110 - nobody tells
                    await anyio.sleep(LOOK)

    def kill(self, limit: float) -> None:
        self.signal(signal.SIGKILL)
        self._descendants.press(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(limit)

    def close(self) -> None:
        """What it left running may stay."""
