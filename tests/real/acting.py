"""What agents do, in the words of each: so that one test can be about all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.testing import ToolCall, tool
from tests.real.driving import Pinned


def _patch(path: Path, text: str) -> ToolCall:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return tool("apply_patch", input=f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")


class Acts(NamedTuple):
    """How the model says it."""

    run: Callable[[str], ToolCall]
    write: Callable[[Path, str], ToolCall]
    model: str | None = None
    """Where the agent must be told."""


ACTS = {
    "claude": Acts(
        run=lambda command: tool("Bash", command=command),
        write=lambda path, text: tool("Write", file_path=str(path), content=text),
    ),
    "codex": Acts(run=lambda command: tool("exec_command", cmd=command), write=_patch),
    "gemini": Acts(
        run=lambda command: tool("run_shell_command", command=command),
        write=lambda path, text: tool("write_file", file_path=str(path), content=text),
        model="gemini-2.5-pro",
    ),
}


class Actor:
    """A pinned agent that a test tells what to do, whichever it is."""

    def __init__(self, pinned: Pinned) -> None:
        self.pinned = pinned
        self.name, self.cwd = pinned.agent, pinned.cwd
        self._acts = ACTS[pinned.agent]

    def run(self, command: str) -> ToolCall:
        return self._acts.run(command)

    def write(self, path: str | Path, text: str = "fresh\n") -> ToolCall:
        return self._acts.write(self.cwd / path, text)

    @property
    def fields(self) -> dict[str, Any]:
        """What must be asked for, so that nothing else has to be."""
        return {"model": self._acts.model} if self._acts.model is not None else {}

    @property
    def files(self) -> list[str]:
        """What there is where it works."""
        return sorted(str(path.relative_to(self.cwd)) for path in self.cwd.rglob("*") if path.is_file())
