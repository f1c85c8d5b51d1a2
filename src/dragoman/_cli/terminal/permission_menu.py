"""What can be answered to a permission request, by key, in words that say what each answer does.

Where an agent words an answer itself, what that answer is stands in front of it in ours: a label may say anything.
"""

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from msgspec import Struct, structs

from dragoman._cli.terminal.formatting import short_path
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption
from dragoman._policy import rulebook
from dragoman._policy.permission import PermissionRequest

EDIT: Final = "e"
DENIED: Final = "The user denied this."

Lasting = Callable[[PermissionRequest], str | None]
"""What an answer that lasts would cover, in words; None where none may be given."""

_KINDS: Final = {
    "allow_once": ("y", "allow once"),
    "allow_always": ("a", "allow always"),
    "reject_once": ("n", "reject once"),
    "reject_always": ("x", "reject always"),
}
"""An option's key and what it is, by the kind that its agent gives it."""
_NO_KIND: Final = ("o", "the agent does not say what this is")


class Choice(Struct, frozen=True):
    """One thing that can be answered."""

    label: str
    answer: Answer
    said: str = ""
    """The agent's own words for it."""


def menu(request: PermissionRequest, can: Collection[Capability], lasting: Lasting) -> dict[str, Choice]:
    """What can be answered, by key. The agent's own options where it gives any, and what our own policy remembers."""
    answer = Answer(request=request.id)
    yes = structs.replace(answer, decision="allow")
    if request.options:
        found: dict[str, Choice] = {}
        for option in request.options:
            key, choice = _option(option, answer)
            found[_free(key, found)] = choice
        return found | _lasting(yes, lasting(request)) if "y" in found else found
    found = {"y": Choice("yes, this once", yes)} | _lasting(yes, lasting(request))
    suggestions = request.event.suggestions if Capability.REMEMBER in can else []
    for number, suggestion in enumerate(suggestions, 1):
        key = "a" if len(suggestions) == 1 else f"a{number}"
        found[key] = Choice(
            f"yes, and {suggestion_text(suggestion)}", structs.replace(yes, remember=[suggestion])
        )
    if Capability.UPDATED_INPUT in can and isinstance(request.event.input, dict):
        found[EDIT] = Choice("yes, with another input (opens your editor)", yes)
    found["n"] = Choice(
        "no (a reason may follow: n use the other file)", structs.replace(answer, message=DENIED)
    )
    return found


def chosen_answer(line: str, choices: dict[str, Choice]) -> Answer | None:
    """The answer that a line picks; None if it picks none. What follows a no is its reason."""
    key, _, reason = line.strip().partition(" ")
    choice = choices.get(key.lower())
    if choice is None:
        return None
    if choice.answer.decision == "deny" and reason.strip():
        return structs.replace(choice.answer, message=reason.strip())
    return choice.answer if not reason.strip() else None


def _option(option: PermissionOption, answer: Answer) -> tuple[str, Choice]:
    key, kind = _KINDS.get(option.kind or "", _NO_KIND)
    decision = "allow" if (option.kind or "").startswith("allow") else "deny"
    said = option.name or option.id
    same = said.lower().replace("_", " ") == kind
    return key, Choice(
        kind, structs.replace(answer, option=option.id, decision=decision), "" if same else said
    )


def _lasting(yes: Answer, covered: str | None) -> dict[str, Choice]:
    """What our own policy holds on to, whatever the agent itself can remember."""
    if covered is None:
        return {}
    session, always = (structs.replace(yes, remember=[word]) for word in ("session", "always"))
    return {
        "s": Choice(f"yes, and do not ask again in this session for: {covered}", session),
        "r": Choice(f"yes, and make that a rule of mine: {short_path(str(rulebook.user_file()))}", always),
    }


def _free(key: str, taken: Collection[str]) -> str:
    number = 1
    while (candidate := key if number == 1 else f"{key}{number}") in taken:
        number += 1
    return candidate


# --- what Claude Code would remember itself -----------------------------------------------------------------

_DESTINATIONS: Final = {
    "session": "for this session",
    "localSettings": "always in this project, for you",
    "projectSettings": "always in this project, for everybody who works in it",
    "userSettings": "always, in all your projects",
    "cliArg": "for this session",
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


def suggestion_text(suggestion: Any) -> str:
    """A permission update of Claude Code's in words that say what it allows; whatever else it is, as it is."""
    if suggestion == "session":
        return "the agent itself does not ask for the like again in this session"
    try:
        return _update_text(suggestion)
    except (AttributeError, TypeError, KeyError):
        return f"the agent itself remembers: {json.dumps(suggestion, ensure_ascii=False, default=str)}"


def _update_text(update: dict[str, Any]) -> str:
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
    return f"{does.format(behavior=behavior, what=what)}, {_DESTINATIONS[update['destination']]}"


def _rule(*, toolName: str, ruleContent: str | None = None) -> str:
    return f"{toolName}({ruleContent})" if ruleContent else f"every use of {toolName}"
