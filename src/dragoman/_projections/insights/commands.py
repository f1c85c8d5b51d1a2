"""The commands of the Insights model, told apart by the key `command`, as ours.

They come as JSON from a program that shows the view. Two things that they say in the model's own way: the option
that was chosen for an ACP permission is in `updatedInput`, and so are the answers to a question.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._model import commands as c
from dragoman._model.errors import UsageError
from dragoman._projections.insights import content

EFFORT: Final = "effort"
"""The option that set_reasoning_effort sets."""


class Said(Struct, rename="camel"):
    """All that a command can say."""

    command: str
    session_id: str | None = None
    text: str = ""
    content: list[Any] | None = None
    request_id: str | None = None
    allowed: bool | None = None
    message: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[Any] | None = None
    interrupt: bool = False
    model: str | None = None
    mode: str | None = None
    config_id: str | None = None
    value: Any = None
    effort: str | None = None
    reasoning_effort: str | None = None
    cwd: str | None = None
    prompt: str | None = None
    options: dict[str, Any] | None = None


_decoder = msgspec.json.Decoder(Said)


def read_command(line: bytes | str) -> list[c.Command]:
    """What a line asks for: one command, or two for a session that begins with a prompt. Raises UsageError if it is
    no command of the model, or lacks something that it needs."""
    try:
        said = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UsageError(f"this is no command: {error}") from error
    make = _COMMANDS.get(said.command)
    if make is None:
        raise UsageError(f"no command is called {said.command!r}; known are: {', '.join(_COMMANDS)}")
    made = make(said)
    for command in made:
        command.session = said.session_id
    return made


def _send_message(said: Said) -> list[c.Command]:
    return [c.Prompt(text=said.text, blocks=content.native_blocks(said.content))]


def _permission_response(said: Said) -> list[c.Command]:
    request = _needed(said, "request_id")
    given = said.updated_input or None  # an empty one would be the tool's whole new input
    if said.allowed is None:
        raise UsageError("permission_response needs allowed")
    answers = given.get("answers") if given is not None else None
    if said.allowed and isinstance(answers, dict):
        return [c.AnswerQuestion(request=request, answers=answers)]
    option = given.get("optionId") if given is not None else None
    chosen = isinstance(option, str)
    return [
        c.Answer(
            request=request,
            decision="allow" if said.allowed else "deny",
            option=option if chosen else None,
            updated_input=given if said.allowed and not chosen else None,
            message=said.message,
            remember=said.updated_permissions or [],
            interrupt=said.interrupt,
        )
    ]


def _create_session(said: Said) -> list[c.Command]:
    """What the model calls options is for whoever starts the agent: see `SessionConfig`."""
    opened = c.OpenSession(cwd=_needed(said, "cwd"))
    if said.prompt is None and not said.content:
        return [opened]
    return [opened, c.Prompt(text=said.prompt or "", blocks=content.native_blocks(said.content))]


def _set_effort(said: Said) -> list[c.Command]:
    effort = said.effort or said.reasoning_effort or said.value
    if not isinstance(effort, str):
        raise UsageError("set_reasoning_effort needs effort")
    return [c.SetOption(option=EFFORT, value=effort)]


_COMMANDS: Final[dict[str, Callable[[Said], list[c.Command]]]] = {
    "send_message": _send_message,
    "permission_response": _permission_response,
    "interrupt": lambda said: [c.Interrupt()],
    "kill": lambda said: [c.Close()],
    "set_model": lambda said: [c.SetModel(model=_needed(said, "model"))],
    "set_permission_mode": lambda said: [c.SetMode(mode=_needed(said, "mode"))],
    "set_config_option": lambda said: [c.SetOption(option=_needed(said, "config_id"), value=said.value)],
    "set_reasoning_effort": _set_effort,
    "create_session": _create_session,
}


def _needed(said: Said, name: str) -> str:
    value = getattr(said, name)
    if not isinstance(value, str):
        shown = dict(zip(said.__struct_fields__, said.__struct_encode_fields__, strict=True))[name]
        raise UsageError(f"{said.command} needs {shown}")
    return value
