"""What happens to files, as real unified diffs. On the wire an update has bare hunks (with a "Moved to:" line
behind them if it is a move), and of an added or deleted file there is only the content (capture basic)."""

from collections.abc import Iterator
from typing import Any, Literal

from dragoman._model import events as ev
from dragoman._model import patches
from dragoman._wire import fields

Phase = Literal["proposed", "applied", "failed"]


def file_changes(
    changes: list[dict[str, Any]] | None, call_id: str, phase: Phase
) -> Iterator[ev.FileChanged]:
    """One event for each file in the `changes` of a patch."""
    for change in changes or []:
        path = fields.text(change, "path")
        if path is not None:
            yield _file_changed(path, change, call_id, phase)


def _file_changed(path: str, change: dict[str, Any], call_id: str, phase: Phase) -> ev.FileChanged:
    kind, content = change.get("kind"), fields.text(change, "diff")
    given = kind if isinstance(kind, dict) else {"type": kind}
    event = ev.FileChanged(path=path, change="modified", call_id=call_id, phase=phase)
    if given.get("type") == "add":
        event.change, event.after = "created", content
        event.diff = patches.between(path, None, content) if content is not None else None
    elif given.get("type") == "delete":
        event.change, event.before = "deleted", content
        event.diff = patches.between(path, content, None) if content is not None else None
    else:
        target = fields.text(given, "move_path")
        if target:
            event.change, event.move_to = "moved", target
        event.diff = _with_header(path, event.move_to, content) if content else None
    return event


def _with_header(path: str, target: str | None, hunks: str) -> str:
    if target is not None:
        hunks = hunks.removesuffix(f"\n\nMoved to: {target}")
    end = "" if hunks.endswith("\n") or not hunks else "\n"
    return f"--- a/{path.lstrip('/')}\n+++ b/{(target or path).lstrip('/')}\n{hunks}{end}"


def paths(changes: list[dict[str, Any]] | None) -> list[str]:
    """The paths in `changes`, also of moves, each once."""
    named: list[str] = []
    for change in changes or []:
        target = fields.text(change.get("kind"), "move_path")
        named += [path for path in (fields.text(change, "path"), target) if path]
    return list(dict.fromkeys(named))
