"""The agent programs that the real tests drive: which versions (agents.json), and where they are installed; and a
Python package to talk with."""

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = CHECKOUT / ".cache"

LIBRARY = "agent-client-protocol==0.12.1"
"""An independent implementation of ACP, both sides of it."""
LIBRARY_FOLDER = CACHE / "peers" / LIBRARY.replace("==", "-")

INSTEAD = "DRAGOMAN_PINS"
"""The environment variable that names other versions: `claude=2.1.300 codex=0.165.0`. An agent that is named has those
versions and none of its own; the others keep theirs."""


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


def pins(*agents: str) -> list[Pin]:
    """All versions of these agents, of each the oldest first; of all agents, if none is named."""
    known = json.loads(Path(__file__).with_name("agents.json").read_text("utf-8"))
    instead = _versions(os.environ.get(INSTEAD, ""))
    if strangers := (instead.keys() | set(agents)) - known.keys():
        raise LookupError(f"not in agents.json: {', '.join(sorted(strangers))}")
    return [
        Pin(name, version, record["package"], record["command"])
        for name, record in known.items()
        for version in instead.get(name, record["versions"])
        if not agents or name in agents
    ]


def _versions(words: str) -> dict[str, list[str]]:
    """The versions by agent, in words such as `claude=2.1.300`."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in words.replace(",", " ").split():
        name, equals, version = word.partition("=")
        if not equals or not version:
            raise ValueError(f"{INSTEAD} has words such as claude=2.1.300, not {word!r}")
        found[name].append(version)
    return dict(found)


def newest(agent: str) -> Pin:
    """The last of its versions."""
    return pins(agent)[-1]
