"""The agent programs that the real tests drive: which versions (agents.json), and where they are installed; and a
Python package to talk with."""

import json
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = CHECKOUT / ".cache"

LIBRARY = "agent-client-protocol==0.12.1"
"""An independent implementation of ACP, both sides of it."""
LIBRARY_FOLDER = CACHE / "peers" / LIBRARY.replace("==", "-")


class Pin(NamedTuple):
    agent: str
    version: str
    package: str
    command: str

    @property
    def directory(self) -> Path:
        return CACHE / "agents" / f"{self.agent}-{self.version}"

    @property
    def executable(self) -> Path:
        return self.directory / "node_modules" / ".bin" / self.command

    def __str__(self) -> str:
        return f"{self.agent} {self.version}"


def pins() -> list[Pin]:
    agents = json.loads(Path(__file__).with_name("agents.json").read_text("utf-8"))
    return [Pin(name, v, a["package"], a["command"]) for name, a in agents.items() for v in a["versions"]]


def executable(agent: str, version: str) -> Path:
    """Where `python -m tests.real.install` puts this version of the agent."""
    for pin in pins():
        if (pin.agent, pin.version) == (agent, version):
            return pin.executable
    raise LookupError(f"{agent} {version} is not in agents.json")
