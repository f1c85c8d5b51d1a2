"""The library as commands open it: the one that is named, brought up to date within half a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.formatting import plural
from dragoman._library.library import Library

AT_MOST: Final = 0.5
"""Seconds that a command gives to what is new before it answers."""

F = TypeVar("F", bound=Callable[..., Any])


def library_option(command: F) -> F:
    """`--library`, for every command that reads the library."""
    return click.option(
        "--library", metavar="PLACE", help="Another library: a file, or postgresql://… (DRAGOMAN_LIBRARY)."
    )(command)


@contextmanager
def opened_library(address: str | None, *, fresh: bool = True) -> Iterator[Library]:
    """The library. With `fresh` what agents wrote meanwhile is brought in first, as much as half a second allows; what is
    still unread is told on stderr."""
    with Library(address) as library:
        if fresh:
            came = library.sync(seconds=AT_MOST, jobs=1)
            if came.unread:
                telling.tell(
                    f"{plural(came.unread, 'session file')} still unread; `dragoman sync` reads them"
                )
        yield library
