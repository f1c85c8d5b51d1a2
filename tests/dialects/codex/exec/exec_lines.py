"""Reading what `codex exec --json` wrote, for the tests beside this."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_exec" / "0.166.0"

E = TypeVar("E", bound=Event)


def interpreted(
    frames: Iterable[Frame], *, launch: Launch | None = None, exit: Exit | None = None
) -> list[Event]:
    machine = machine_for("codex_exec")
    type(machine).strict = True
    events = list(machine.start(launch or Launch(agent="codex", dialect="codex_exec")).events)
    for frame in frames:
        events += machine.receive(frame).events
    return [*events, *machine.end(exit or Exit(code=0)).events]


def read(
    *values: Any, argv: Sequence[str] = (), resume: str | None = None, exit: Exit | None = None, **config: Any
) -> list[Event]:
    """The events of these lines, and that they keep every rule. A tuple is a line that the client wrote."""
    frames = [
        Frame(n, "in", _line(value[0])) if isinstance(value, tuple) else Frame(n, "out", _line(value))
        for n, value in enumerate(values, 1)
    ]
    launch = Launch(agent="codex", dialect="codex_exec", argv=list(argv), resume=resume, config=config)
    events = interpreted(frames, launch=launch, exit=exit)
    assert broken(events, frames=[frame.n for frame in frames if frame.dir == "out"]) == []
    return events


def _line(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def capture(name: str) -> list[Event]:
    meta = json.loads((CAPTURES / name / "meta.json").read_text())
    lines = (CAPTURES / name / "stdout.jsonl").read_bytes().splitlines()
    return read(*lines, argv=meta["argv"], exit=Exit(code=meta["exit_code"]))


def item(phase: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": fields}


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]
