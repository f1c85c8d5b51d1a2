"""Permissions and questions, answered at the keyboard."""

import json
import os
import sys
from collections.abc import Collection
from typing import Any

import anyio
import click
from anyio import to_thread
from msgspec import Struct, structs

from dragoman._cli.terminal.console import Pen, clean
from dragoman._cli.terminal.formatting import choices, question_text
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.events import PermissionRequested, QuestionAsked
from dragoman._policy import rulebook

EDIT = "e"
DENIED = "The user denied this."

_OPTION_KEYS = {"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "x"}
_LASTING = {
    "s": ("session", "yes, and do not ask for this again in this session"),
    "r": ("always", "yes, and make it a rule of mine: {file}"),
}
"""What our own policy holds on to, whatever the agent itself can remember."""
_YES = ("y", "yes", "true", "1")
_NO = ("n", "no", "false", "0")


class Choice(Struct, frozen=True):
    """One thing that can be answered."""

    label: str
    answer: Answer


def menu(request: PermissionRequested, can: Collection[Capability]) -> dict[str, Choice]:
    """What can be answered, by key. The agent's own options where it gives any, and what our own policy remembers."""
    answer = Answer(request=request.request_id)
    yes = structs.replace(answer, decision="allow")
    if request.options:
        found: dict[str, Choice] = {}
        for option in request.options:
            kind = option.kind or ""
            key = _free(_OPTION_KEYS.get(kind, "o"), found)
            decision = "allow" if kind.startswith("allow") else "deny"
            picked = structs.replace(answer, option=option.id, decision=decision)
            found[key] = Choice(option.name or kind or option.id, picked)
        allowed = any(choice.answer.decision == "allow" for choice in found.values())
        return found | _lasting(yes) if allowed else found
    found = {"y": Choice("yes, this once", yes)} | _lasting(yes)
    if Capability.REMEMBER in can:
        for number, suggestion in enumerate(request.suggestions, 1):
            key = "a" if len(request.suggestions) == 1 else f"a{number}"
            picked = structs.replace(yes, remember=[suggestion])
            found[key] = Choice(f"yes, and {_suggestion_text(suggestion)}", picked)
    if Capability.UPDATED_INPUT in can and isinstance(request.input, dict):
        found[EDIT] = Choice("yes, with another input (opens your editor)", yes)
    found["n"] = Choice(
        "no (a reason may follow: n use the other file)", structs.replace(answer, message=DENIED)
    )
    return found


def _lasting(yes: Answer) -> dict[str, Choice]:
    return {
        key: Choice(label.format(file=rulebook.user_file()), structs.replace(yes, remember=[word]))
        for key, (word, label) in _LASTING.items()
    }


def _free(key: str, taken: Collection[str]) -> str:
    number = 1
    while (candidate := key if number == 1 else f"{key}{number}") in taken:
        number += 1
    return candidate


def _suggestion_text(suggestion: Any) -> str:
    """Claude's permission updates, in words; anything else as it is."""
    if not isinstance(suggestion, dict):
        return json.dumps(suggestion)
    where = suggestion.get("destination")
    scope = {"session": "for this session", "localSettings": "always in this project"}.get(
        where if isinstance(where, str) else "", f"in {where}" if where else "from now on"
    )
    if suggestion.get("type") == "setMode":
        return f"switch to mode {suggestion.get('mode')} {scope}"
    if suggestion.get("type") == "addDirectories":
        return f"allow {', '.join(map(str, suggestion.get('directories') or []))} {scope}"
    rules = suggestion.get("rules")
    if suggestion.get("type") == "addRules" and isinstance(rules, list):
        named = ", ".join(_rule(rule) for rule in rules if isinstance(rule, dict))
        return f"{suggestion.get('behavior', 'allow')} {named} {scope}"
    return json.dumps(suggestion)


def _rule(rule: dict[str, Any]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content else str(rule.get("toolName"))


def chosen_answer(line: str, choices: dict[str, Choice]) -> Answer | None:
    """The answer that a line picks; None if it picks none. What follows a no is its reason."""
    key, _, reason = line.strip().partition(" ")
    choice = choices.get(key.lower())
    if choice is None:
        return None
    if choice.answer.decision == "deny" and reason.strip():
        return structs.replace(choice.answer, message=reason.strip())
    return choice.answer if not reason.strip() else None


class Keyboard:
    """Asks on the terminal and reads what is typed."""

    def __init__(self, pen: Pen) -> None:
        self.capabilities: Collection[Capability] = ()
        """What the agent can do."""
        self._pen = pen

    def _begin(self) -> None:
        self._pen.still()
        _forget_typed()

    # --- permissions -------------------------------------------------------------------------------------

    async def permission(self, request: PermissionRequested) -> Answer:
        """The answer that was typed."""
        self._begin()
        choices = menu(request, self.capabilities)
        for key, choice in choices.items():
            self._pen.line(("  " + key.ljust(3), "bold yellow"), clean(choice.label))
        while True:
            line = await self._line(f"  {'/'.join(choices)}? ")
            if line is None:
                return Answer(request=request.request_id, message=DENIED)
            if line.strip().lower() == EDIT and EDIT in choices:
                edited = await self._edited_input(request.input)
                if edited is not None:
                    return structs.replace(choices[EDIT].answer, updated_input=edited)
            elif (answer := chosen_answer(line, choices)) is not None:
                return answer

    async def _edited_input(self, input: Any) -> dict[str, Any] | None:
        before = json.dumps(input, indent=2, ensure_ascii=False)
        try:
            after = await to_thread.run_sync(lambda: click.edit(before, extension=".json"))
            value = json.loads(after) if after is not None else None
        except (click.ClickException, ValueError) as error:
            self._pen.line((f"  not taken: {error}", "red"))
            return None
        if isinstance(value, dict):
            return value
        self._pen.line(("  nothing was changed" if value is None else "  not taken: no JSON object", "dim"))
        return None

    # --- questions ---------------------------------------------------------------------------------------

    async def question(self, request: QuestionAsked) -> AnswerQuestion:
        """The answers that were typed."""
        self._begin()
        answer = AnswerQuestion(request=request.request_id)
        answers: dict[str, Any] = {}
        if request.mode == "url":
            self._pen.line(("  Open the address, then press Enter; Ctrl-D declines.", "dim"))
            return answer if await self._line("  ") is not None else _declined(answer)
        for item in request.questions:
            if len(request.questions) > 1:
                self._pen.line((f"  {clean(question_text(item))}", "bold"))
            line = await self._pick(item)
            if line is None:
                return _declined(answer)
            answers[_key(item)] = line
        for name, field in _fields(request.schema):
            value = await self._field(name, field, name in (request.schema.get("required") or []))
            if value is _DECLINED:
                return _declined(answer)
            if value is not None:
                answers[name] = value
        return structs.replace(answer, answers=answers)

    async def _pick(self, item: Any) -> str | None:
        """One of the labels by number, or any other text."""
        labels = choices(item)
        for number, label in enumerate(labels, 1):
            self._pen.line((f"  {number}  ", "bold yellow"), clean(label))
        while True:
            line = await self._line("  your answer (Ctrl-D declines): ")
            if line is None or (line.strip() and not labels):
                return line.strip() if line is not None else None
            if picked := picks(line, labels):
                return picked

    async def _field(self, name: str, field: dict[str, Any], required: bool) -> Any:
        about = field.get("description") or field.get("title") or name
        values = field.get("enum")
        hint = f" [{'/'.join(map(str, values))}]" if isinstance(values, list) else ""
        while True:
            line = await self._line(f"  {clean(str(about))}{clean(hint)}: ")
            if line is None:
                return _DECLINED
            if not line.strip():
                if "default" in field or not required:
                    return field.get("default")
                continue
            try:
                return typed_value(line.strip(), field)
            except ValueError as error:
                self._pen.line((f"  {error}", "red"))

    # ---------------------------------------------------------------------------------------------------

    async def _line(self, prompt: str) -> str | None:
        """A line as typed; None at the end of input (Ctrl-D)."""
        self._pen.stream(prompt, "yellow")
        await anyio.wait_readable(sys.stdin.fileno())
        typed = os.read(sys.stdin.fileno(), 1 << 16)  # the terminal gives whole lines
        self._pen.on_typed(bool(typed))
        return typed.decode("utf-8", "replace") if typed else None


_DECLINED = object()


def _declined(answer: AnswerQuestion) -> AnswerQuestion:
    return structs.replace(answer, action="declined", answers={})


def _forget_typed() -> None:
    """What was typed before the question was seen is no answer to it."""
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _key(item: Any) -> str:
    """Under what an answer goes: the question's id where it has one, else its text."""
    return str(item.get("id") or item.get("question") or item) if isinstance(item, dict) else str(item)


def _fields(schema: Any) -> list[tuple[str, dict[str, Any]]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return []
    return [(name, field if isinstance(field, dict) else {}) for name, field in properties.items()]


def picks(line: str, labels: list[str]) -> str | None:
    """The labels that numbers pick ("1" or "1, 3"); the text itself if it is no number; None if there is no
    such number."""
    parts = line.replace(",", " ").split()
    if not parts or not all(part.isdigit() for part in parts):
        return line.strip() or None
    numbers = [int(part) for part in parts]
    if not all(1 <= number <= len(labels) for number in numbers):
        return None
    return ", ".join(labels[number - 1] for number in numbers)


def typed_value(text: str, field: dict[str, Any]) -> Any:
    """`text` as the type that a form's field wants. Raises ValueError, with a sentence, if it is none."""
    values, kind = field.get("enum"), field.get("type")
    if isinstance(values, list) and text not in map(str, values):
        raise ValueError(f"one of: {', '.join(map(str, values))}")
    if kind == "boolean":
        if text.lower() not in (*_YES, *_NO):
            raise ValueError("yes or no")
        return text.lower() in _YES
    if kind in ("integer", "number"):
        try:
            return int(text) if kind == "integer" else float(text)
        except ValueError:
            raise ValueError(f"a{'n integer' if kind == 'integer' else ' number'}, please") from None
    return text
