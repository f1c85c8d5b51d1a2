"""Permissions that were given, for the host calls that follow from them.

An agent asks whether it may run a command or write a file, and then has its client do it: nobody shall be asked twice.
But only what was asked is granted: the same kind, the same command with its variables and its folder, the same file with
the text that was shown.
"""

from collections.abc import Sequence

from dragoman._model.events import FileChanged
from dragoman._policy.permission import PermissionRequest

Given = list[tuple[PermissionRequest, list[FileChanged]]]
"""What was allowed to a call, each with the changes that it proposed."""


class Grants:
    """The permissions of the turns that are open, by call."""

    def __init__(self) -> None:
        self._turns: dict[str | None, tuple[int, dict[str, Given]]] = {}
        """Of each session the turn that asked last, and what was allowed in it."""

    def add(self, request: PermissionRequest, changes: Sequence[FileChanged]) -> None:
        """A call was allowed; `changes` are those that it proposed. What was allowed in another turn is past."""
        event = request.event
        if event.call_id is None:
            return
        turn, calls = self._turns.get(event.session, (None, {}))
        if turn != event.turn:
            calls = {}
            self._turns[event.session] = event.turn, calls
        calls.setdefault(event.call_id, []).append((request, list(changes)))

    def cover(self, wanted: PermissionRequest, current: str | None) -> bool:
        """Whether what the host shall do was allowed. `current` is the text of the file as it is, where it writes one."""
        event = wanted.event
        turn, calls = self._turns.get(event.session, (None, {}))
        if event.call_id is None or turn != event.turn:
            return False
        given = calls.get(event.call_id, [])
        return any(_same(asked, changes, wanted, current) for asked, changes in given)


def _same(
    asked: PermissionRequest, changes: list[FileChanged], wanted: PermissionRequest, current: str | None
) -> bool:
    if asked.kind != wanted.kind:
        return False
    if wanted.kind == "execute":
        # Without an input, its title is all that was said and shown.
        said = asked.command if asked.input else (asked.title or "").strip("`")
        return (
            wanted.command is not None
            and wanted.command == said
            and wanted.changed_env == asked.changed_env
            and wanted.runs_in == asked.runs_in
        )
    if not wanted.placed or not set(wanted.paths) <= set(asked.paths):
        return False
    return wanted.kind != "edit" or _same_text(asked, changes, wanted, current)


def _same_text(
    asked: PermissionRequest, changes: list[FileChanged], wanted: PermissionRequest, current: str | None
) -> bool:
    """Whether the text to be written is the one that was shown: as a whole, or as a piece that replaces another. Where
    none was shown, the file is all that was asked about."""
    text = wanted.input.get("content")
    here = [
        change
        for change in changes
        if asked.resolved(change.path) in wanted.paths and change.after is not None
    ]
    shown = asked.input.get("content")
    if isinstance(shown, str):
        return shown == text
    if not here:
        return True
    return any(text in _outcomes(change, current) for change in here)


def _outcomes(change: FileChanged, current: str | None) -> set[str | None]:
    """What a file may become by a change: its new text, or the present one with a piece replaced."""
    before, after = change.before, change.after
    if not before or not current or after is None:
        return {after}
    return {after, current.replace(before, after, 1), current.replace(before, after)}
