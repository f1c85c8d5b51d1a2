"""A task that nobody has to wait for: the specification's sessions are started and then listened to, with no block around
them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import anyio


class Background:
    """Runs a function in a task of its own, until it is over or cancelled."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._scope = anyio.CancelScope()
        self._over = anyio.Event()
        self.error: BaseException | None = None
        """What the function raised."""
        _running.add(self)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            import trio

            trio.lowlevel.spawn_system_task(self._run)
        else:
            self._task = loop.create_task(self._run())

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._work()
        except Exception as error:
            self.error = error
        finally:
            self._over.set()
            _running.discard(self)

    async def stop(self) -> None:
        """Cancel it and wait for its end."""
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._over.wait()


_running: Final[set[Background]] = set()
"""An event loop holds its tasks only weakly."""
