"""Reading Claude Code's session files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Frame
from tests.interpreted import interpreted, of, out

CAPTURES = Path(__file__).parents[4] / "captures" / "claude_transcript"
SCENARIOS = sorted(path.parent for path in CAPTURES.glob("*/*/session.jsonl"))
FILES = sorted(path for path in CAPTURES.glob("*/*/*.jsonl") if path.name != "events.jsonl")
OLD, NEW = CAPTURES / "2.1.197", CAPTURES / "2.1.325"


def frames(paths: Iterable[Path]) -> list[Frame]:
    lines = []
    for path in paths:
        *whole, rest = path.read_bytes().split(b"\n")
        lines += [(line, True) for line in whole] + ([(rest, False)] if rest else [])
    return [Frame(n, "out", line, eol=eol) for n, (line, eol) in enumerate(lines, 1)]


def read(*paths: Path) -> list[Event]:
    return interpreted("claude_transcript", frames(paths))


def lines(*values: Any) -> list[Event]:
    return interpreted("claude_transcript", out(values))


def files(scenario: Path) -> list[Path]:
    return [scenario / "session.jsonl", *sorted(scenario.glob("subagent-*.jsonl"))]


def outcomes(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(turn.outcome, turn.reason) for turn in of(events, ev.TurnEnded)]
