"""`dragoman restore`: the files of a session as its agent wrote them."""

from pathlib import Path

import click

from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.visible import echo


@click.command
@click.argument("id")
@click.option(
    "--to", type=click.Path(file_okay=False), metavar="FOLDER", help="There, and not where they were."
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@library_option
def command(id: str, to: str | None, overwrite: bool, library: str | None) -> None:
    """Write the files of the session whose id begins with ID again, byte for byte: where its agent had them, so that it can
    go on with them, or into a folder."""
    with opened_library(library, fresh=False) as kept:
        for path in kept.restore(kept.session(id), Path(to) if to is not None else None, overwrite=overwrite):
            echo(str(path))
