"""`dragoman library`: what is in it, how large it is, and what shall not be in it."""

import os
from typing import Any

import click
import msgspec

from dragoman._agents import AGENTS
from dragoman._cli.terminal.formatting import plural, short_path
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.visible import echo
from dragoman._library.library import Library
from dragoman._library.sessions import SHORT, Filter, counted


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@library_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, library: str | None) -> None:
    """Say where the library is, how large it is, and where it looks for sessions."""
    ctx.obj = library
    if ctx.invoked_subcommand is not None:
        return
    with opened_library(library, fresh=False) as kept:
        facts = _facts(kept)
    if as_json:
        click.echo(msgspec.json.encode(facts))
        return
    echo(f"{short_path(facts['place'])}: {facts['bytes'] / 1e6:,.1f} MB")
    echo(
        f"{plural(facts['sessions'], 'session')} in {plural(facts['files'], 'file')}, {facts['gone']:,} deleted by their agents"
    )
    for folder in facts["folders"]:
        echo(f"looks in {short_path(folder)}")
    for folder in facts["left_out"]:
        echo(f"leaves out {short_path(folder)}")


def _facts(kept: Library) -> dict[str, Any]:
    [(files, gone)] = kept.db.rows(
        "SELECT COUNT(*), SUM(CASE WHEN state = 'gone' THEN 1 ELSE 0 END) FROM file"
    )
    folders = [
        str(folder)
        for agent in AGENTS.values()
        if agent.store is not None
        for folder in agent.session_dirs(os.environ)
        if folder.is_dir()
    ]
    return {
        "place": kept.db.name,
        "bytes": kept.db.size(),
        "sessions": counted(kept.db, Filter(subagents=True)),
        "files": files,
        "gone": gone or 0,
        "folders": folders,
        "left_out": kept.left_out(),
        "forgotten": kept.forgotten(),
    }


@command.command("leave-out")
@click.argument("folder", type=click.Path())
@click.pass_obj
def leave_out(place: str | None, folder: str) -> None:
    """Bring in nothing more that is in FOLDER, or of sessions that worked in it."""
    with opened_library(place, fresh=False) as kept:
        kept.leave_out(folder)
    echo(f"{folder} is left out; `dragoman forget` takes out what is in the library already")


@command.command("take-in")
@click.argument("folder", type=click.Path())
@click.pass_obj
def take_in(place: str | None, folder: str) -> None:
    """Bring in again what is in FOLDER."""
    with opened_library(place, fresh=False) as kept:
        known = kept.take_in(folder)
    echo(f"{folder} {'is taken in again' if known else 'was not left out'}")


@command.command("copy")
@click.argument("to")
@click.pass_obj
def copy(place: str | None, to: str) -> None:
    """Copy the library to another file or database, and derive all the rest there anew."""
    with opened_library(place, fresh=False) as kept, kept.copy(to) as other:
        echo(f"{plural(counted(other.db, Filter(subagents=True)), 'session')} in {other.db.name}")


@command.command("name")
@click.argument("id")
@click.argument("name")
@click.pass_obj
def name(place: str | None, id: str, name: str) -> None:
    """Give a session a name of yours; "" takes it away."""
    with opened_library(place, fresh=False) as kept:
        session = kept.session(id)
        kept.label(session, name=name)
        echo(f"{session.id[:SHORT]} is called {name}" if name else f"{session.id[:SHORT]} has no name")


@command.command("pin")
@click.argument("id")
@click.option("--undo", is_flag=True, help="Not any more.")
@click.pass_obj
def pin(place: str | None, id: str, undo: bool) -> None:
    """Have a session stand first in `ls`."""
    with opened_library(place, fresh=False) as kept:
        session = kept.session(id)
        kept.label(session, pinned=not undo)
        echo(f"{session.id[:SHORT]} is {'not pinned any more' if undo else 'pinned'}")
