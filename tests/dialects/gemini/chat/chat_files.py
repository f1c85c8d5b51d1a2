"""Reading Gemini CLI's session files, for the tests beside this."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "gemini_chat" / "0.61.0"

E = TypeVar("E", bound=Event)

HEAD = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}


def user(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:01.000Z", "type": "user", "content": content, **fields}


def gemini(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:02.000Z", "type": "gemini", "content": content, **fields}


def call(id: str, name: str, args: Any, output: str = "", **fields: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}
    return {"id": id, "name": name, "args": args, "result": [answer], "status": "success", **fields}


def interpreted(frames: Iterable[Frame]) -> list[Event]:
    machine = machine_for("gemini_chat")
    type(machine).strict = True
    events = list(machine.start(Launch(agent="gemini", dialect="gemini_chat")).events)
    for frame in frames:
        events += machine.receive(frame).events
    return [*events, *machine.end(Exit()).events]


def read(*values: Any) -> list[Event]:
    """The events of these lines, and that they keep every rule."""
    lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    events = interpreted(Frame(n, "out", line) for n, line in enumerate(lines, 1))
    assert broken(events, frames=range(1, len(lines) + 1)) == []
    return events


def capture(*names: str) -> list[Event]:
    """The events of files, read one after the other."""
    return read(
        *(line for name in names for line in (CAPTURES / name / "session.jsonl").read_bytes().splitlines())
    )


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]
