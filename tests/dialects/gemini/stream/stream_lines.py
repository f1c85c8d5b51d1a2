"""Reading what `gemini --output-format stream-json` wrote, for the tests beside this."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "gemini_stream" / "0.61.0"
LAUNCH = Launch(agent="gemini", dialect="gemini_stream")
UNKNOWN = Exit()

E = TypeVar("E", bound=Event)

INIT = {"type": "init", "session_id": "s1", "model": "gemini-2.5-pro"}
ASKED = {"type": "message", "role": "user", "content": "hi"}


def said(text: str, *, delta: bool = True) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, **({"delta": True} if delta else {})}


def result(status: str = "success", **fields: Any) -> dict[str, Any]:
    return {"type": "result", "status": status, **fields}


def interpreted(frames: Iterable[Frame], exit: Exit, launch: Launch = LAUNCH) -> list[Event]:
    machine = machine_for("gemini_stream")
    type(machine).strict = True
    events = list(machine.start(launch).events)
    for frame in frames:
        events += machine.receive(frame).events
    return [*events, *machine.end(exit).events]


def read(*values: Any, exit: Exit = UNKNOWN, launch: Launch = LAUNCH) -> list[Event]:
    """The events of these lines, and that they keep every rule."""
    lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    events = interpreted([Frame(n, "out", line) for n, line in enumerate(lines, 1)], exit, launch)
    assert broken(events, frames=range(1, len(lines) + 1)) == []
    return events


def capture(name: str) -> list[Event]:
    code = json.loads((CAPTURES / name / "meta.json").read_text())["exit_code"]
    lines = (CAPTURES / name / "stdout.jsonl").read_bytes().split(b"\n")
    exit = Exit(code=code) if code >= 0 else Exit(signal="SIGKILL")
    return read(*(lines[:-1] if lines[-1] == b"" else lines), exit=exit)


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def types(events: list[Event]) -> list[str]:
    return [str(event.__struct_config__.tag) for event in events]
