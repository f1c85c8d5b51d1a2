"""What `gemini --output-format stream-json` writes, and reading it."""

import json
from pathlib import Path
from typing import Any

from dragoman._model.events import Event
from dragoman._model.frames import Exit, Launch
from tests.interpreted import UNKNOWN, interpreted, out

CAPTURES = Path(__file__).parents[4] / "captures" / "gemini_stream" / "0.61.0"

INIT = {"type": "init", "session_id": "s1", "model": "gemini-2.5-pro"}
ASKED = {"type": "message", "role": "user", "content": "hi"}


def said(text: str, *, delta: bool = True) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, **({"delta": True} if delta else {})}


def result(status: str = "success", **fields: Any) -> dict[str, Any]:
    return {"type": "result", "status": status, **fields}


def read(*lines: Any, exit: Exit = UNKNOWN, launch: Launch | None = None) -> list[Event]:
    return interpreted("gemini_stream", out(lines), exit=exit, launch=launch)


def capture(name: str) -> list[Event]:
    code = json.loads((CAPTURES / name / "meta.json").read_text())["exit_code"]
    lines = (CAPTURES / name / "stdout.jsonl").read_bytes().split(b"\n")
    exit = Exit(code=code) if code >= 0 else Exit(signal="SIGKILL")
    return read(*(lines[:-1] if lines[-1] == b"" else lines), exit=exit)


def types(events: list[Event]) -> list[str]:
    return [str(event.__struct_config__.tag) for event in events]
