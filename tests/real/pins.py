"""The agent programs that the real tests drive: which versions (agents.json), what an older one does otherwise
(differences.toml), and where they are installed; and a Python package to talk with."""

import json
import os
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dragoman._agents.versions import is_older

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
CACHE = CHECKOUT / ".cache"

LIBRARY = "agent-client-protocol==0.12.1"
"""An independent implementation of ACP, both sides of it."""
LIBRARY_FOLDER = CACHE / "peers" / LIBRARY.replace("==", "-")

VERSIONS = "DRAGOMAN_VERSIONS"
"""The environment variable that names versions: `claude=2.1.300 codex=0.150.0`. Then only the tests of these agents
run, on these versions; without it, the tests of all agents, on the newest version of each."""


class Pin(NamedTuple):
    agent: str
    version: str
    package: str
    command: str

    @property
    def directory(self) -> Path:
        return CACHE / "agents" / str(self)

    @property
    def executable(self) -> Path:
        return self.directory / "node_modules" / ".bin" / self.command

    def __str__(self) -> str:
        return f"{self.agent}-{self.version}"


class Difference(NamedTuple):
    """In which versions an agent does otherwise than in its newest one, and what was seen there. Versions that nobody
    has tried in between are taken to be like the older one."""

    seen: str
    before: str
    since: str = "0"

    def holds_in(self, version: str) -> bool:
        return is_older(version, self.before) and not is_older(version, self.since)


def spread() -> dict[str, list[Pin]]:
    """All pinned versions by agent, of each the oldest first: the newest, one of a month and one of half a year ago."""
    return {
        agent: [Pin(agent, version, record["package"], record["command"]) for version in record["versions"]]
        for agent, record in _records().items()
    }


def pins(*agents: str) -> list[Pin]:
    """Those that the tests of these agents, or of all, run on: the versions that were named, else the newest."""
    pinned, named = spread(), named_versions()
    if strangers := (named.keys() | set(agents)) - pinned.keys():
        raise LookupError(f"not in agents.json: {', '.join(sorted(strangers))}")
    return [
        newest._replace(version=version)
        for agent, (*_, newest) in pinned.items()
        if not agents or agent in agents
        for version in named.get(agent, [newest.version])
    ]


def named_versions() -> dict[str, list[str]]:
    """The versions by agent that the environment names."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in os.environ.get(VERSIONS, "").replace(",", " ").split():
        agent, _, version = word.partition("=")
        if not version:
            raise ValueError(f"{VERSIONS} has words such as claude=2.1.300, not {word!r}")
        found[agent].append(version)
    return dict(found)


def differences(agent: str) -> dict[str, Difference]:
    """What versions of an agent do otherwise than its newest one, by name."""
    written = tomllib.loads(HERE.joinpath("differences.toml").read_text("utf-8"))
    return {name: Difference(**fields) for name, fields in written.get(agent, {}).items()}


@cache
def _records() -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = json.loads(HERE.joinpath("agents.json").read_text("utf-8"))
    return records
