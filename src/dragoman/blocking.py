"""Sessions for programs that are not async.

with dragoman.blocking.open("claude") as session:
    for event in session.prompt("Fix the login bug"):
        ...
"""

from functools import partial
from typing import Any

import anyio

from dragoman.agents import opening
from dragoman.agents.agent import Agent
from dragoman.agents.opening import Result
from dragoman.model.config import SessionConfig
from dragoman.runtime.blocking import BlockingHandler, BlockingSession, BlockingStream
from dragoman.runtime.handling import Handler

__all__ = ["BlockingSession", "BlockingStream", "Result", "ask", "open"]


def open(
    agent: str | Agent | SessionConfig, *, handler: BlockingHandler | None = None, **fields: Any
) -> BlockingSession:
    """A session with `agent`, for `with`. A handler is called in a worker thread, with this session."""
    if callable(fields.get("approve")):
        handler = fields.pop("approve")
    return BlockingSession(lambda passed: opening.open(agent, handler=passed, **fields), handler)


def ask(
    agent: str | Agent | SessionConfig,
    prompt: str | None = None,
    *,
    handler: Handler | None = None,
    **fields: Any,
) -> Result:
    """Give an agent one prompt and wait for what comes of it."""
    return anyio.run(partial(opening.ask, agent, prompt, handler=handler, **fields))
