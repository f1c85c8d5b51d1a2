"""Gemini CLI's session files: their lines, and reading them."""

from pathlib import Path
from typing import Any

from dragoman._model.events import Event
from tests.interpreted import interpreted, out

CAPTURES = Path(__file__).parents[4] / "captures" / "gemini_chat" / "0.61.0"

HEAD = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}


def user(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:01.000Z", "type": "user", "content": content, **fields}


def gemini(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:02.000Z", "type": "gemini", "content": content, **fields}


def call(id: str, name: str, args: Any, output: str = "", **fields: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}
    return {"id": id, "name": name, "args": args, "result": [answer], "status": "success", **fields}


def read(*lines: Any) -> list[Event]:
    return interpreted("gemini_chat", out(lines))


def capture(*names: str) -> list[Event]:
    """The events of files, read one after the other."""
    return read(
        *(line for name in names for line in (CAPTURES / name / "session.jsonl").read_bytes().splitlines())
    )
