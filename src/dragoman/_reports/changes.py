"""Changes: what a run did to files, file by file. Only what was applied counts."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, field

from dragoman._model.events import Event, FileChanged

Came = Literal["created", "modified", "deleted", "moved", "none"]


class FileChange(Struct, omit_defaults=True, kw_only=True):
    """All that happened to one file, under the name it has now."""

    path: str
    change: Came
    """What it came to: created and then edited is created; created and then deleted is none."""
    moved_from: str | None = None
    """The name it had before the run, if it had another."""
    before: str | None = None
    """Its text before the run, where known."""
    after: str | None = None
    """Its text now, where known."""
    steps: list[FileChanged] = field(default_factory=list)
    """Every change in order, with its diff."""


def changes(events: Iterable[Event]) -> list[FileChange]:
    """The files that `events` changed, in the order in which they were first touched."""
    files: list[FileChange] = []
    named: dict[str, FileChange] = {}
    for step in events:
        if not isinstance(step, FileChanged) or step.phase != "applied" or step.replay:
            continue
        file = named.get(step.path)
        if file is None:
            file = named[step.path] = FileChange(path=step.path, change=step.change, before=step.before)
            files.append(file)
        else:
            file.change = _together(file.change, step.change)
        file.steps.append(step)
        file.after = step.after if step.change != "deleted" else None
        if step.move_to is not None and step.move_to != step.path:
            if file.change != "created":
                file.moved_from = file.moved_from or file.path
            file.path = step.move_to
            named[file.path] = named.pop(step.path)
    return files


def _together(so_far: Came, then: Came) -> Came:
    """What two changes in a row come to."""
    if so_far in ("created", "none"):
        return "none" if then == "deleted" else "created"
    if then == "deleted":
        return "deleted"
    if so_far == "deleted":
        return "modified"
    return "moved" if "moved" in (so_far, then) else "modified"
