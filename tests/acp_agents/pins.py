"""Which versions of which agents (pins.json), and where they are."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.testing import ToolCall
from tests.real.pins import CACHE

FOLDER = Path(os.environ.get("DRAGOMAN_ACP_AGENTS", CACHE / "acp-agents"))
"""Where they are installed; the variable names another place."""


class Pin(NamedTuple):
    agent: str
    packages: dict[str, str]
    """The first is the agent's own; `node` is there for those that need a newer one than Debian has."""
    command: str
    writes: tuple[str, dict[str, Any]]

    @property
    def version(self) -> str:
        return next(iter(self.packages.values()))

    @property
    def directory(self) -> Path:
        return FOLDER / str(self)

    @property
    def programs(self) -> Path:
        return self.directory / "node_modules" / ".bin"

    @property
    def executable(self) -> Path:
        return self.programs / self.command

    def write(self, path: Path) -> ToolCall:
        """The model writes a file."""
        name, input = self.writes
        return ToolCall(name, {key: str(path) if value == "PATH" else value for key, value in input.items()})

    def __str__(self) -> str:
        return f"{self.agent}-{self.version}"


def pins() -> list[Pin]:
    known = json.loads(Path(__file__).with_name("pins.json").read_text("utf-8"))
    return [Pin(name, row["packages"], row["command"], tuple(row["write"])) for name, row in known.items()]
