"""`dragoman check`: whether what always holds, holds in a file."""

import click

from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.inputs import FROM_HELP, events_in, given_from
from dragoman._cli.terminal.visible import echo
from dragoman._contract.invariants import Invariants
from dragoman._files.sources import EmptySource
from dragoman._model.errors import DragomanError
from dragoman._model.events import NativeInvalid, NativeUnknown

HOLDS, BROKEN, UNREADABLE = 0, 1, 2


@click.command
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], dialect: str | None) -> None:
    """Convert each FILE and report every rule of the event model that it breaks.

    Exits 0 if all hold, 1 if one is broken, 2 if a file cannot be read, or is empty and the only one; among others an
    empty one, which agents leave behind, breaks nothing. How a turn ended does not matter here, nor
    whether every line was understood: that is said, and `dragoman drift` says more.
    """
    ctx.exit(max(_check(file, dialect, alone=len(files) == 1) for file in files))


def _check(file: str, dialect: str | None, *, alone: bool) -> int:
    rules = Invariants()
    count, odd, broken = 0, 0, []
    try:
        with events_in(file, dialect) as events:
            for event in events:
                count += 1
                odd += isinstance(event, NativeUnknown | NativeInvalid)
                broken += rules.feed(event)
    except DragomanError as error:
        if isinstance(error, EmptySource) and not alone:
            echo(f"{file}: empty")
            return HOLDS
        echo(f"dragoman: {error.message}", err=True)
        return UNREADABLE
    broken += rules.end()
    echo(f"{file}: {'broken' if broken else 'holds'} ({plural(count, 'event')})")
    for what in broken:
        echo(f"  {what}")
    if odd:
        echo(
            f"  but {plural(odd, 'line')} {'was' if odd == 1 else 'were'} not understood: dragoman drift {file}"
        )
    return BROKEN if broken else HOLDS
