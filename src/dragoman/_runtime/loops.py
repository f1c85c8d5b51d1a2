"""What the event loop at hand offers itself, where anyio's way to it is too long for what is done with every line."""

from collections.abc import Callable
from typing import Protocol

import anyio


class Event(Protocol):
    """Something that happens once, of asyncio or of trio."""

    def set(self) -> object: ...
    def is_set(self) -> bool: ...
    async def wait(self) -> object: ...


def is_asyncio() -> bool:
    """Whether we run on asyncio; on trio, if not."""
    return anyio.get_cancelled_exc_class().__module__.startswith("asyncio")


def event_type() -> Callable[[], Event]:
    """What makes an event. To make and await one takes 2 µs; one of anyio's, which finds out anew where it is, 9."""
    if is_asyncio():
        import asyncio  # each when it is needed: who uses the one need not have loaded the other

        return asyncio.Event
    import trio

    return trio.Event
