"""Calling what a caller gave us: handlers, tools and hooks."""

import inspect
from collections.abc import Callable
from typing import Any

from anyio import CapacityLimiter, to_thread


async def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns. One that is no coroutine function may block, so it gets a thread."""
    method = getattr(function, "__call__", function)  # noqa: B004 - that of a callable object
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method):
        reply = function(*arguments)
    else:
        # In a tuple, since trio takes a function that returns an awaitable for a mistake.
        (reply,) = await to_thread.run_sync(
            lambda: (function(*arguments),), abandon_on_cancel=True, limiter=CapacityLimiter(1)
        )
    return await reply if inspect.isawaitable(reply) else reply
