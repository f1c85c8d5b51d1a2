"""Surveys of files: what is in them that this version does not know. For `dragoman drift`."""

from contextlib import closing

from dragoman._dialects import machine_for
from dragoman._drift.survey import Survey
from dragoman._files.convert import decoded
from dragoman._files.sources import Input, Source, open_source
from dragoman._model.frames import Exit, Frame
from dragoman._wire import event_json


def survey(source: Input, dialect: str | None = None, *, agent: str | None = None) -> Survey:
    """What is in any file that `convert` reads. Of canonical events only those that carry their lines tell of fields.
    Raises UsageError if it cannot be read."""
    opened = open_source(source, dialect, agent=agent)
    with closing(opened):
        return _of_events(opened) if opened.kind == "events" else _of_frames(opened)


def _of_frames(source: Source) -> Survey:
    launch = source.launch
    found = Survey(launch.dialect, ours=launch.pid is not None)
    machine = machine_for(launch.dialect, launch.agent)
    found.feed(None, machine.start(launch).events)
    for frame in source:
        found.feed(frame, machine.receive(frame).events)
    found.feed(None, machine.end(source.exit or Exit()).events)
    return found


def _of_events(source: Source) -> Survey:
    found: Survey | None = None
    for event in decoded(source):
        found = found or Survey(event.dialect)
        line = event_json.detach(event)
        found.feed(Frame(event.frame or 0, "out", line) if line is not None else None, [event])
    return found or Survey(source.launch.dialect)
