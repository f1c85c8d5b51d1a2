"""`dragoman sync`: what agents keep comes into the library."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.visible import echo
from dragoman._library.syncing import Synced

SHOWN = 5
"""Problems that are told one by one."""


@click.command
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False), metavar="[FOLDER]...")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; as many as there are cores."
)
@click.option("--rebuild", is_flag=True, help="Read everything anew from the archive.")
@click.option("--watch", is_flag=True, help="Go on, and say what comes in, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@library_option
def command(
    folders: tuple[str, ...],
    jobs: int | None,
    rebuild: bool,
    watch: bool,
    as_json: bool,
    library: str | None,
) -> None:
    """Bring into the library what agents have written: the stores of all of them, or the session files and recordings below
    each FOLDER.

    Files are only read where they are. Their bytes are copied, so that a session is still there when its agent has
    deleted it.
    """
    with opened_library(library, fresh=False) as kept:
        if rebuild:
            kept.rebuild(_progress)
        came = kept.sync(map(Path, folders), jobs=jobs, progress=_progress)
        _tell(came, as_json)
        if watch:
            for came in kept.watch(map(Path, folders)):
                _tell(came, as_json)
                sys.stdout.flush()


def _tell(came: Synced, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(came))
        return
    echo(f"{plural(came.read, 'session file')} read, {came.looked_at - came.read:,} as they were")
    if came.gone:
        echo(f"{plural(came.gone, 'file')} deleted by the agents: kept here")
    for path, why in came.problems[:SHOWN]:
        telling.tell(f"{path}: {why}")
    if (left := len(came.problems) - SHOWN) > 0:
        telling.tell(f"{left:,} more have problems; --json lists them")


def _progress(done: int, of: int) -> Any:
    if sys.stderr.isatty():
        end = "\r" if done < of else "\r\x1b[K"
        click.echo(f"{done:,} of {of:,} session files{end}", nl=False, err=True)
