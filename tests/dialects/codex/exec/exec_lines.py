"""Reading what `codex exec --json` wrote."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from tests.interpreted import interpreted, line

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_exec" / "0.166.0"
ENDED = Exit(code=0)


def read(
    *values: Any, argv: Sequence[str] = (), resume: str | None = None, exit: Exit = ENDED, **config: Any
) -> list[Event]:
    """The events of these lines. A tuple is a line that the client wrote."""
    frames = [
        Frame(n, "in", line(value[0])) if isinstance(value, tuple) else Frame(n, "out", line(value))
        for n, value in enumerate(values, 1)
    ]
    launch = Launch(agent="codex", dialect="codex_exec", argv=list(argv), resume=resume, config=config)
    return interpreted("codex_exec", frames, launch=launch, exit=exit)


def capture(name: str) -> list[Event]:
    meta = json.loads((CAPTURES / name / "meta.json").read_text())
    lines = (CAPTURES / name / "stdout.jsonl").read_bytes().splitlines()
    return read(*lines, argv=meta["argv"], exit=Exit(code=meta["exit_code"]))


def item(phase: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": fields}
