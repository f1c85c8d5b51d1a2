"""What the calls take: of a GET as its query, of a POST as JSON; what stands in the path is named in it."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from dragoman._library.usage import By
from dragoman._model.config import Approve

Count = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1, le=1000)]
"""How many of something are wanted."""
Text = Annotated[str, Meta(min_length=1)]


class Given(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a call is given."""


class Nothing(Given):
    pass


class Link(Given):
    link: Text


class Wish(Given):
    """For a link."""

    read_only: bool = False


class Wanted(Given):
    """Sessions that are meant."""

    text: str | None = None
    """Stands in the title or the first prompt."""
    agent: str | None = None
    folder: str | None = None
    """They worked in it or below it."""
    limit: Some = 50
    offset: Count = 0


class OfSession(Given):
    id: Text
    """A session's, or the beginning of it; or a live run's."""


class Window(OfSession):
    """Neither `before` nor `after`: the newest events."""

    run: Text
    before: Count | None = None
    """Events before this number."""
    after: Count | None = None
    """Events after this number."""
    limit: Some = 300
    deltas: bool = False
    """Also the pieces of texts that are told whole."""


class Place(OfSession):
    run: Text
    seq: Annotated[int, Meta(ge=1)]


class Export(OfSession):
    format: Literal["html", "md", "jsonl"] = "html"


class Begin(Given):
    """A new session."""

    agent: Text
    prompt: str | None = None
    cwd: str | None = None
    """The folder that it works in; that of the server, if absent."""
    model: str | None = None
    approve: Approve | None = None


class Say(OfSession):
    text: Text


class Mode(OfSession):
    mode: Text
    """An approve mode, or one of the agent's own."""


class Model(OfSession):
    model: Text


class Reply(OfSession):
    """To a permission a `choice`, to a question `answers` or `declined`."""

    run: Text
    request: Text
    mark: str | None = None
    """What was seen, by its mark: if something else is asked by now, the answer is refused."""
    choice: str | None = None
    """Its key."""
    message: str = ""
    """Why not."""
    input: dict[str, Any] | None = None
    """What the tool shall be given instead."""
    answers: dict[str, Any] | None = None
    declined: bool = False


class Label(OfSession):
    name: str | None = None
    """"" takes the name away."""
    pinned: bool | None = None


class Search(Given):
    text: Text
    agent: str | None = None
    folder: str | None = None
    role: str | None = None
    tool: str | None = None
    path: str | None = None
    session: str | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    after: str | None = None
    """What the page before gave as `more`."""


class Usage(Given):
    by: By = "day"
    since: float | None = None
    """Seconds since 1970, as `until`."""
    until: float | None = None
    agent: str | None = None
    folder: str | None = None
