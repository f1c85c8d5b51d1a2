"""A bell: whoever waits is woken when something has changed, and looks for himself what it was."""

import anyio


class Bell:
    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    def ring(self) -> None:
        """Wake all who wait."""
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self) -> None:
        """Come back at the next ring."""
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
