"""Tasks that stand by for work that comes again and again."""

from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any

from anyio.abc import TaskGroup

from dragoman._runtime.loops import Event, event_type


class Standby:
    """Does some work in tasks, all of it at the same time. A task that is done with its piece waits for the next one: to
    wake it takes a tenth of the time in which another is started."""

    def __init__(self, work: Callable[..., Coroutine[Any, Any, None]]) -> None:
        self._work = work
        self._idle: list[tuple[Event, list[Any]]] = []
        """The tasks that wait: what wakes them, and where they find the arguments of their work."""

    def start(self, tasks: TaskGroup, *arguments: Any) -> None:
        """Do the work with these arguments, in a task of this group; it is always the same group."""
        if self._idle:
            news, given = self._idle.pop()
            given += arguments
            news.set()
        else:
            tasks.start_soon(self._serve, *arguments)

    async def _serve(self, *arguments: Any) -> None:
        new_event, begun = event_type(), copy_context()
        given = list(arguments)
        while True:
            await self._work(*given)
            if not _are_same(begun, copy_context()):
                return  # what was set for one piece of work is not for the next
            news, given = new_event(), []
            self._idle.append((news, given))
            await news.wait()


def _are_same(one: Context, other: Context) -> bool:
    return len(one) == len(other) and all(other.get(name) is value for name, value in one.items())
