"""What stands in a user entry: a person's words, a command, a command's output, or the CLI in their name."""

import re
from typing import Final

INTERRUPTED: Final = "[Request interrupted by user"
"""How the CLI writes that a turn was stopped (captures interrupt_tool, kill_sigint_stream)."""

_NAME: Final = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_SHELL: Final = re.compile(r"\s*<bash-input>(.*)</bash-input>\s*", re.DOTALL)
_OUTPUT: Final = re.compile(r"<((?:local-command|bash)-(?:stdout|stderr))>(.*?)</\1>", re.DOTALL)


def typed(text: str) -> str:
    """What the person typed: commands are stored taken apart (capture slash_various)."""
    if (shell := _SHELL.fullmatch(text)) is not None:
        return f"!{shell[1]}"
    if not text.lstrip().startswith(("<command-name>", "<command-message>")):
        return text
    name, arguments = _NAME.search(text), _ARGUMENTS.search(text)
    if name is None:
        return text
    return f"{name[1]} {arguments[1]}".rstrip() if arguments else name[1]


def output_of(text: str) -> str | None:
    """What a command printed, if that is what `text` is."""
    if not text.lstrip().startswith(("<local-command-std", "<bash-std")):
        return None
    return "\n".join(match[2] for match in _OUTPUT.finditer(text) if match[2])
