"""`dragoman convert`: any file that tells of a run, as canonical events or back as the agent's own bytes."""

import sys
from collections.abc import Callable, Iterable, Iterator

import click

from dragoman.cli.reading import FROM_HELP, events_in, given_from
from dragoman.model.events import Event
from dragoman.store.convert import native_lines
from dragoman.wire.canonical import encode


def _lines(events: Iterable[Event]) -> Iterator[bytes]:
    for event in events:
        yield encode(event) + b"\n"


VIEWS: dict[str, Callable[[Iterable[Event]], Iterator[bytes]]] = {
    "events": _lines,
    "native": native_lines,
}
"""What a run can be written as."""


@click.command
@click.argument("file")
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.option(
    "--view",
    type=click.Choice(list(VIEWS)),
    default="events",
    help="events: canonical JSONL (the default). native: the agent's exact bytes, from a stream made with --native.",
)
@click.option("--native", is_flag=True, help="Keep the agent's exact lines in the events.")
@click.option("--exit", "exit", type=int, metavar="CODE", help="How the process ended, if FILE does not say.")
def command(file: str, dialect: str | None, view: str, native: bool, exit: int | None) -> None:
    """Turn FILE into canonical events, one JSON object per line.

    FILE is an agent's stdout (JSONL), a recording, a session file or a canonical stream; "-" is stdin. Events
    are written as soon as their line has been read.
    """
    out = sys.stdout.buffer
    native = native or view == "native"
    with events_in(file, dialect, before_waiting=out.flush, native=native, exit=exit) as events:
        for chunk in VIEWS[view](events):
            out.write(chunk)
    out.flush()
