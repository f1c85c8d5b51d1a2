"""What Codex writes, for tests; and how it is seen."""

from typing import Any

from tests.projections.projected import bare, seen

THREAD = {"type": "thread.started", "thread_id": "t"}
TURN = {"type": "turn.started"}


def item(phase: str, type: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": {"id": "1", "type": type, **fields}}


def codex(*lines: dict[str, Any], profile: Any = "seed") -> list[dict[str, Any]]:
    """What is said after the thread started."""
    items = seen("insights", [THREAD, TURN, *lines], "codex_exec", profile=profile, exit=0)
    return bare(items, "provider", "raw")[1:]
