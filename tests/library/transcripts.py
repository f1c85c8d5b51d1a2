"""Session files with texts of one's own, as Claude Code writes them."""

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid5

SPACE: Final = UUID(int=1)
START: Final = datetime(2026, 11, 1, tzinfo=UTC).timestamp()


def transcript(
    folder: Path,
    name: str,
    said: Iterable[tuple[str, str] | tuple[str, str, str, str]],
    at: float = 0,
    cwd: str = "/w",
) -> Path:
    """A session file. Said by `user` or `assistant`; or ("tool", name, path, output). `at`: seconds after START."""
    id = str(uuid5(SPACE, name))
    lines: list[dict[str, Any]] = []

    def line(role: str, content: Any) -> None:
        number = len(lines)
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "type": "message", "model": "claude-opus-5-5", "usage": {}}
        lines.append(
            {
                "parentUuid": lines[-1]["uuid"] if lines else None,
                "isSidechain": False,
                "type": role,
                "message": message,
                "uuid": str(uuid5(SPACE, f"{name} {number}")),
                "timestamp": datetime.fromtimestamp(START + at + number, UTC)
                .isoformat()
                .replace("+00:00", "Z"),
                "cwd": cwd,
                "sessionId": id,
                "version": "2.1.325",
            }
        )

    for who, *what in said:
        if who == "tool":
            tool, path, output = what
            call = f"toolu_{name}_{len(lines)}"
            line("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": {"file_path": path}}])
            line("user", [{"type": "tool_result", "tool_use_id": call, "content": output}])
        else:
            line(who, what[0] if who == "user" else [{"type": "text", "text": what[0]}])
    path = folder / f"{id}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    os.utime(path, (START + at, START + at))
    return path
