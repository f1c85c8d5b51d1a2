"""What is piped into `dragoman run`: the prompt itself, or what goes with one.

The agents' own command lines do the same. Beside a prompt Claude Code waits 3 seconds for the first byte, Gemini CLI half a
second and Codex for ever; each of them then reads to the end.
"""

import os
import select
import sys
from typing import Final

import click

from dragoman._agents import AGENTS
from dragoman._cli.terminal import telling

LIMIT: Final = 8 << 20
"""Bytes. Gemini CLI cuts here; half a file looks like a whole one, so more is refused."""
PATIENCE: Final = 3.0
"""Seconds. A job of a CI may have a pipe for stdin that nobody ever writes to."""


def prompt_of(given: str | None, agent: str) -> str:
    """The prompt: as given, with what is piped in beside it, or that alone if `given` is "-", or is none. Raises
    click.UsageError if there is none, or it cannot be read."""
    if given is None and sys.stdin.isatty():
        raise click.UsageError("Missing argument 'PROMPT'. Give one, or pipe it in.")
    alone = given is None or given == "-"
    prompt = _read() if alone else given or ""
    if not prompt.strip():
        raise click.UsageError("The prompt is empty.")
    if alone or agent not in AGENTS or sys.stdin.isatty() or not (beside := _beside()).strip():
        return prompt
    record = AGENTS[agent]
    return AGENTS[record.vendor or agent].join(prompt, beside)


def _beside() -> str:
    """What is piped in beside a prompt; empty where nothing comes."""
    try:
        ready, _, _ = select.select([sys.stdin], [], [], PATIENCE)
    except (OSError, ValueError):  # it has no number, or is nothing that one can wait for
        ready = [sys.stdin]
    if ready:
        return _read()
    telling.tell(
        f"nothing came through stdin in {PATIENCE:g} s: going on without it; to send what a slow command prints, let it "
        "write to a file, and give that with < FILE"
    )
    return ""


def _read() -> str:
    """All of stdin."""
    said = sys.stdin.buffer.read(LIMIT + 1)
    if len(said) > LIMIT:
        raise click.UsageError(
            f"More than {LIMIT >> 20} MB came through stdin. Let the agent read the file itself: name it in the prompt."
        )
    try:
        text = said.decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"What came through stdin is not UTF-8, from byte {error.start} on. Convert it first, as with iconv."
        ) from error
    if text:
        _back_to_terminal()
    return text


def _back_to_terminal() -> None:
    """What was piped in is read: from here on stdin is the terminal that stdout is, so that somebody can be asked."""
    if not sys.stdout.isatty():
        return
    try:
        terminal = os.open(os.ctermid(), os.O_RDWR)
    except OSError:  # none that is ours to read from
        return
    os.dup2(terminal, sys.stdin.fileno())
    os.close(terminal)
