"""The command line: one file per command, imported when it is called."""

import os
import sys
from importlib import import_module
from typing import IO, Any

import click

from dragoman._model.errors import DragomanError
from dragoman._version import __version__

COMMANDS = {
    "run": "Run an agent on a prompt and watch it work.",
    "convert": "Turn an agent's output or session file into events.",
    "replay": "Play a recording as if it happened now.",
    "check": "Say whether what always holds, holds in a file.",
    "schema": "Print the JSON Schema of the canonical events.",
    "doctor": "Say which agents are here, and which versions.",
    "policy": "Say what the rules make of a tool call.",
    "permission-server": "Answer permission requests over MCP, by the rules.",
    "demo": "See it work: no agent, no key, ten seconds.",
}
"""Every command, with the line that says what it does. `a-name` lives in commands/a_name.py as `command`."""

INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


class Failure(click.ClickException):
    """A DragomanError, told in one sentence."""

    def __init__(self, error: DragomanError) -> None:
        super().__init__(" ".join(error.message.split()))
        self.error = error

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return self.error.exit_status

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"dragoman: {self.message}", err=True, file=file)


class Commands(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dragoman._cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DragomanError as error:
            raise Failure(error) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _close_stdout()
            ctx.exit(BROKEN_PIPE)


def _close_stdout() -> None:
    """Nobody reads on: what is still buffered goes nowhere, quietly, also when the interpreter flushes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="dragoman %(version)s")
def cli() -> None:
    """Drive, observe, record and replay coding agents through one event model that loses nothing."""


def main() -> None:
    cli(prog_name="dragoman")
