"""Changes: what a run did to files, file by file. Only what was applied counts."""

from collections.abc import Callable, Iterable
from typing import Generic, Literal, Protocol, TypeGuard, TypeVar

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


class Changed(Protocol):
    """What is known of a file that was changed."""

    path: str
    change: Came
    moved_from: str | None


F = TypeVar("F", bound=Changed)


class Files(Generic[F]):
    """A fold over changes, as they come: what they come to, file by file. `begin` makes what is kept of a file that is changed
    for the first time."""

    def __init__(self, begin: Callable[[FileChanged], F]) -> None:
        self.all: list[F] = []
        """In the order in which they were first touched."""
        self._begin = begin
        self._named: dict[str, F] = {}

    def knows(self, path: str) -> bool:
        """Whether a file of this name was changed."""
        return path in self._named

    def see(self, step: FileChanged) -> F:
        """Take in a change; what its file has come to."""
        file = self._named.get(step.path)
        if file is None:
            file = self._named[step.path] = self._begin(step)
            self.all.append(file)
        else:
            file.change = _together(file.change, step.change)
        if step.move_to is not None and step.move_to != step.path:
            if file.change != "created":
                file.moved_from = file.moved_from or file.path
            file.path = step.move_to
            self._named[file.path] = self._named.pop(step.path)
        return file


def changes(events: Iterable[Event]) -> list[FileChange]:
    """The files that `events` changed, in the order in which they were first touched."""
    files = Files(lambda step: FileChange(path=step.path, change=step.change, before=step.before))
    for step in events:
        if is_change(step):
            file = files.see(step)
            file.steps.append(step)
            file.after = step.after if step.change != "deleted" else None
    return files.all


def is_change(event: Event) -> TypeGuard[FileChanged]:
    """Whether it changed a file, now and not in a history."""
    return isinstance(event, FileChanged) and event.phase == "applied" and not event.replay


def _together(so_far: Came, then: Came) -> Came:
    """What two changes in a row come to."""
    if so_far in ("created", "none"):
        return "none" if then == "deleted" else "created"
    if then == "deleted":
        return "deleted"
    if so_far == "deleted":
        return "modified"
    return "moved" if "moved" in (so_far, then) else "modified"
