"""`dragoman convert`: files that tell of runs, as canonical events, as a published view of them, or back as the agent's
own bytes."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from dragoman._cli.terminal.inputs import FROM_HELP, events_in, given_from
from dragoman._cli.terminal.view_options import WITH_LINES, extended_option, profile_option, view_lines
from dragoman._cli.terminal.visible import echo
from dragoman._files.convert import native_lines
from dragoman._model.errors import UsageError
from dragoman._model.events import Event
from dragoman._projections.published import VIEWS, Profile
from dragoman._wire.event_json import encode

STORED = (".jsonl", ".json")
"""How the files in a folder end that are taken for an agent's."""


class Shown(Struct, frozen=True):
    """What is written of a run."""

    view: str
    profile: Profile
    extended: bool

    def lines(self, events: Iterable[Event]) -> Iterator[bytes]:
        if self.view in VIEWS:
            return view_lines(events, self.view, profile=self.profile, extended=self.extended)
        return map(_line, events) if self.view == "events" else native_lines(events)


def _line(event: Event) -> bytes:
    return encode(event) + b"\n"


@click.command
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.option("--agent", metavar="NAME", help="Who speaks, if FILE does not say.")
@click.option(
    "--view",
    type=click.Choice(("events", *VIEWS, "native")),
    default="events",
    help=(
        "events: canonical JSONL (the default). agent-event, insights, untether: the models that other programs "
        "speak. native: the agent's exact bytes, from a stream made with --native."
    ),
)
@profile_option
@extended_option
@click.option("--native", is_flag=True, help="Keep the agent's exact lines in the events.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Keep keys and tokens out. So it is, unless the agent's exact lines are asked for.",
)
@click.option("--exit", "exit", type=int, metavar="CODE", help="How the process ended, if FILE does not say.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Convert each FILE, and all in it if it is a folder, to files of their own in FOLDER. None is overwritten.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes for --into; one per core if not given."
)
def command(
    files: tuple[str, ...],
    dialect: str | None,
    agent: str | None,
    view: str,
    profile: Profile | None,
    extended: bool,
    native: bool,
    redact: bool | None,
    exit: int | None,
    into: Path | None,
    jobs: int | None,
) -> None:
    """Turn FILE into canonical events, or a view of them, one JSON object per line.

    FILE is an agent's stdout (JSONL), a recording, a session file, a canonical stream, or what --view agent-event
    or --view insights wrote; "-" is stdin. Events are written as soon as their line has been read. With --into many
    files are converted at a time, each for itself; one that cannot be read is told of, and the status is then 1. Empty
    ones, which agents leave behind, are counted and left out.
    """
    redact = redact if redact is not None else not (native or view == "native")
    native = native or view == "native" or view in WITH_LINES
    options = {"agent": agent, "native": native, "redact": redact}
    shown = Shown(view, profile or "seed", extended)
    if into is not None:
        if exit is not None:
            raise UsageError("--exit is of one FILE, and --into converts many")
        sys.exit(_all(files, into, jobs, shown, {**options, "dialect": dialect}))
    if len(files) > 1 or jobs is not None:
        raise UsageError("more than one FILE, and --jobs, are for --into FOLDER")
    out = sys.stdout.buffer
    with events_in(files[0], dialect, before_waiting=out.flush, exit=exit, **options) as events:
        for chunk in shown.lines(events):
            out.write(chunk)
    out.flush()


# --- many files ------------------------------------------------------------------------------------------------


def _all(given: tuple[str, ...], into: Path, jobs: int | None, shown: Shown, options: dict[str, Any]) -> int:
    """Convert them, and say which could not be."""
    from dragoman._files.archives import convert_files

    paths = [path for name in given for path in _files_in(Path(os.path.abspath(name)))]
    if not paths:
        raise UsageError("there is no file to convert")
    root = Path(os.path.commonpath([path.parent for path in paths]))
    written = failed = empty = 0
    for came in convert_files(paths, Writer(shown, root, into), jobs=jobs, **options):
        if came.error is None:
            written += 1
        elif came.empty:
            empty += 1
        else:
            failed += 1
            named = str(came.path) in came.error
            echo(came.error if named else f"{came.path}: {came.error}", err=True)
    echo(f"{written} converted, {failed} not" + (f", {empty} empty" if empty else ""), err=True)
    return 1 if failed else 0


def _files_in(path: Path) -> list[Path]:
    """The file itself; of a folder, all that may be an agent's."""
    if not path.is_dir():
        return [path]
    return sorted(item for item in path.rglob("*") if item.suffix in STORED and item.is_file())


class Writer(Struct, frozen=True):
    """Writes what a file tells of to one of the same name in the folder `into`, at the same place below `root`."""

    shown: Shown
    root: Path
    into: Path

    def __call__(self, path: Path, events: Iterator[Event]) -> None:
        """Raises OSError if it cannot be written, or is there. What is half written is not left."""
        place = self.into / path.relative_to(self.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            try:
                file.writelines(self.shown.lines(events))
            except BaseException:
                place.unlink()
                raise
