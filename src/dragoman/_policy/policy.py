"""Who may do what: the rules that somebody wrote, and what an approve mode settles by itself.

Agents have no common word for these modes, and Claude Code in plan mode runs a Write that its client allows: so the
mode is applied here too, whatever the agent makes of it. Rules come first and the first match wins, with two bounds:
`plan` stays a mode that only looks, and what no rule and no mode settles is asked.

A rule can only be obeyed where the agent asks: what it does of its own accord (Claude Code reads the files of its
folder and runs `ls` without a word) it does.
"""

import glob
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dragoman._model.commands import Answer
from dragoman._model.config import Approve
from dragoman._model.events import PermissionRequested, ToolKind
from dragoman._policy import rulebook
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Asked, Effect, Rule
from dragoman._runtime.requests import Decision
from dragoman._runtime.standing import Request

LOOKING: Final[frozenset[ToolKind]] = frozenset({"read", "search", "think", "fetch", "browse", "ask"})

_ALLOWED: Final[dict[Approve, frozenset[ToolKind]]] = {"edits": frozenset({"edit"}), "plan": LOOKING}
"""Kinds that a mode allows, unless the agent names a path that is out of bounds; edits within the folder only."""

_DENIED: Final[dict[Approve, str]] = {
    "plan": "Denied: this session only looks and plans (approve=plan).",
    "never": "Denied: this session allows nothing that must be asked for (approve=never).",
}
"""Modes that deny what they do not allow, with the words for it."""


class Verdict(Struct, frozen=True):
    """What the policy says of a call, and why."""

    effect: Effect
    rule: str
    message: str | None = None


class Policy:
    """The rules and the mode of one run."""

    def __init__(self, mode: Approve = "ask", rules: Rulebook | None = None) -> None:
        self.mode = mode
        self._rules = rules or Rulebook()
        if mode == "dangerous":
            self._rules = self._rules.with_chapter("approve=dangerous", rulebook.dangerous())

    def verdict(self, asked: Asked) -> Verdict:
        """The effect on a call. Whether somebody is there to be asked is another question."""
        mode = f"approve={self.mode}"
        if self.mode == "plan" and asked.kind not in LOOKING:
            return Verdict("deny", mode, _DENIED["plan"])
        found = self._rules.find(asked)
        if found is not None:
            said = found.rule.message or f"Denied by a rule: {found.title}."
            return Verdict(found.effect, found.title, said if found.effect == "deny" else None)
        within = asked.blocked_path is None and (asked.kind != "edit" or asked.inside)
        if self.mode == "all" or (within and asked.kind in _ALLOWED.get(self.mode, ())):
            return Verdict("allow", mode)
        if self.mode in _DENIED:
            return Verdict("deny", mode, _DENIED[self.mode])
        return Verdict("ask", mode)

    def settled(self, request: Request, cwd: str | None, files: Iterable[str] = ()) -> Decision | None:
        """The decision for a session that works in `cwd`; None if somebody must be asked. `files` are those that the
        call is known to be about."""
        if not isinstance(request, PermissionRequested):
            return None
        verdict = self.verdict(Asked.of(request, cwd, files))
        if verdict.effect == "ask":
            return None
        answer = Answer(request=request.request_id, decision=verdict.effect, message=verdict.message)
        return Decision(answer, "policy", verdict.rule)

    def remember(
        self, request: PermissionRequested, answer: Answer, cwd: str | None, files: Iterable[str] = ()
    ) -> None:
        """Hold on to an answer that was given for longer than once: `session` or `always` in `remember`."""
        if "always" not in answer.remember and "session" not in answer.remember:
            return
        rule = rule_like(request, _effect(request, answer), cwd, files)
        self._rules.remember(rule)
        if "always" in answer.remember:
            rulebook.remember_always(rule)


def _effect(request: PermissionRequested, answer: Answer) -> Effect:
    """What an answer comes to: an option that it names wins over its decision."""
    chosen = next((option for option in request.options if option.id == answer.option), None)
    if chosen is None:
        return answer.decision
    return "allow" if (chosen.kind or chosen.id).startswith("allow") else "deny"


def rule_like(
    request: PermissionRequested, decision: Effect, cwd: str | None, files: Iterable[str] = ()
) -> Rule:
    """The narrowest rule that says the same of the same call: this command line, these files, or else this tool."""
    asked = Asked.of(request, cwd, files)
    rule = Rule(effect=decision, agent=glob.escape(asked.agent), tool=glob.escape(asked.tool))
    if asked.server is not None:
        rule.server = glob.escape(asked.server)
    if asked.command is not None:
        rule.line = asked.command
    elif asked.paths:
        rule.path = [glob.escape(path) for path in asked.paths]
    return rule
