"""Convert: any file that tells of a run, as canonical events; and back to the agent's own bytes."""

from collections.abc import Iterable, Iterator
from contextlib import closing

from dragoman._dialects import machine_for
from dragoman._files.sources import Input, Source, exit_of, open_source
from dragoman._model.errors import UsageError
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._projections import published
from dragoman._wire import event_json
from dragoman._wire.event_json import detach
from dragoman._wire.jsontext import Invalid
from dragoman._wire.machine import StartOptions, play


def convert(
    source: Input,
    dialect: str | None = None,
    *,
    agent: str | None = None,
    native: bool = False,
    exit: Exit | int | None = None,
) -> Iterator[Event]:
    """The events that `source` tells of, one after the other.

    `source` is a path, an open binary file, bytes, lines, or several paths of one session; `dialect` is detected where it is not given. With
    `native` the events carry the agent's exact lines. `exit` says how the process ended, where the source does
    not. Raises UsageError at once if the source cannot be read; never for what an agent wrote.
    """
    opened = open_source(source, dialect, agent=agent)
    if opened.kind == "events":
        return _decoded(opened)
    if opened.kind == "view":
        return _read_back(opened)
    return _interpreted(opened, native, exit_of(exit) if isinstance(exit, int) else exit)


def _interpreted(source: Source, native: bool, exit: Exit | None) -> Iterator[Event]:
    machine = machine_for(source.launch.dialect, source.launch.agent)
    options = StartOptions(keeps_lines=native)
    with closing(source):
        yield from play(source, machine, source.launch, lambda: exit or source.exit or Exit(), options)


def _decoded(source: Source) -> Iterator[Event]:
    with closing(source):
        for frame in source:
            if not frame.line.strip():
                continue
            event = event_json.decode(frame.line)
            if isinstance(event, Invalid):
                raise UsageError(f"line {frame.n} of {source.name} is no canonical event: {event.reason}")
            yield event


def _read_back(source: Source) -> Iterator[Event]:
    with closing(source):
        lines = (frame.line for frame in source if frame.line.strip())
        yield from published.readable(source.launch.dialect).read(lines)


def native_lines(events: Iterable[Event]) -> Iterator[bytes]:
    """What the agent wrote, byte for byte, from events that were made with `native`."""
    last = 0
    for event in events:
        line = detach(event)
        if line is not None:
            yield line
        elif event.origin == "agent" and event.frame is not None and event.frame > last:
            raise UsageError(
                f"event {event.seq} has lost its line: this stream was made without native lines"
            )
        last = max(last, event.frame or 0)
