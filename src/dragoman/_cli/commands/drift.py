"""`dragoman drift`: what agents write that this version does not know, in files or in a run of their own."""

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from dragoman._agents import AGENTS
from dragoman._cli.terminal import drift_report
from dragoman._cli.terminal.inputs import FROM_HELP, given_from
from dragoman._cli.terminal.telling import told as told_aloud
from dragoman._cli.terminal.visible import echo
from dragoman._drift.report import Report, report, together
from dragoman._files.surveys import survey
from dragoman._model.errors import DragomanError, SpawnFailed, UsageError

NOTHING_NEW, NEW, UNREADABLE, NOT_HERE = 0, 1, 2, 3

MOST_SESSIONS: Final = 20
"""So many of an agent's session files are read, the newest."""


@click.command
@click.argument("what", nargs=-1, metavar="[AGENT|FILE]...")
@click.option("--live", is_flag=True, help="Run a short script of turns on the installed agents.")
@click.option(
    "--executable", metavar="PATH", help="With --live: the program, if not the agent's own on PATH."
)
@click.option("--keep", metavar="FOLDER", help="With --live: keep the recordings there, by agent.")
@click.option("--from", "dialect", metavar="DIALECT", callback=given_from, help=FROM_HELP)
@click.option("--agent", metavar="NAME", help="Who speaks, if a FILE does not say.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per FILE or AGENT and line.")
@click.pass_context
def command(ctx: click.Context, /, what: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Say what is new in what agents write: messages of an unknown type, fields that no type names, fields of another
    type, requests that could not be answered; and how the version stands among those that were tested.

    A FILE is anything that `convert` reads. For an AGENT its newest session files are read; without arguments those of
    all agents that are installed. With --live each AGENT plays a script of turns against a scripted model on this
    machine, in a home and a folder of its own and with a dummy key: nothing of yours is seen, touched or paid for.

    Exits 0 if nothing is new, 1 if something is or a capability failed, 2 if a file cannot be read, 3 if an agent is
    not installed or does not start. A version that was not tested is said, and is nothing new by itself.
    """
    _check(what, options)
    names = what or _installed(options["live"])
    if not names:
        raise UsageError("no agent is installed here; name a FILE: dragoman drift FILE")
    ctx.exit(
        max(
            _tell(_live(name, options) if options["live"] else _look(name, options), as_json)
            for name in names
        )
    )


def _check(what: tuple[str, ...], options: dict[str, Any]) -> None:
    if not options["live"]:
        for name in ("executable", "keep"):
            if options[name] is not None:
                raise UsageError(f"--{name} is for --live")
        return
    from dragoman.testing._live_script import KINDS

    for name in what:
        if name not in KINDS:
            raise UsageError(f"{name!r} cannot be given a scripted model; {', '.join(KINDS)} can")
    if options["executable"] is not None and len(what) != 1:
        raise UsageError("--executable is the program of one agent: name that one")


def _installed(live: bool) -> list[str]:
    """The agents that there is something of to look at."""
    if not live:
        return [name for name in AGENTS if _session_files(name)]
    from dragoman.testing._live_script import KINDS

    return [name for name in KINDS if _program(name) is not None]


def _program(name: str) -> str | None:
    """Where the agent itself is, and not what fetches it."""
    agent = AGENTS[name]
    return shutil.which(agent.program if agent.fetched else agent.executable)


def _tell(told: Report, as_json: bool) -> int:
    if as_json:
        click.echo(msgspec.json.encode(told).decode())
    else:
        for line in drift_report.lines(told):
            echo(line, err=told.error is not None)
    if told.error is not None:
        return told.status
    return NEW if told.new or any(trial.error is not None for trial in told.trials) else NOTHING_NEW


# --- what there is already -------------------------------------------------------------------------------------


def _look(name: str, options: dict[str, Any]) -> Report:
    if name in AGENTS and not os.path.isfile(name):
        return _sessions_of(name)
    try:
        found = survey(sys.stdin.buffer if name == "-" else name, options["dialect"], agent=options["agent"])
    except DragomanError as error:
        return Report(source=name, error=error.message, status=UNREADABLE)
    return report(found, name, _tested(found.agent))


def _tested(agent: str) -> tuple[str, ...]:
    return AGENTS[agent].tested_versions if agent in AGENTS else ()


def _sessions_of(name: str) -> Report:
    """What is new in the newest session files of an agent, all of them together."""
    reports = []
    for path in _session_files(name):
        with suppress(DragomanError):  # some other file that is kept beside them
            reports.append(report(survey(path), str(path), _tested(name)))
    if not reports:
        return Report(agent=name, error="there is no session file of it here", status=NOT_HERE)
    return together(reports, name, _tested(name))


def _session_files(name: str) -> list[Path]:
    """Its newest ones, the oldest of them first."""
    folders = AGENTS[name].session_dirs(os.environ)
    files = [path for folder in folders for path in folder.rglob("*.json*") if path.is_file()]
    return sorted(files, key=lambda path: path.stat().st_mtime)[-MOST_SESSIONS:]


# --- what it does when it is run -------------------------------------------------------------------------------


def _live(name: str, options: dict[str, Any]) -> Report:
    from dragoman.testing import _live_script

    executable = options["executable"] or _program(name)
    if executable is None:
        return Report(agent=name, error=f"not installed: {AGENTS[name].install}", status=NOT_HERE)
    with tempfile.TemporaryDirectory(prefix="dragoman-drift-", ignore_cleanup_errors=True) as place:
        kept = Path(options["keep"], name) if options["keep"] is not None else Path(place, "recordings")
        try:
            with told_aloud():
                trials = _live_script.play(name, Path(place), kept, os.path.abspath(executable))
        except SpawnFailed as error:
            return Report(agent=name, error=error.message, status=error.exit_status)
        reports = [report(survey(path), str(path), _tested(name)) for path in sorted(kept.glob("*.jsonl"))]
    told = together(reports, name, _tested(name))
    told.trials = trials
    return told
