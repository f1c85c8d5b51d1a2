"""Sessions as their agents keep them: what can be listed, and gone on with."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from dragoman._model.errors import SessionNotFound

LATEST: Final = "latest"
"""Stands where a session's id would: the one of the folder that changed last."""

UUID: Final = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
"""What most agents' session ids look like."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_SHOWN: Final = 5
"""How many sessions an error names."""


class SessionInfo(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """One session of an agent, as its store tells of it."""

    agent: str
    id: str
    """What `resume` takes."""
    title: str | None = None
    """What the agent or the user calls it."""
    prompt: str | None = None
    """The beginning of its first prompt."""
    cwd: str | None = None
    """The folder that it works in."""
    created: datetime | None = None
    updated: datetime | None = None
    """When it last changed."""
    model: str | None = None
    """The model that spoke last."""
    archived: bool = False


_ID: Final = re.compile(r"[0-9a-f]{4,}(-[0-9a-f-]*)?")


def may_be_an_id(text: str) -> bool:
    """Whether a text looks like the beginning of a session's id in the library, or of its agent's."""
    return _ID.fullmatch(text) is not None


def newest_first(sessions: Iterable[SessionInfo]) -> list[SessionInfo]:
    """In the order of their last change."""
    return sorted(sessions, key=lambda info: info.updated or info.created or _LONG_AGO, reverse=True)


def chosen(agent: str, wanted: str, sessions: Sequence[SessionInfo], cwd: str) -> str:
    """The id of the session that `wanted` stands for: LATEST, an id, the beginning of one, or a title. `sessions` are the
    newest of the folder `cwd`, or all that may be meant. Raises SessionNotFound."""
    if wanted == LATEST:
        if not sessions:
            raise SessionNotFound(f"{agent} has no session in {cwd}; {remedy(agent)}", agent=agent)
        return newest_first(sessions)[0].id
    begun = {info.id for info in sessions if info.id.startswith(wanted)}
    titled = {info.id for info in sessions if info.title == wanted}
    ids = {wanted} & begun or begun or titled
    if not ids:
        raise SessionNotFound(f"{agent} has no session {wanted}; {remedy(agent)}", agent=agent)
    if len(ids) == 1:
        return ids.pop()
    some = ", ".join(sorted(ids)[:_SHOWN]) + (" …" if len(ids) > _SHOWN else "")
    raise SessionNotFound(f"{len(ids)} sessions of {agent} may be meant by {wanted}: {some}", agent=agent)


def remedy(agent: str) -> str:
    """What to do about a session that is not there."""
    return f"`dragoman ls {agent}` lists those that there are"
