"""What a tool call would do, in full: what a person must see before saying yes.

A title shows the first line of a command and the name of a file; here is the rest.
"""

import json
from typing import Any

from dragoman._model import patches
from dragoman._model.events import ToolKind
from dragoman._model.toolnames import title_of

DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}

Line = tuple[str, str]
"""Text and style."""


def diff_lines(diff: str) -> list[Line]:
    """A unified diff without its file names."""
    body = [line for line in diff.rstrip("\n").split("\n") if not line.startswith(("--- ", "+++ "))]
    return [(line, DIFF_STYLES.get(line[:1], "dim")) for line in body]


def proposal(kind: ToolKind, name: str, input: Any) -> list[Line]:
    """The lines that show what `input` asks for, as far as the call's title does not."""
    if not isinstance(input, dict):
        return [] if input is None else _json(input)
    if kind == "edit" and (diff := _edit(input)) is not None:
        return diff_lines(diff)
    title = title_of(name, input)
    command = input.get("command") if kind == "execute" else None
    whole = command.split("\n") if isinstance(command, str) and command.strip() != title else []
    rest = {key: value for key, value in input.items() if key != "command" or not isinstance(command, str)}
    return [
        *((line, "") for line in whole),
        *(line for item in rest.items() for line in _field(*item, title)),
    ]


def _field(key: str, value: Any, title: str | None) -> list[Line]:
    if isinstance(value, str) and "\n" not in value:
        return [] if value.strip() == title else [(f"{key}: {value}", "dim")]
    first, *more = _json(value)
    return [(f"{key}: {first[0]}", "dim"), *more]


def _edit(input: dict[str, Any]) -> str | None:
    before, after = input.get("old_string"), input.get("new_string", input.get("content"))
    if not isinstance(after, str):
        return None
    diff = patches.from_texts("", before if isinstance(before, str) else None, after)
    return diff.replace(f"{patches.NO_NEWLINE}\n", "") if diff is not None else None  # pieces, not files


def _json(value: Any) -> list[Line]:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return [(line, "dim") for line in text.split("\n")]
