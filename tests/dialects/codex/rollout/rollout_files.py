"""Reading Codex's session files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragoman._model.events import Event
from tests.interpreted import interpreted, out

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_rollout" / "0.166.0"


def read(lines: Iterable[Any]) -> list[Event]:
    return interpreted("codex_rollout", out(lines))


def capture(name: str) -> list[Event]:
    return read((CAPTURES / name / "session.jsonl").read_bytes().splitlines())


def lines(*parts: tuple[str, dict[str, Any]]) -> list[Event]:
    """A file of the older kind, put together: (type, payload) each."""
    time = "2025-10-01T12:00:00.000Z"
    return read({"timestamp": time, "type": t, "payload": p} for t, p in parts)
