"""`dragoman trust`: the folders whose own hooks, MCP servers and settings may take part in a run."""

import os

import click

from dragoman._cli.terminal.visible import visible
from dragoman._model.errors import UsageError
from dragoman._policy import trust


@click.command
@click.argument("folder", default=".", metavar="[PATH]")
@click.option("--list", "listed", is_flag=True, help="Say which folders are trusted.")
@click.option("--remove", is_flag=True, help="Trust PATH no longer.")
def command(folder: str, listed: bool, remove: bool) -> None:
    """Trust the folder PATH (this one, if none is named), and what lies below it.

    Agents run what a project brings (hooks, MCP servers, plugins, settings) as soon as they start in it. Dragoman lets
    them only in folders that you trust; elsewhere they go on without it. The list is kept in a file of your own.
    """
    if listed:
        for known in trust.folders():
            click.echo(visible(known))
    elif remove:
        if not trust.remove(folder):
            raise UsageError(f"{os.path.abspath(folder)} is not in the list (dragoman trust --list)")
        click.echo(f"no longer trusted: {visible(os.path.abspath(folder))}")
    else:
        click.echo(f"trusted: {visible(trust.add(folder))}")
