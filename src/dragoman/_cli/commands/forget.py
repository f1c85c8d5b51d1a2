"""`dragoman forget`: a session leaves the library, for good."""

import click

from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.visible import echo, visible
from dragoman._library.sessions import SHORT


@click.command
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Let it come back with the next sync, if its agent still has it.")
@library_option
def command(ids: tuple[str, ...], yes: bool, undo: bool, library: str | None) -> None:
    """Take the sessions whose ids begin with ID out of the library, with those of their subagents: every byte, row and word.

    They do not come back with the next sync. What their agents keep is not touched: `delete` is for that.
    """
    with opened_library(library, fresh=False) as kept:
        if undo:
            for id in ids:
                known = kept.remember(id)
                echo(f"{id} {'comes back with the next sync' if known else 'was not forgotten'}")
            return
        sessions = [kept.session(id) for id in ids]
        for session in sessions:
            about = visible(" ".join((session.name or session.title or session.prompt or "").split())[:60])
            if not yes:
                click.confirm(
                    f"Forget {session.id[:SHORT]} of {session.agent} ({about}) for good?", abort=True
                )
        for session in sessions:
            gone = kept.forget(session)
            echo(f"forgotten: {session.id} ({plural(len(gone.files), 'file')})")
            if gone.shared:
                echo(f"  {plural(len(gone.shared), 'file')} kept: other sessions are in the same ones")
        kept.compact()
