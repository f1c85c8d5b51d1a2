"""Convert: any file that tells of a run, as canonical events; and back to the agent's own bytes."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain

from msgspec import structs

from dragoman._dialects import machine_for
from dragoman._dialects.insights.messages import DIALECT as INSIGHTS
from dragoman._files import raw_lines
from dragoman._files.sources import Input, Source, exit_of, open_source
from dragoman._files.streamed_text import FrameRedactor
from dragoman._model.errors import UsageError
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame
from dragoman._wire import event_json
from dragoman._wire.event_json import detach
from dragoman._wire.jsontext import Invalid
from dragoman._wire.machine import StartOptions, play
from dragoman._wire.redaction import Redactor


def convert(
    source: Input,
    dialect: str | None = None,
    *,
    agent: str | None = None,
    native: bool = False,
    exit: Exit | int | None = None,
    redact: bool = False,
) -> Iterator[Event]:
    """The events that `source` tells of, one after the other.

    `source` is a path, an open binary file, bytes, lines, or several paths of one session; `dialect` is detected
    where it is not given. With `native` the events carry the exact lines of the source. `exit` says how the process
    ended, where the source does not. With `redact` secrets are taken out as a recording does it, for events that are
    to be given away. An Insights file that repeats the agent's own lines is read by those, unless
    its own are wanted. Raises UsageError at once if the source cannot be read; never for what an agent wrote.
    """
    opened = open_source(source, dialect, agent=agent)
    if redact:
        opened = _redacted(opened)
    return interpreted(opened, native, exit_of(exit) if isinstance(exit, int) else exit)


def interpreted(source: Source, native: bool = False, exit: Exit | None = None) -> Iterator[Event]:
    """The events of an opened source."""
    if source.kind == "events":
        return decoded(source)
    read = _reread if source.launch.dialect == INSIGHTS and not native else _interpreted
    return read(source, native, exit)


def _redacted(source: Source) -> Source:
    redactor = Redactor()
    frames = FrameRedactor(redactor, source.launch.dialect)
    kept = (structs.replace(frame, line=frames.line(frame)) for frame in source)
    return source.changed(kept, redactor.launch(source.launch))


def _interpreted(
    source: Source, native: bool, exit: Exit | None, seen: Iterable[Frame] = ()
) -> Iterator[Event]:
    machine = machine_for(source.launch.dialect, source.launch.agent)
    options = StartOptions(keeps_lines=native)
    with closing(source):
        frames = chain(seen, source)
        yield from play(frames, machine, source.launch, lambda: exit or source.exit or Exit(), options)


def _reread(source: Source, native: bool, exit: Exit | None) -> Iterator[Event]:
    """By the agent's own lines, where the source repeats them all; else by its own."""
    with closing(source):
        seen, items = raw_lines.gathered(iter(source))
        events = raw_lines.events_of(items, source.launch, exit or source.exit or Exit())
        yield from events if events is not None else _interpreted(source, native, exit, seen)


def decoded(source: Source) -> Iterator[Event]:
    """The events of a canonical stream. Raises UsageError for a line that is none."""
    with closing(source):
        for frame in source:
            if not frame.line.strip():
                continue
            event = event_json.decode(frame.line)
            if isinstance(event, Invalid):
                raise UsageError(f"line {frame.n} of {source.name} is no canonical event: {event.reason}")
            yield event


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
