"""A long session as Claude Code keeps it: turns of many rounds, each of them an answer in Markdown, a command and an edit, and
an answer at the end."""

import json
from collections.abc import Iterator
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

from bench.agent import PROSE
from bench.material import SESSION

ROUNDS, EVENTS = 50, 7
"""Rounds of a turn, and events of a round."""
TITLE = "What I found"
ANSWER = f"""## {TITLE}

{PROSE}

- `reader.py` asks for a line
- **`follow.py`** does too, see [its docs](https://docs.example)

```python
reader.close()
```
"""
OUTPUT = "\n".join(f"tests/test_reader.py::test_line_{n} PASSED" for n in range(25))
OLD, NEW = "    value_5 = compute(value_5)", "    value_5 = computed_anew(value_5)"
AROUND = [f"     value_{n} = compute(value_{n})" for n in range(10)]
HUNK = {
    "oldStart": 1,
    "oldLines": 11,
    "newStart": 1,
    "newLines": 11,
    "lines": [*AROUND[:5], f"-{OLD}", f"+{NEW}", *AROUND[5:]],
}


def written(home: Path, events: int) -> Path:
    """The file of a session of so many events, or some more, where Claude Code would have it."""
    path = home / ".claude" / "projects" / "-repo" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    lines = chain.from_iterable(map(_turn, range(ceil(events / (ROUNDS * EVENTS)))))
    with path.open("w") as file:
        for number, line in enumerate(lines):
            ids = {"uuid": _uuid(number), "parentUuid": _uuid(number - 1) if number else None}
            file.write(json.dumps(line | ids, separators=(",", ":")) + "\n")
    return path


def _uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def _turn(number: int) -> Iterator[dict[str, Any]]:
    yield _line(number, "user", content=f"Look at part {number} of the reader, and mend what is wrong there.")
    for round in range(number * ROUNDS, (number + 1) * ROUNDS):
        path, run, edit = f"/repo/src/part_{round % 40}.py", f"toolu_run{round}", f"toolu_edit{round}"
        ran = {"stdout": OUTPUT, "stderr": "", "interrupted": False, "isImage": False}
        edited = {"filePath": path, "structuredPatch": [HUNK], "userModified": False}
        yield _said(number, round, type="text", text=ANSWER)
        yield _called(number, round, run, "Bash", command=f"python -m pytest tests/test_part_{round}.py")
        yield _result(number, run, OUTPUT, ran)
        yield _called(number, round, edit, "Edit", file_path=path, old_string=OLD, new_string=NEW)
        yield _result(number, edit, "The file has been updated.", edited)
    yield _said(number, (number + 1) * ROUNDS, type="text", text=ANSWER)


def _called(turn: int, round: int, call: str, name: str, **given: str) -> dict[str, Any]:
    return _said(turn, round, type="tool_use", id=call, name=name, input=given)


def _said(turn: int, round: int, **block: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 5_000, "output_tokens": 200}
    rest = {"id": f"msg_{round}", "model": "claude-opus-5-5", "stop_reason": "tool_use", "usage": usage}
    return _line(turn, "assistant", content=[block], **rest)


def _result(turn: int, call: str, text: str, result: dict[str, Any]) -> dict[str, Any]:
    content = [{"tool_use_id": call, "type": "tool_result", "content": text, "is_error": False}]
    return _line(turn, "user", content=content) | {"toolUseResult": result}


def _line(turn: int, role: str, **message: Any) -> dict[str, Any]:
    hour, minute = divmod(turn, 60)
    return {
        "type": role,
        "isSidechain": False,
        "message": {"role": role, **message},
        "timestamp": f"2026-11-{1 + hour // 24:02}T{hour % 24:02}:{minute:02}:00.000Z",
        "cwd": "/repo",
        "sessionId": SESSION,
        "version": "2.1.325",
    }
