"""`dragoman replay`: a recording through the machine again, shown as if it happened now."""

import sys
import time
from collections.abc import Iterable, Iterator

import click

from dragoman._cli.terminal.inputs import FROM_HELP, events_in, given_from
from dragoman._model.events import Event
from dragoman._wire.event_json import encode


@click.command
@click.argument("file")
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="N times as fast as it happened.",
)
@click.option("--at-once", is_flag=True, help="Without its pauses; so too when stdout is not a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Canonical JSONL instead of text.")
@click.option("--redact/--no-redact", default=True, help="Keep keys and tokens out.")
def command(
    file: str, dialect: str | None, speed: float | None, at_once: bool, as_json: bool, redact: bool
) -> None:
    """Play the run that FILE recorded.

    On a terminal at the speed at which it happened, else at once. A file without times is played at once.
    """
    if at_once and speed is not None:
        raise click.UsageError("--speed and --at-once cannot go together.")
    if speed is None and not at_once and sys.stdout.isatty():
        speed = 1.0
    with events_in(file, dialect, redact=redact) as events:
        show = _write if as_json else _render
        show(paced(events, speed))


def _write(events: Iterable[Event]) -> None:
    for event in events:
        sys.stdout.buffer.write(encode(event) + b"\n")
        sys.stdout.buffer.flush()


def _render(events: Iterable[Event]) -> None:
    from dragoman._cli.terminal.console import console
    from dragoman._cli.terminal.renderer import Renderer

    renderer = Renderer(console())
    try:
        for event in events:
            renderer.show(event)
    finally:
        renderer.close()


def paced(events: Iterable[Event], speed: float | None) -> Iterator[Event]:
    """`events` at `speed` times their own pace; as fast as they come if it is None."""
    began = time.monotonic()
    for event in events:
        if speed is not None and event.at is not None:
            early = event.at / speed - (time.monotonic() - began)
            if early > 0:
                time.sleep(early)
        yield event
