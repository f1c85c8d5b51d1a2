"""`dragoman export`: a session as a file that can be read, mailed or read in again."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.inputs import events_in
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._exports.html import About
from dragoman._library.exporting import FORMATS, about, events_of
from dragoman._model.errors import UsageError
from dragoman._model.events import Event


@click.command
@click.argument("id", metavar="ID|FILE")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Where to; stdout if not given."
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="By the ending of FILE, else html.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there.")
@click.option("--redact/--no-redact", default=True, help="Keep keys and tokens out.")
@library_option
def command(
    id: str, output: str | None, form: str | None, overwrite: bool, redact: bool, library: str | None
) -> None:
    """Write the session whose id begins with ID, or the run that FILE tells of, as one file.

    HTML needs no network and no other file: it can be mailed. Markdown is a transcript, JSONL the canonical events.
    """
    chosen = form or (Path(output).suffix.lstrip(".").lower() if output else "html")
    if chosen not in FORMATS:
        raise click.UsageError(f"{output} ends with none of: .{', .'.join(FORMATS)}; name one with --format.")
    with _told(id, library, redact) as (head, events):
        pieces = FORMATS[chosen](head, events, redact)
        if output is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece.encode())
            return
        try:
            file = open(output, "w" if overwrite else "x", encoding="utf-8")  # noqa: SIM115
        except FileExistsError as error:
            raise UsageError(f"{output} is there already; --overwrite replaces it") from error
        with file:
            for piece in pieces:
                file.write(piece)
    telling.tell(f"written to {output}")


@contextmanager
def _told(id: str, library: str | None, redact: bool) -> Iterator[tuple[About, Iterator[Event]]]:
    """What stands at the top, and the events: of a file if there is one of this name, else of a session."""
    if Path(id).exists():
        with events_in(id, None, redact=redact) as events:
            yield About(title=Path(id).name, facts=[]), events
        return
    with opened_library(library) as kept:
        session = kept.session(id)
        yield about(session), events_of(kept, session, redact=redact)
