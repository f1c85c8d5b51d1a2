"""What a fake agent does in a turn: the steps of its script, and how they are written."""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct


class Says(Struct, frozen=True):
    """A message, a few words at a time."""

    text: str


class Thinks(Struct, frozen=True):
    """The same, of what it thinks."""

    text: str


class Calls(Struct, frozen=True):
    """The use of a tool, for which it may have to ask first."""

    tool: str
    input: dict[str, Any]
    output: str = ""
    failed: bool = False
    asks: bool = False


class Writes(Struct, frozen=True):
    """A file that it writes, after it has asked."""

    path: str
    text: str


class AsksUser(Struct, frozen=True):
    """A question."""

    question: str
    options: tuple[str, ...] = ()


class Spends(Struct, frozen=True, kw_only=True):
    """What the turn costs."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class Waits(Struct, frozen=True):
    """It does nothing until it is told something more, is interrupted, or so many seconds have gone."""

    seconds: float | None = None


class Fails(Struct, frozen=True):
    """The turn ends as a failure."""

    message: str


class Exits(Struct, frozen=True):
    """The agent itself ends, in the middle of its turn."""

    code: int = 1
    stderr: str = ""


FakeStep: TypeAlias = Says | Thinks | Calls | Writes | AsksUser | Spends | Waits | Fails | Exits
"""What `says`, `asks` and their like return."""
Steps: TypeAlias = Generator["FakeStep | str", Any, None]
FakeTurn: TypeAlias = str | FakeStep | Iterable["FakeStep | str"] | Callable[[str], "FakeTurn"]
"""A text, a step, several of them, or a function of the prompt that returns one of these. A generator is sent what came of
each step."""
FakeScript: TypeAlias = Sequence[FakeTurn] | Callable[[str], FakeTurn]
"""The turns one after the other, or a function that has one for every prompt."""


def says(text: str) -> Says:
    """It says this; a text alone means the same."""
    return Says(text)


def thinks(text: str) -> Thinks:
    """It thinks this."""
    return Thinks(text)


def calls(tool: str, /, *, output: str = "", failed: bool = False, **input: Any) -> Calls:
    """It uses a tool without asking, which ends with `output`. A tool that the program gave (`tools=`) is really called."""
    return Calls(tool, input, output, failed)


def asks(tool: str, /, *, output: str = "", failed: bool = False, **input: Any) -> Calls:
    """It asks for permission to use a tool, and uses it if it may. A generator is sent whether it was allowed."""
    return Calls(tool, input, output, failed, asks=True)


def writes(path: str, text: str) -> Writes:
    """It asks for permission to write a file, and really writes it if it may: `path` is as from its folder."""
    return Writes(path, text)


def asks_user(question: str, /, *options: str) -> AsksUser:
    """It asks the user something. A generator is sent the answers by question, or None."""
    return AsksUser(question, options)


def spends(*, input_tokens: int = 0, output_tokens: int = 0, cost_usd: float = 0.0) -> Spends:
    """The turn costs so much more."""
    return Spends(input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost_usd)


def waits(seconds: float | None = None) -> Waits:
    """It waits for what it is told within its turn (`session.steer`), or to be interrupted. What it was told already, and
    has not waited for, counts. A generator is sent the text."""
    return Waits(seconds)


def fails(message: str) -> Fails:
    """Its turn fails."""
    return Fails(message)


def exits(code: int = 1, stderr: str = "") -> Exits:
    """Its process ends."""
    return Exits(code, stderr)


def steps_of(turn: FakeTurn, prompt: str) -> Steps:
    """The steps of a turn, one by one. What came of each is sent to a generator of the script."""
    while callable(turn):
        turn = turn(prompt)
    if isinstance(turn, Generator):
        yield from turn
    elif isinstance(turn, str | FakeStep):
        yield turn
    else:
        yield from (step for step in turn)  # a list cannot be sent anything
