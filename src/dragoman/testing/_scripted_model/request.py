"""One request of an agent, in words that belong to no vendor's API."""

from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request for an answer, as the log keeps it. It holds no time and no key."""

    api: str
    model: str
    stream: bool
    system: str = ""
    texts: tuple[str, ...] = ()
    """The user's texts of the conversation, oldest first."""
    messages: list[Any] = []
    """The conversation as the API words it."""
    tools: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    """The form that the answer must have, where one is asked for."""
    wants_summary: bool = False
    body: dict[str, Any] = {}
    headers: dict[str, str] = {}
    route: str = ""
    """The part of the script that answered: main, side, compact or the name of a route."""
