"""Who may do what: the rules that somebody wrote, and what an approve mode settles by itself.

Agents have no common word for these modes, and Claude Code in plan mode runs a Write that its client allows: so the
mode is applied here too, whatever the agent makes of it. Rules come first and the first match wins, with two bounds:
`plan` stays a mode that only looks, and what no rule and no mode settles is asked.

A rule can only be obeyed where the agent asks: what it does of its own accord (Claude Code reads the files of its
folder and runs `ls` without a word) it does.
"""

import glob
from typing import Final

from dragoman._model.commands import Answer
from dragoman._model.config import Approve
from dragoman._model.events import ToolKind
from dragoman._policy import rulebook
from dragoman._policy.permission import Decision, Effect, PermissionRequest
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Rule, lies_inside

LOOKING: Final[frozenset[ToolKind]] = frozenset({"read", "search", "think", "fetch", "browse", "ask"})

_ALLOWED: Final[dict[Approve, frozenset[ToolKind]]] = {"edits": frozenset({"edit"}), "plan": LOOKING}
"""Kinds that a mode allows, unless the agent names a path that is out of bounds; edits within the folder only."""

_DENIED: Final[dict[Approve, str]] = {
    "plan": "Denied: this session only looks and plans (approve=plan).",
    "never": "Denied: this session allows nothing that must be asked for (approve=never).",
}
"""Modes that deny what they do not allow, with the words for it."""


class Policy:
    """The rules and the mode of one run."""

    def __init__(self, mode: Approve = "ask", rules: Rulebook | None = None) -> None:
        self.mode = mode
        self._rules = rules or Rulebook()
        if mode == "dangerous":
            self._rules = self._rules.with_chapter("approve=dangerous", rulebook.dangerous())

    def decide(self, request: PermissionRequest) -> Decision:
        """The effect on a call. Whether somebody is there to be asked is another question."""
        mode = f"approve={self.mode}"
        if self.mode == "plan" and request.kind not in LOOKING:
            return Decision("deny", mode, _DENIED["plan"])
        found = self._rules.find(request)
        if found is not None:
            why = found.rule.message or f"Denied by a rule: {found.title}."
            return Decision(found.effect, found.title, why if found.effect == "deny" else None)
        within = request.event.blocked_path is None and (request.kind != "edit" or lies_inside(request))
        if self.mode == "all" or (within and request.kind in _ALLOWED.get(self.mode, ())):
            return Decision("allow", mode)
        if self.mode in _DENIED:
            return Decision("deny", mode, _DENIED[self.mode])
        return Decision("ask", mode)

    def remember(self, request: PermissionRequest, answer: Answer) -> None:
        """Hold on to an answer that was given for longer than once: `session` or `always` in `remember`."""
        if "always" not in answer.remember and "session" not in answer.remember:
            return
        rule = rule_like(request, _effect(request, answer))
        self._rules.remember(rule)
        if "always" in answer.remember:
            rulebook.remember_always(rule)


def _effect(request: PermissionRequest, answer: Answer) -> Effect:
    """What an answer comes to: an option that it names wins over its decision."""
    chosen = next((option for option in request.options if option.id == answer.option), None)
    if chosen is None:
        return answer.decision
    return "allow" if (chosen.kind or chosen.id).startswith("allow") else "deny"


def rule_like(request: PermissionRequest, effect: Effect) -> Rule:
    """The narrowest rule that says the same of the same call: this command line, these files, or else this tool."""
    rule = Rule(effect=effect, agent=glob.escape(request.agent), tool=glob.escape(request.tool))
    if request.server is not None:
        rule.server = glob.escape(request.server)
    if request.command is not None:
        rule.line = request.command
    elif request.paths:
        rule.path = [glob.escape(path) for path in request.paths]
    return rule
