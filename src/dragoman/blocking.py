"""Sessions for programs that are not async.

with dragoman.blocking.open("claude") as session:
    for event in session.prompt("Fix the login bug"):
        ...
"""

from functools import partial
from typing import Any

import anyio

from dragoman import api
from dragoman._agents.agent import Agent
from dragoman._model.config import SessionConfig
from dragoman._runtime.blocking import BlockingConnection, BlockingHandler, BlockingSession, BlockingStream
from dragoman._runtime.requests import Handler, Verdict
from dragoman._runtime.session import Session
from dragoman._runtime.standing import Request
from dragoman.api import Result

__all__ = ["BlockingConnection", "BlockingSession", "BlockingStream", "Result", "ask", "connect", "open"]


def open(
    agent: str | Agent | SessionConfig, *, handler: BlockingHandler | None = None, **fields: Any
) -> BlockingSession:
    """A session with `agent`, for `with`. A handler is called in a worker thread, with this session."""
    handler = _handler(handler, fields)

    def pass_on(request: Request, _: Session) -> Verdict:
        assert handler is not None
        return handler(request, session)

    passed = pass_on if handler is not None else None
    session = BlockingSession(api.open(agent, handler=passed, **fields))
    return session


def connect(
    agent: str | Agent | SessionConfig, *, handler: BlockingHandler | None = None, **fields: Any
) -> BlockingConnection:
    """A process of `agent` for several sessions, for `with`. A handler is called with the session that asks."""
    handler = _handler(handler, fields)

    def pass_on(request: Request, session: Session) -> Verdict:
        assert handler is not None
        return handler(request, connection.of(session))

    passed = pass_on if handler is not None else None
    connection = BlockingConnection(api.connect(agent, handler=passed, **fields))
    return connection


def _handler(handler: BlockingHandler | None, fields: dict[str, Any]) -> BlockingHandler | None:
    """`approve` may be one."""
    return fields.pop("approve") if callable(fields.get("approve")) else handler


def ask(
    agent: str | Agent | SessionConfig,
    prompt: str | None = None,
    *,
    handler: Handler | None = None,
    **fields: Any,
) -> Result:
    """Give an agent one prompt and wait for what comes of it."""
    return anyio.run(partial(api.ask, agent, prompt, handler=handler, **fields))
