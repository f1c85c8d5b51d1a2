"""What an approve mode settles by itself. Agents have no common word for these modes, and Claude Code in plan
mode runs a Write that its client allows: so the mode is applied here too, whatever the agent makes of it."""

from typing import Final

from dragoman.model.commands import Answer
from dragoman.model.config import Approve
from dragoman.model.events import PermissionRequested, ToolKind
from dragoman.runtime.handling import Decision
from dragoman.runtime.standing import Request

LOOKING: Final[frozenset[ToolKind]] = frozenset({"read", "search", "think", "fetch", "browse", "ask"})

_ALLOWED: Final[dict[Approve, frozenset[ToolKind]]] = {
    "dangerous": LOOKING | {"memory"},
    "edits": frozenset({"edit"}),
    "plan": LOOKING,
}
"""Kinds that a mode allows, unless the agent names a path that is out of bounds."""

_DENIED: Final[dict[Approve, str]] = {
    "plan": "Denied: this session only looks and plans (approve=plan).",
    "never": "Denied: this session allows nothing that must be asked for (approve=never).",
}
"""Modes that deny what they do not allow, with the words for it."""


def settled(mode: Approve, request: Request) -> Decision | None:
    """The mode's own decision; None if somebody must be asked."""
    if not isinstance(request, PermissionRequested):
        return None
    id, rule = request.request_id, f"approve={mode}"
    within = request.blocked_path is None and request.kind in _ALLOWED.get(mode, ())
    if mode == "all" or within:
        return Decision(Answer(request=id, decision="allow"), "policy", rule)
    if mode in _DENIED:
        return Decision(Answer(request=id, decision="deny", message=_DENIED[mode]), "policy", rule)
    return None
