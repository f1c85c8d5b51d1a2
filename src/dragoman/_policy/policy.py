"""Who may do what: the rules that somebody wrote, and what an approve mode settles by itself.

Agents have no common word for these modes, and Claude Code in plan mode runs a Write that its client allows: so the
mode is applied here too, whatever the agent makes of it. Rules come first and the first match wins, with three bounds:
what leads out of a sandbox is denied, `plan` stays a mode that only looks, and what no rule and no mode settles is asked.

A rule can only be obeyed where the agent asks, or where every call of an agent is put before the policy (Claude Code,
by a hook; files and terminals of the host). Then what only looks passes in the modes that ask, as it would have
without a word: `unasked` says that a call is one of these.
"""

import glob
from collections.abc import Callable, Iterable
from typing import Any, Final

from dragoman._model.commands import Answer
from dragoman._model.config import Approve
from dragoman._model.events import ToolKind
from dragoman._policy import rulebook
from dragoman._policy.permission import Decision, Effect, PermissionRequest
from dragoman._policy.rulebook import Found, Rulebook
from dragoman._policy.rules import Rule, exact_input

LOOKING: Final[frozenset[ToolKind]] = frozenset({"read", "search", "think", "fetch", "browse", "ask"})
"""Kinds that only look: what `plan` lets pass, unless the agent names a path that is out of bounds."""

_DENIED: Final[dict[Approve, str]] = {
    "plan": "Denied: this session only looks and plans (approve=plan).",
    "never": "Denied: this session allows nothing that must be asked for (approve=never).",
}
"""Modes that deny what they do not allow, with the words for it."""
_RANK: Final[dict[Effect, int]] = {"allow": 0, "ask": 1, "deny": 2}


Updates = Callable[[Any], tuple[list[Rule], Approve | None]]
"""What an update of permissions in an agent's own words comes to: rules, and a mode."""


def no_update(update: Any) -> tuple[list[Rule], Approve | None]:
    """For agents that have no such words."""
    return [], None


class Policy:
    """The rules and the mode of one run. The mode may be changed while it runs."""

    def __init__(
        self,
        mode: Approve = "ask",
        rules: Rulebook | None = None,
        granted: Iterable[Rule] = (),
        updates: Updates = no_update,
        bounds: Iterable[Rule] = (),
    ) -> None:
        self.mode: Approve = mode
        self._rules = rules or Rulebook()
        self._granted = list(granted)
        """What holds where no rule of a file says otherwise: tools allowed by name, suggestions of the agent's own that
        were taken."""
        self._updates = updates
        self._bounds = list(bounds)
        """What no rule, no mode and nobody can allow: it would lead out of a sandbox."""

    def grant(self, rules: Iterable[Rule]) -> None:
        """What these allow is allowed from now on, unless a rule of a file says otherwise."""
        self._granted += rules

    def decide(self, request: PermissionRequest) -> Decision:
        """The effect on a call. Whether somebody is there to be asked is another question."""
        if (bound := rulebook.first(self._bounds, request, "sandbox")) is not None:
            return Decision("deny", bound.rule.name, f"Denied: outside of the sandbox ({bound.rule.name}).")
        if self.mode == "plan" and request.kind not in LOOKING and self._by_mode(request).effect != "allow":
            return self._denied()
        found = self._rules.find(request)
        if found is not None:
            return _decision(found)
        by_mode = self._granted_to(request) or self._by_mode(request)
        if (by_project := self._rules.find_in_project(request)) is None:
            return by_mode
        stricter = _RANK[by_project.effect] > _RANK[by_mode.effect]
        return _decision(by_project) if stricter else by_mode

    def _granted_to(self, request: PermissionRequest) -> Decision | None:
        found = rulebook.first(self._granted, request, "granted")
        return (
            Decision(found.effect, found.rule.name, f"Denied: {found.rule.name}.")
            if found is not None
            else None
        )

    def _by_mode(self, request: PermissionRequest) -> Decision:
        """What the mode makes of a call that no rule is about."""
        mode = f"approve={self.mode}"
        if self.mode == "all":
            return Decision("allow", mode)
        found = self._settled(request)
        if found is not None and (found.effect == "allow" or self.mode not in _DENIED):
            return _decision(found)
        within = request.event.blocked_path is None
        if self.mode == "plan" and found is None and request.kind in LOOKING and within:
            return Decision("allow", mode)
        return self._denied() if self.mode in _DENIED else Decision("ask", mode)

    def _settled(self, request: PermissionRequest) -> Found | None:
        """What the tables of the mode say: first what is asked for in any case, then what passes."""
        known, mode = rulebook.mode_rules(), self.mode
        tables = []
        if mode in ("dangerous", "plan") or request.unasked:
            tables.append(known.looking)
        if mode in ("dangerous", "edits"):
            tables.append(known.editing)
        if not tables or request.event.blocked_path is not None:
            return None
        source = f"approve={mode}"
        return next(
            (
                found
                for rules in (known.careful, *tables)
                if (found := rulebook.first(rules, request, source))
            ),
            None,
        )

    def _denied(self) -> Decision:
        return Decision("deny", f"approve={self.mode}", _DENIED[self.mode])

    def remember(self, request: PermissionRequest, answer: Answer) -> bool:
        """Hold on to an answer that was given for longer than once: `session` or `always` in `remember`. False if that
        cannot be: nobody could say what else it would cover. A suggestion of the agent's own is held here too, since
        every call of an agent that makes some is put before the policy."""
        for update in answer.remember:
            rules, mode = self._updates(update)
            self._granted += rules
            self.mode = mode or self.mode
        if "always" not in answer.remember and "session" not in answer.remember:
            return True
        rule = rule_like(request, effect_of(request, answer))
        if rule is None:
            return False
        if rule.effect == "deny" and answer.message:
            rule.message = answer.message
        self._rules.remember(rule)
        if "always" in answer.remember:
            rulebook.remember_always(rule)
        return True


def _decision(found: Found) -> Decision:
    why = found.rule.message or f"Denied by a rule: {found.title}."
    return Decision(found.effect, found.title, why if found.effect == "deny" else None)


def effect_of(request: PermissionRequest, answer: Answer) -> Effect:
    """What an answer comes to: an option that it names wins over its decision."""
    chosen = next((option for option in request.options if option.id == answer.option), None)
    if chosen is None:
        return answer.decision
    return "allow" if (chosen.kind or chosen.id).startswith("allow") else "deny"


# --- answers that last -------------------------------------------------------------------------------------


def rule_like(request: PermissionRequest, effect: Effect) -> Rule | None:
    """The narrowest rule that says the same of the same call: this command line with its variables and its folder, these
    files, these hosts, else this very input. None if the call names none of them."""
    rule = Rule(
        effect=effect,
        agent=glob.escape(request.agent),
        kind=request.kind,
        tool=glob.escape(request.tool),
        server=glob.escape(request.server) if request.server is not None else [],
    )
    if request.command is not None and request.is_plain_command:
        rule.line, rule.env, rule.cwd = request.command, request.env, request.runs_in
    elif request.command is None and request.placed and not any(map(_odd, request.paths)):
        rule.path = [glob.escape(path) for path in request.paths]
    elif request.command is None and not request.paths and request.known_hosts:
        rule.host = [glob.escape(host) for host in request.known_hosts]
    elif request.input or (request.server is not None and request.event.input == {}):
        rule.input, rule.cwd = exact_input(request), request.runs_in
    else:
        return None
    return rule


def _odd(path: str) -> bool:
    """A word for a place (`secret`) cannot be meant: these are absolute."""
    return not path.startswith("/")


def lasting(request: PermissionRequest) -> str | None:
    """What an answer for longer than once would cover, in words; None where none may be offered."""
    rule = rule_like(request, "allow")
    if rule is None:
        return None
    if rule.line:
        variables = "".join(f" {name}={value}" for name, value in rule.env.items())
        return f"{rule.line}{f' with{variables}' if variables else ''} in {rule.cwd}"
    what = request.tool or request.kind
    if rule.path:
        return f"{what} on {', '.join(request.paths)}"
    if rule.host:
        return f"{what} on {', '.join(request.hosts)}"
    return f"{what} with exactly this input, in {rule.cwd}"
