"""`dragoman doctor`: which agents are here, in which version, and where their sessions are."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from msgspec import Struct

from dragoman._agents import AGENTS
from dragoman._agents.agent import Agent
from dragoman._cli.terminal.formatting import plural, short_path
from dragoman._model.versions import IN_WORDS, Standing, standing

TIMEOUT: Final = 20.0
"""Seconds. Agents on Node take a while to start on a busy machine."""

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.-]+)?")


class Finding(Struct, omit_defaults=True):
    """What was found out about one agent."""

    agent: str
    title: str
    status: str
    """ok, not installed, untested version, does not start, or fetched when run."""
    executable: str | None = None
    version: str | None = None
    tested_versions: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    session_dirs: list[str] = []
    sessions: int = 0
    """Session files in there."""
    install: str = ""
    error: str | None = None
    standing: Standing | None = None
    """Where its version stands among the tested ones: tested, older, between or newer; absent if none was tested."""


@click.command
@click.option("--json", "as_json", is_flag=True, help="One JSON object per agent and line.")
def command(as_json: bool) -> None:
    """Look for every agent this version knows: where it is, which version, and whether that one was tested.

    Each is asked for its version in a clean environment; nothing else is started.
    """
    for name in AGENTS:
        finding = examine(AGENTS[name])
        if as_json:
            click.echo(msgspec.json.encode(finding).decode())
        else:
            _show(finding)


def examine(agent: Agent) -> Finding:
    own = shutil.which(agent.program) if agent.program else None
    found = own or shutil.which(agent.executable)
    folders = [folder for folder in agent.session_dirs(os.environ) if folder.is_dir()]
    finding = Finding(
        agent=agent.name,
        title=agent.title,
        status="not installed",
        executable=found,
        tested_versions=agent.tested_versions,
        dialects=agent.dialects,
        session_dirs=[str(folder) for folder in folders],
        sessions=sum(_files(folder) for folder in folders),
        install=agent.install,
    )
    if found is not None and agent.fetched and own is None:
        finding.status, finding.executable = "fetched when run", None  # what was found only fetches it
    elif found is not None:
        finding.version, finding.error = _version(found, agent.version_args)
        finding.standing = standing(finding.version or "", agent.tested_versions)
        tested = finding.standing == "tested"
        finding.status = "does not start" if finding.error else ("ok" if tested else "untested version")
    return finding


def _files(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*.json*") if path.is_file())


def _version(executable: str, args: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The version that a program says, or why it does not. It gets a home of its own: asking must not change
    anything, and some agents look for updates or log in when they find their settings."""
    with tempfile.TemporaryDirectory(prefix="dragoman-doctor-") as home:
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        try:
            done = subprocess.run(
                [executable, *args],
                cwd=home,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"it said nothing for {TIMEOUT:g} s"
        except OSError as error:
            return None, error.strerror or str(error)
    said = done.stdout.decode("utf-8", "replace")
    version = _VERSION.search(said)
    if done.returncode == 0 and version is not None:
        return version[0], None
    complaint = (done.stderr.decode("utf-8", "replace").strip() or said.strip()).splitlines()
    return None, complaint[-1] if complaint else f"exit {done.returncode}"


_STYLES: Final = {
    "ok": ("✓", "green"),
    "untested version": ("!", "yellow"),
    "not installed": ("·", "dim"),
    "fetched when run": ("·", "dim"),
}


def _show(finding: Finding) -> None:
    from dragoman._cli.terminal.console import Pen, console

    pen = Pen(console())
    mark, style = _STYLES.get(finding.status, ("✗", "red"))
    version = f" {finding.version}" if finding.version else ""
    pen.line(
        (f"{mark} ", style),
        (f"{finding.agent}", "bold"),
        f"  {finding.title}{version}  ",
        (_status(finding), style),
    )
    facts: dict[str, Any] = {
        "at": finding.executable and short_path(finding.executable),
        "why": finding.error,
        "tested": ", ".join(finding.tested_versions) or "no version of it",
        "speaks": ", ".join(finding.dialects),
        "sessions": _sessions(finding),
        "install": finding.install if finding.executable is None else "",
    }
    for name, fact in facts.items():
        if fact:
            pen.line((f"    {name:9}", "dim"), str(fact))


def _status(finding: Finding) -> str:
    """The status, and where an untested version stands."""
    if finding.status != "untested version" or finding.standing is None:
        return finding.status
    return f"{finding.status}, {IN_WORDS[finding.standing]}"


def _sessions(finding: Finding) -> str:
    if not finding.session_dirs:
        return ""
    return f"{plural(finding.sessions, 'file')} in {', '.join(map(short_path, finding.session_dirs))}"
