"""Sources: any file that tells of a run, opened as frames.

An agent's stdout, the frames.jsonl of a capture, a recording, a session file or a canonical event stream; from a
path, an open file, bytes or lines. What it is shows in its first lines. Nothing is read ahead of need beyond
those, and a line may be as long as it likes.
"""

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar, cast

import msgspec
from msgspec import Struct, field

from dragoman._dialects import DIALECTS, Dialect, detect
from dragoman._files.recording import read_row, rows
from dragoman._model.errors import UsageError
from dragoman._model.events import SCHEMA
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.jsontext import parse

Input = (
    str | os.PathLike[str] | bytes | BinaryIO | Iterable[bytes] | Iterable[str] | Sequence[os.PathLike[str]]
)
"""A path (never text itself), an open binary file, the bytes, the lines, or several paths to be read as one."""

EVENTS = "events"
"""Said in place of a dialect: the file holds canonical events."""

SOURCES = (*DIALECTS, EVENTS)
"""All that a file can be."""

LINES_TO_TELL_BY = 50
"""After so many lines that no dialect knows, it is none of them."""

CAPTURED = ("stdout.jsonl", "frames.jsonl")
"""Names of files that a `meta.json` beside them tells about."""

T = TypeVar("T")

BUFFER = 1 << 20

_NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class EmptySource(UsageError):
    """There is nothing in it: agents leave such files where a session was begun and never used."""


class Source:
    """An opened file. Iterating gives its frames; `exit` is known once they are read, if the file says."""

    def __init__(
        self,
        name: str,
        launch: Launch,
        frames: Iterator[Frame],
        exits: list[Exit],
        close: Callable[[], object],
    ) -> None:
        self.name = name
        self.launch = launch
        self.close = close
        """Let go of the file before it was read to its end."""
        self._frames = frames
        self._exits = exits

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    def changed(self, frames: Iterator[Frame], launch: Launch) -> "Source":
        """The same file, as told by these frames of it."""
        return Source(self.name, launch, frames, self._exits, self.close)

    @property
    def exit(self) -> Exit | None:
        return self._exits[-1] if self._exits else None

    @property
    def kind(self) -> Literal["events", "session", "stream"]:
        """What is in it: canonical events, a session as someone stored it, or what an agent said while running."""
        if self.launch.dialect == EVENTS:
            return "events"
        return "session" if DIALECTS[self.launch.dialect].file_only else "stream"


def open_source(source: Input, dialect: str | None = None, *, agent: str | None = None) -> Source:
    """What `source` holds. Raises UsageError where it cannot be read, or nobody can tell what it is."""
    opened = _open_input(source)
    try:
        return _recognised(opened, dialect, agent)
    except BaseException:
        opened.close()
        raise


def open_lines(
    name: str,
    lines: Iterator[bytes],
    dialect: str | None = None,
    *,
    agent: str | None = None,
    sources: Sequence[str] = (),
) -> Source:
    """What raw lines hold, each as it is in its file: the last may be cut. `sources`: their files, if there are several.
    Raises UsageError where nobody can tell what it is."""
    return _recognised(_OpenInput(name, lines, sources=list(sources)), dialect, agent)


def _recognised(opened: "_OpenInput", dialect: str | None, agent: str | None) -> Source:
    name, meta = opened.name, opened.meta
    head, lines = _peeked(opened.lines)
    exits = [exit_of(meta.exit_code)] if meta.exit_code is not None else []
    launch = Launch(
        agent="",
        dialect="",
        argv=meta.argv,
        cwd=meta.cwd,
        cli_version=meta.cli_version,
        sources=opened.sources,
    )
    found = meta.dialect
    if read_row(head) is not None:
        header, frames = _headed(rows(lines, name), exits)
        if header is not None:
            launch, found = header, header.dialect
    else:
        frames = _frames_of(_whole(lines) if head.strip() == b"{" else lines)
        found = EVENTS if _is_canonical(head) else found
    chosen = dialect or found
    if chosen is None:
        chosen, frames = _detected(frames, name, head)
    if chosen not in SOURCES:
        raise UsageError(f"no dialect is called {chosen!r}; known are: {', '.join(SOURCES)}")
    speaker = agent or launch.agent
    if not speaker and chosen in DIALECTS:
        speaker, frames = _speaker(DIALECTS[chosen], frames)
    launch = msgspec.structs.replace(launch, dialect=chosen, agent=speaker)
    return Source(name, launch, frames, exits, opened.close)


def exit_of(returncode: int) -> Exit:
    """The exit behind a return code as Python gives it: below zero it is a signal."""
    if returncode >= 0:
        return Exit(code=returncode)
    try:
        return Exit(signal=signal.Signals(-returncode).name)
    except ValueError:
        return Exit(signal=str(-returncode))


# --- bytes and lines -------------------------------------------------------------------------------------


class Meta(Struct):
    """What the `meta.json` of a capture says of the run."""

    dialect: str | None = None
    argv: list[str] = field(default_factory=list)
    cwd: str | None = None
    cli_version: str | None = None
    exit_code: int | None = None


class _OpenInput(Struct):
    """A source before anyone looked inside: its raw lines, newlines included, and what is told beside it."""

    name: str
    lines: Iterator[bytes]
    meta: Meta = field(default_factory=Meta)
    sources: list[str] = field(default_factory=list)
    close: Callable[[], object] = lambda: None


def _open_input(source: Input) -> _OpenInput:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        lines = _lines_in(path)
        return _OpenInput(str(path), lines, _meta_beside(path), close=lines.close)
    if isinstance(source, bytes):
        return _OpenInput("the input", _split(source))
    if hasattr(source, "readline"):
        name = getattr(source, "name", None)
        return _OpenInput(name if isinstance(name, str) else "the input", iter(cast(BinaryIO, source)))
    if isinstance(source, Sequence) and source and all(isinstance(item, os.PathLike) for item in source):
        paths = [Path(cast("os.PathLike[str]", item)) for item in source]
        lines = _lines_in(*paths)
        return _OpenInput(
            ", ".join(map(str, paths)), lines, sources=[str(path) for path in paths], close=lines.close
        )
    return _OpenInput("the input", map(_raw, cast("Iterable[bytes] | Iterable[str]", source)))


def _lines_in(*paths: Path) -> Generator[bytes, None, None]:
    """The lines of files, one file after the other."""
    for path in paths:
        try:
            with path.open("rb", buffering=BUFFER) as file:
                yield from file
        except OSError as error:
            raise UsageError(_unreadable(path, error)) from error


def _split(content: bytes) -> Iterator[bytes]:
    start = 0
    while (end := content.find(b"\n", start) + 1) > 0:
        yield content[start:end]
        start = end
    if start < len(content):
        yield content[start:]


def _whole(lines: Iterator[bytes]) -> Iterator[bytes]:
    """A file that is one JSON value over many lines is one line; any other is its lines."""
    content = b"".join(lines)
    try:
        msgspec.json.decode(content, type=msgspec.Raw)
    except _NOT_JSON:
        yield from _split(content)
    else:
        yield content


def _raw(line: bytes | str) -> bytes:
    """A line of a list may come without its newline; there it is not missing."""
    raw = line.encode() if isinstance(line, str) else line
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _peeked(lines: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first line that is not blank, and all the lines."""
    seen: list[bytes] = []
    for line in lines:
        seen.append(line)
        if line.strip():
            break
    return (seen[-1] if seen else b""), chain(_given_away(seen), lines)


def _given_away(items: list[T]) -> Iterator[T]:
    """The items, each let go as it is taken: a line may be large."""
    items.reverse()
    while items:
        yield items.pop()


def _unreadable(path: Path, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{path} is a directory; name a file in it"
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    if isinstance(error, PermissionError):
        return f"{path} may not be read: permission denied"
    return f"{path} cannot be read: {error.strerror or error}"


def _meta_beside(path: Path) -> Meta:
    if path.name in CAPTURED:
        try:
            return msgspec.json.decode(path.with_name("meta.json").read_bytes(), type=Meta)
        except (OSError, *_NOT_JSON):
            pass
    return Meta()


# --- frames ----------------------------------------------------------------------------------------------


def _frames_of(lines: Iterator[bytes]) -> Iterator[Frame]:
    for number, line in enumerate(lines, 1):
        if line.endswith(b"\n"):
            yield Frame(number, "out", line[:-1])
        else:
            yield Frame(number, "out", line, eol=False)


def _headed(
    recorded: Iterator[Launch | Frame | Exit], exits: list[Exit]
) -> tuple[Launch | None, Iterator[Frame]]:
    """The header, if the first row is one, and the frames; exits are put aside as they come."""

    def frames() -> Iterator[Frame]:
        for row in rest:
            if isinstance(row, Frame):
                yield row
            elif isinstance(row, Exit):
                exits.append(row)

    first = next(recorded)
    rest = recorded if isinstance(first, Launch) else chain((first,), recorded)
    return (first if isinstance(first, Launch) else None), frames()


def _detected(frames: Iterator[Frame], name: str, head: bytes) -> tuple[str, Iterator[Frame]]:
    """The dialect of the first line of the agent's that any dialect knows."""
    seen: list[Frame] = []
    tried = 0
    for frame in frames:
        seen.append(frame)
        if frame.dir == "out" and frame.line.strip():
            found = detect([frame.line])
            if found is not None:
                return found, chain(_given_away(seen), frames)
            tried += 1
            if tried == LINES_TO_TELL_BY:
                break
    if not head.strip():
        raise EmptySource(f"{name} is empty, so nobody can tell which agent wrote it; name the dialect")
    raise UsageError(_unknown(name, head))


def _speaker(dialect: Dialect, frames: Iterator[Frame]) -> tuple[str, Iterator[Frame]]:
    """Who speaks in a file that does not say: by its dialect, or by the first of its lines that names an agent."""
    if dialect.agent:
        return dialect.agent, frames
    agent, seen = "", []
    for frame in islice(frames, LINES_TO_TELL_BY):
        seen.append(frame)
        value = parse(frame.line)
        agent = dialect.part().agent_of(value) if isinstance(value, dict) else ""
        if agent:
            break
    return agent, chain(_given_away(seen), frames)


def _unknown(name: str, head: bytes) -> str:
    if b"\0" in head or not _is_text(head):
        return f"{name} is no stream of an agent: it is binary"
    if head.lstrip()[:1] not in (b"{", b"["):
        return f"{name} is no stream of an agent: it does not begin with JSON"
    return f"{name} is in no dialect known here; name one: {', '.join(SOURCES)}"


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError:
        return False
    return True


class _First(Struct):
    type: str = ""
    schema: str = ""


def _is_canonical(line: bytes) -> bool:
    try:
        first = msgspec.json.decode(line, type=_First)
    except _NOT_JSON:
        return False
    return first.type == "run.started" and first.schema == SCHEMA
