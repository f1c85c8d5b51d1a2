"""Reading what the commands are given: a file, a pipe or stdin."""

import io
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import click

from dragoman._files.convert import convert
from dragoman._files.sources import SOURCES, Input
from dragoman._model.events import Event
from dragoman._model.sessions import may_be_an_id

FROM_HELP = (
    "What the file is: a dialect, 'events' for a canonical stream, 'agent-event' or 'insights' for such a view of "
    "one. Detected if not given."
)


@contextmanager
def events_in(
    file: str, dialect: str | None, *, before_waiting: Callable[[], object] = lambda: None, **options: Any
) -> Iterator[Iterator[Event]]:
    """The events of a FILE argument, "-" for stdin, or the id of a session of the library. `before_waiting` is called before a pipe may keep us waiting,
    so that what was made of its last bytes is out by then. `options` are those of `convert`."""
    if may_be_an_id(file) and not os.path.lexists(file):
        with stored(file) as (lines, found):
            yield convert(lines, dialect or found, **options)
        return
    source = _source(file, before_waiting)
    events = cast(Generator[Event], convert(source, dialect, **options))
    try:
        yield events
    finally:
        events.close()  # and its file with it, however far it was read
        if isinstance(source, io.BufferedReader):
            source.close()


@contextmanager
def stored(id: str) -> Iterator[tuple[Iterator[bytes], str | None]]:
    """The lines of a session of the library, and their dialect; None where they say it themselves. Raises
    SessionNotFound."""
    from dragoman._cli.terminal.library_access import opened_library

    with opened_library(None) as library:
        told = library.recorded(library.session(id))
        yield told.lines, told.dialect


def given_from(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a dialect that does not exist as a wrong option."""
    if value is not None and value not in SOURCES:
        raise click.BadParameter(f"{value!r} is none of: {', '.join(SOURCES)}")
    return value


class Pipe(io.RawIOBase):
    """A stream that may keep us waiting."""

    def __init__(self, stream: BinaryIO, name: str, before_waiting: Callable[[], object]) -> None:
        self.name = name
        self._stream = stream
        self._before_waiting = before_waiting

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._before_waiting()
        chunk = cast(io.BufferedReader, self._stream).read1(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if self._stream is not sys.stdin.buffer:
            self._stream.close()
        super().close()


def _source(file: str, before_waiting: Callable[[], object]) -> Input:
    if file == "-":
        return _buffered(Pipe(sys.stdin.buffer, "stdin", before_waiting))
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return file  # opening it says what is wrong
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return _buffered(Pipe(open(file, "rb"), file, before_waiting))
    return file


def _buffered(pipe: Pipe) -> Input:
    return cast(BinaryIO, io.BufferedReader(pipe, 1 << 16))
