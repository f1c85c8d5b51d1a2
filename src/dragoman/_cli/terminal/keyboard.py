"""Permissions and questions, answered at the keyboard."""

import json
import os
import sys
from collections.abc import Collection
from typing import Any, Final

import anyio
from msgspec import structs

from dragoman._cli.terminal.editor import edited
from dragoman._cli.terminal.formatting import choices, question_text, short_path
from dragoman._cli.terminal.renderer import Renderer
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.events import QuestionAsked
from dragoman._policy import rulebook
from dragoman._policy.choices import DENIED, EDIT, NO, YES_EDITED, Choice, chosen, menu
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import lasting

_BESIDE_KEYS = "   ┆ "
"""In front of what does not fit on a line of the menu, so that it is no line of the menu."""
SETTLE = 1.0
"""Seconds in which nothing is taken for an answer to a question that has replaced another one."""
_SHORT = 30
"""Characters that fit on a line with an answer on any terminal."""
_HOW: Final = {YES_EDITED: " (opens your editor)", NO: " (a reason may follow: n use the other file)"}
"""How an answer is given here, by its label."""
_YES = ("y", "yes", "true", "1")
_NO = ("n", "no", "false", "0")


class Keyboard:
    """Asks on the terminal and reads what is typed."""

    def __init__(self, renderer: Renderer) -> None:
        self.capabilities: Collection[Capability] = ()
        """What the agent can do."""
        self._renderer = renderer
        self._pen = renderer.pen
        self._taken_back = False
        """The last question went away before it was answered: somebody may be about to answer it."""

    def _begin(self) -> None:
        self._pen.still()
        _forget_typed()

    async def _settle(self) -> None:
        """Where a question takes the place of another, what is typed at once was meant for that one."""
        if self._taken_back:
            await anyio.sleep(SETTLE)
            _forget_typed()
            self._taken_back = False

    # --- permissions -------------------------------------------------------------------------------------

    async def permission(self, request: PermissionRequest) -> Answer:
        """The answer that was typed."""
        self._begin()
        self._renderer.ask(request)
        rule_file = short_path(str(rulebook.user_file()))
        choices = menu(request, self.capabilities, lasting(request), rule_file)
        for key, choice in choices.items():
            label = choice.label + _HOW.get(choice.label, "")
            said = f": {choice.said}" if choice.said else ""
            self._pen.whole(label, said, margin=(f"  {key:3}", "bold yellow"), more=_BESIDE_KEYS)
        while True:
            line = await self._line(f"  {'/'.join(choices)}? ")
            if line is None:
                return Answer(request=request.id, message=DENIED)
            if EDIT in choices and line.strip().lower() == EDIT:
                answer = chosen(choices, EDIT, input=await self._edited_input(request.event.input))
            else:
                answer = typed_answer(line, choices)
            if answer is not None:
                return answer

    async def _edited_input(self, input: Any) -> dict[str, Any] | None:
        before = json.dumps(input, indent=2, ensure_ascii=False)
        try:
            after = await edited(before, ".json")
            value = json.loads(after) if after is not None else None
        except (OSError, ValueError, RecursionError) as error:
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
                self._pen.whole((question_text(item), "bold"), margin="  ", more=_BESIDE_KEYS)
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
            self._pen.whole(label, margin=(f"  {number:<3}", "bold yellow"), more=_BESIDE_KEYS)
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
        asked = " ".join(f"{about}{hint}".split())
        if len(asked) > _SHORT:
            self._pen.whole(asked, margin="  ", more=_BESIDE_KEYS)
        while True:
            line = await self._line(f"  {asked if len(asked) <= _SHORT else 'your answer'}: ")
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
        await self._settle()
        self._pen.stream(prompt, "yellow")
        self._taken_back = True
        await anyio.wait_readable(sys.stdin.fileno())
        self._taken_back = False
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


def typed_answer(line: str, choices: dict[str, Choice]) -> Answer | None:
    """The answer that a line picks by its key; None if it picks none. What follows a no is its reason."""
    key, _, reason = line.strip().partition(" ")
    return chosen(choices, key.lower(), reason=reason.strip())


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
