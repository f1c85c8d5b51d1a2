"""What can be answered to a permission request, by key, in words that say what each answer does: the same wherever a person
is asked.

Where an agent words an answer itself, what that answer is stands in front of it in ours: a label may say anything.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, structs

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption
from dragoman._policy.permission import PermissionRequest

EDIT: Final = "e"
"""The key of the answer that needs another input."""
DENIED: Final = "The user denied this."

YES_EDITED: Final = "yes, with another input"
NO: Final = "no"

Lasts = Literal["once", "session", "always"]
"""For how long an answer holds. An agent may take always for less, and nobody says so: it is never less than that."""

_KINDS: Final[Mapping[str, tuple[str, str, Lasts]]] = {
    "allow_once": ("y", "allow once", "once"),
    "allow_always": ("a", "allow always", "always"),
    "reject_once": ("n", "reject once", "once"),
    "reject_always": ("x", "reject always", "always"),
}
"""An option's key, what it is and for how long, by the kind that its agent gives it."""
_NO_KIND: Final[tuple[str, str, Lasts]] = ("o", "the agent does not say what this is", "always")


class Choice(Struct, frozen=True):
    """One thing that can be answered."""

    label: str
    answer: Answer
    lasts: Lasts = "once"
    said: str = ""
    """The agent's own words for it."""

    @property
    def allows(self) -> bool:
        return self.answer.decision == "allow"


def menu(
    request: PermissionRequest, can: Collection[Capability], covered: str | None, rule_file: str
) -> dict[str, Choice]:
    """What can be answered, by key: the agent's own options where it gives any, and what our own policy remembers.
    `covered` is what an answer that lasts would cover (see `policy.lasting`), `rule_file` what the user's own rules are
    called for this reader."""
    answer = Answer(request=request.id)
    yes = structs.replace(answer, decision="allow")
    if request.options:
        found: dict[str, Choice] = {}
        for option in request.options:
            key, choice = _option(option, answer)
            found[_free(key, found)] = choice
        return found | _lasting(yes, covered, rule_file) if "y" in found else found
    found = {"y": Choice("yes, this once", yes)} | _lasting(yes, covered, rule_file)
    suggestions = request.event.suggestions if Capability.REMEMBER in can else []
    for number, suggestion in enumerate(suggestions, 1):
        key = "a" if len(suggestions) == 1 else f"a{number}"
        found[key] = _suggestion(suggestion, yes)
    if Capability.UPDATED_INPUT in can and isinstance(request.event.input, dict):
        found[EDIT] = Choice(YES_EDITED, yes)
    found["n"] = Choice(NO, structs.replace(answer, message=DENIED))
    return found


def chosen(
    choices: Mapping[str, Choice], key: str, *, reason: str = "", input: dict[str, Any] | None = None
) -> Answer | None:
    """The answer that a key stands for; None if it stands for none. A `reason` goes with a no and nothing else, an `input`
    with EDIT, which is no answer without one."""
    choice = choices.get(key)
    if choice is None or (input is not None) != (key == EDIT) or (reason and choice.allows):
        return None
    if input is not None:
        return structs.replace(choice.answer, updated_input=input)
    return structs.replace(choice.answer, message=reason) if reason else choice.answer


def _option(option: PermissionOption, answer: Answer) -> tuple[str, Choice]:
    key, kind, lasts = _KINDS.get(option.kind or "", _NO_KIND)
    decision: Literal["allow", "deny"] = "allow" if (option.kind or "").startswith("allow") else "deny"
    said = option.name or option.id
    same = said.lower().replace("_", " ") == kind
    chosen = structs.replace(answer, option=option.id, decision=decision)
    return key, Choice(kind, chosen, lasts, "" if same else said)


def _lasting(yes: Answer, covered: str | None, rule_file: str) -> dict[str, Choice]:
    """What our own policy holds on to, whatever the agent itself can remember."""
    if covered is None:
        return {}
    session, always = (structs.replace(yes, remember=[word]) for word in ("session", "always"))
    return {
        "s": Choice(f"yes, and do not ask again in this session for: {covered}", session, "session"),
        "r": Choice(f"yes, and make that a rule of mine: {rule_file}", always, "always"),
    }


def _free(key: str, taken: Collection[str]) -> str:
    number = 1
    while (candidate := key if number == 1 else f"{key}{number}") in taken:
        number += 1
    return candidate


# --- what Claude Code would remember itself -----------------------------------------------------------------

_DESTINATIONS: Final[Mapping[str, tuple[str, Lasts]]] = {
    "session": ("for this session", "session"),
    "localSettings": ("always in this project, for you", "always"),
    "projectSettings": ("always in this project, for everybody who works in it", "always"),
    "userSettings": ("always, in all your projects", "always"),
    "cliArg": ("for this session", "session"),
}
_MODES: Final = {
    "default": "ask again for what must be asked (mode default)",
    "acceptEdits": "edit files without asking (mode acceptEdits)",
    "plan": "only look and plan (mode plan)",
    "dontAsk": "deny without asking what is not allowed yet (mode dontAsk)",
    "auto": "let a model decide what is asked (mode auto)",
    "bypassPermissions": "do anything without asking (mode bypassPermissions)",
}
_UPDATES: Final = {
    "addRules": ("from now on {behavior} {what}", "rules"),
    "replaceRules": ("replace all rules that {behavior} by: {what}", "rules"),
    "removeRules": ("take away the rules that {behavior} {what}", "rules"),
    "addDirectories": ("let it work in {what}", "directories"),
    "removeDirectories": ("no longer let it work in {what}", "directories"),
    "setMode": ("{what}", "mode"),
}
"""What a permission update does, and which field of it says to what."""


def _suggestion(suggestion: Any, yes: Answer) -> Choice:
    words, lasts = suggested(suggestion)
    return Choice(f"yes, and {words}", structs.replace(yes, remember=[suggestion]), lasts)


def suggested(suggestion: Any) -> tuple[str, Lasts]:
    """A permission update of Claude Code's in words that say what it allows, and for how long that holds; whatever else it
    is, as it is."""
    if suggestion == "session":
        return "the agent itself does not ask for the like again in this session", "session"
    try:
        return _update(suggestion)
    except (AttributeError, TypeError, KeyError):
        said = json.dumps(suggestion, ensure_ascii=False, default=str)
        return f"the agent itself remembers: {said}", "always"


def _update(update: dict[str, Any]) -> tuple[str, Lasts]:
    """Raises an error for a field or a word that is not known: then nobody knows what it means."""
    does, field = _UPDATES[update["type"]]
    value, behavior = update[field], update.get("behavior", "allow")
    if update.keys() - {"type", "destination", "behavior", field}:
        raise KeyError(field)
    if field == "mode":
        what = _MODES[value]
    elif field == "directories":
        what = " and ".join(value) if isinstance(value, list) else ""
    else:
        what = " and ".join(_rule(**rule) for rule in value)
    if not what:
        raise KeyError(field)
    where, lasts = _DESTINATIONS[update["destination"]]
    return f"{does.format(behavior=behavior, what=what)}, {where}", lasts


def _rule(*, toolName: str, ruleContent: str | None = None) -> str:
    return f"{toolName}({ruleContent})" if ruleContent else f"every use of {toolName}"
