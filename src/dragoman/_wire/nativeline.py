"""A frame's exact text on an event, and back: what `--native` adds and `--view native` writes."""

from base64 import b64decode, b64encode

from dragoman._model.events import Event
from dragoman._model.frames import Frame


def attach(event: Event, frame: Frame) -> None:
    try:
        event.line = frame.line.decode()
    except UnicodeDecodeError:
        event.line_b64 = b64encode(frame.line).decode()
    event.eol = frame.eol


def detach(event: Event) -> bytes | None:
    """The bytes that `attach` put there, newline included; None if there are none."""
    if event.line is not None:
        line = event.line.encode()
    elif event.line_b64 is not None:
        line = b64decode(event.line_b64)
    else:
        return None
    return line + b"\n" if event.eol else line
