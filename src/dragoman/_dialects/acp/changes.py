"""What tools do to files: the diffs in their content, of both versions of the protocol."""

from collections.abc import Iterator
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model import patches
from dragoman._model.content import DiffBlock
from dragoman._wire import fields

_OPERATIONS: Final[dict[str | None, Any]] = {
    "add": "created",
    "copy": "created",
    "delete": "deleted",
    "modify": "modified",
    "move": "moved",
}


def from_texts(native: dict[str, Any], diff: DiffBlock, path: str, call_id: str) -> ev.FileChanged:
    """The change that `oldText` and `newText` of a diff show, as it came and as a block. A new file has no old text, or
    (gemini, copilot, opencode) an empty one."""
    before, after = diff.before, diff.after
    change: Any = "modified" if before else "created"
    if "_meta" in native:
        change = _OPERATIONS.get(fields.text(native["_meta"], "kind"), change)
    if change == "created":
        before = None
    elif change == "deleted":
        after = None
    return ev.FileChanged(
        path=path,
        change=change,
        diff=patches.between(path, before, after),
        before=before,
        after=after,
        call_id=call_id,
    )


def in_full(said: list[ev.FileChanged], known: list[ev.FileChanged]) -> list[ev.FileChanged]:
    """The changes in `said`, each replaced by the one in `known` of which it is only a part: OpenCode shows
    whole files in its permission request, and only the replaced words when the tool is done."""
    return [next((old for old in known if _is_part(new, old)), new) for new in said]


def _is_part(new: ev.FileChanged, old: ev.FileChanged) -> bool:
    if new.path != old.path or not new.before or not old.before:
        return False
    return new.before in old.before and (new.after or "") in (old.after or "")


def listed(native: dict[str, Any], patch: str | None, call_id: str) -> Iterator[ev.FileChanged]:
    """The changes that `changes` of a diff lists, each with its part of the patch."""
    listed = fields.mappings(native, "changes")
    for item in listed:
        now, before = fields.text(item, "path"), fields.text(item, "oldPath")
        change = _OPERATIONS.get(fields.text(item, "operation"), "modified")
        if now is not None:
            moved = change == "moved" and before is not None
            yield ev.FileChanged(
                path=before or now if moved else now,
                move_to=now if moved else None,
                change=change,
                diff=patch if len(listed) == 1 else _part(patch, now),
                call_id=call_id,
            )


def _part(patch: str | None, path: str) -> str | None:
    """The part of a patch that changes the file `path`; None if there is not exactly one."""
    if patch is None:
        return None
    parts = ("\ndiff --git " + part for part in ("\n" + patch).split("\ndiff --git ")[1:])
    name = path.rsplit("/", 1)[-1]
    found = [part[1:] for part in parts if part.split("\n", 2)[1].endswith(name)]
    return found[0] if len(found) == 1 else None
