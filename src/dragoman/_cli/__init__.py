"""The command line: one file per command, imported when it is called."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import IO, Any

import click

from dragoman._cli.terminal.streams import let_go
from dragoman._cli.terminal.visible import visible
from dragoman._model.errors import DragomanError
from dragoman._version import __version__

COMMANDS = {
    "run": "Run an agent on a prompt and watch it work.",
    "ls": "List the sessions that agents keep.",
    "show": "Show a session of the library.",
    "sync": "Bring what agents keep into the library.",
    "search": "Find where something was said, in all sessions.",
    "usage": "Count what model calls took, and what they cost.",
    "web": "Watch, approve, steer and look back, in a browser.",
    "export": "Write a session as HTML, Markdown or JSONL.",
    "restore": "Write the files of a session again.",
    "forget": "Take a session out of the library, for good.",
    "library": "Say what the library is, and what it leaves out.",
    "archive": "Put a session of an agent away, or back.",
    "delete": "Delete a session of an agent.",
    "rename": "Give a session of an agent a title.",
    "convert": "Turn an agent's output or session file into events.",
    "replay": "Play a recording as if it happened now.",
    "check": "Say whether what always holds, holds in a file.",
    "drift": "Say what agents write that this version does not know.",
    "schema": "Print the JSON Schema of the canonical events.",
    "agents": "List the agents, and what is known of each.",
    "doctor": "Say which agents are here, and which versions.",
    "config": "Say what is set, and where that comes from.",
    "policy": "Say what the rules make of a tool call.",
    "trust": "Let a project's own hooks, servers and settings take part.",
    "permission-server": "Answer permission requests over MCP, by the rules.",
    "permission-hook": "Judge a tool call as a hook of Claude Code, by the rules.",
    "demo": "See it work: no agent, no key, ten seconds.",
}
"""Every command, with the line that says what it does. `a-name` lives in commands/a_name.py as `command`."""

WRONG_USAGE = 2
NO_OUTPUT = 74
"""What was to be written could not be: the disk is full, or stdout is closed. EX_IOERR of sysexits.h."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""

_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class Failure(click.ClickException):
    """What went wrong, told in one sentence."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(" ".join(message.split()))
        self.status = status

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return self.status

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"dragoman: {self.message}", err=True, file=file)


class Commands(click.Group):
    """A group that imports a command only when it is called, and ends with one sentence whatever goes wrong."""

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
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except DragomanError as error:
            raise Failure(error.message, error.exit_status) from error
        except OSError as error:
            raise _failure(error) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """As click's, but that errors are told by `_complain`, and that those of a stream are errors like others."""
        try:
            try:
                status = super().main(args, prog_name, **(extra | {"standalone_mode": False}))
            except OSError as error:  # of what click itself writes: the help, the version
                raise _failure(error) from error
        except click.ClickException as error:
            _complain(error)
            status = error.exit_code
        except click.Abort:
            status = INTERRUPTED
        sys.exit(status if isinstance(status, int) else 0)


def _failure(error: OSError) -> Failure:
    """What an error of the system's means that no command has an answer to."""
    if isinstance(error, BrokenPipeError):
        let_go(sys.stdout)
        return Failure("", BROKEN_PIPE)
    why = error.strerror or str(error)
    if error.filename is not None:
        return Failure(f"{error.filename}: {why}", 1)
    if error.errno in _OUTPUT_ERRORS:
        let_go(sys.stdout)
        return Failure(f"the output cannot be written: {why}", NO_OUTPUT)
    try:
        os.getcwd()
    except OSError:
        return Failure("the working directory is gone; go to one that is there", WRONG_USAGE)
    return Failure(why, 1)


def _complain(error: click.ClickException) -> None:
    """Say it on stderr; file names, and what stands in files, may hold anything. If that fails too, the status says
    it."""
    if error.exit_code == BROKEN_PIPE:
        return
    error.message = visible(error.message)  # type: ignore[misc]
    try:
        error.show()
    except OSError:
        let_go(sys.stderr)


def _open_standard_streams() -> None:
    """Streams that the caller has closed are opened on nothing, so that no file of ours takes their place and is read
    or written as one of them. Raises Failure if there is nowhere to write to."""
    closed = [name for name in _STREAMS if getattr(sys, name) is None]
    for number, (name, mode) in enumerate(_STREAMS.items()):
        if name in closed:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if "stdout" in closed:
        raise Failure("standard output is closed", NO_OUTPUT)
    if isinstance(sys.stdout, io.TextIOWrapper):  # what it has no letter for is an escape, not a traceback
        sys.stdout.reconfigure(errors="backslashreplace")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="dragoman %(version)s")
@click.option("--no-color", "--no-colour", "plain", is_flag=True, help="No colours.")
@click.option("--verbose", is_flag=True, help="Log to stderr what is done.")
@click.option("--debug", is_flag=True, help="Log to stderr all that is known of it.")
@click.pass_context
def cli(ctx: click.Context, plain: bool, verbose: bool, debug: bool) -> None:
    """Drive, observe, record and replay coding agents through one event model that loses nothing."""
    if plain:
        from dragoman._cli.terminal.chosen import choose

        choose(ctx, "colours", "never", "--no-color")
    if verbose or debug:
        from dragoman._cli.terminal.telling import logged

        ctx.with_resource(logged("DEBUG" if debug else "INFO"))


def main() -> None:
    try:
        _open_standard_streams()
    except Failure as failure:
        _complain(failure)
        sys.exit(failure.exit_code)
    cli(prog_name="dragoman")
