"""`dragoman convert`: any file that tells of a run, as canonical events, as a published view of them, or back as
the agent's own bytes."""

import sys
from collections.abc import Iterable, Iterator

import click

from dragoman._cli.terminal.inputs import FROM_HELP, events_in, given_from
from dragoman._cli.terminal.view_options import WITH_LINES, extended_option, profile_option, view_lines
from dragoman._files.convert import native_lines
from dragoman._model.events import Event
from dragoman._projections.published import VIEWS, Profile
from dragoman._wire.event_json import encode


def _lines(events: Iterable[Event]) -> Iterator[bytes]:
    for event in events:
        yield encode(event) + b"\n"


@click.command
@click.argument("file")
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.option("--agent", metavar="NAME", help="Who speaks, if FILE does not say.")
@click.option(
    "--view",
    type=click.Choice(("events", *VIEWS, "native")),
    default="events",
    help=(
        "events: canonical JSONL (the default). agent-event, insights, untether: the models that other programs "
        "speak. native: the agent's exact bytes, from a stream made with --native."
    ),
)
@profile_option
@extended_option
@click.option("--native", is_flag=True, help="Keep the agent's exact lines in the events.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Keep keys and tokens out. So it is, unless the agent's exact lines are asked for.",
)
@click.option("--exit", "exit", type=int, metavar="CODE", help="How the process ended, if FILE does not say.")
def command(
    file: str,
    dialect: str | None,
    agent: str | None,
    view: str,
    profile: Profile | None,
    extended: bool,
    native: bool,
    redact: bool | None,
    exit: int | None,
) -> None:
    """Turn FILE into canonical events, or a view of them, one JSON object per line.

    FILE is an agent's stdout (JSONL), a recording, a session file, a canonical stream, or what --view agent-event
    or --view insights wrote; "-" is stdin. Events are written as soon as their line has been read.
    """
    out = sys.stdout.buffer
    redact = redact if redact is not None else not (native or view == "native")
    native = native or view == "native" or view in WITH_LINES
    options = {"agent": agent, "native": native, "exit": exit, "redact": redact}
    with events_in(file, dialect, before_waiting=out.flush, **options) as events:
        if view in VIEWS:
            chunks = view_lines(events, view, profile=profile or "seed", extended=extended)
        else:
            chunks = _lines(events) if view == "events" else native_lines(events)
        for chunk in chunks:
            out.write(chunk)
    out.flush()
