"""Where an agent's lines come from, by specification 004 §9.3 and §9.5."""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Protocol

import anyio

from dragoman._agents.agent import MODEL_KEYS, environment
from dragoman._model.config import SessionConfig
from dragoman._model.errors import SpawnFailed
from dragoman._runtime.process.child import Child, spawn
from dragoman._runtime.process.pipes import pump
from dragoman._runtime.run import PIPE_GRACE
from dragoman._wire.lines import LineSplitter
from dragoman.agent_protocol._background import Background
from dragoman.agent_protocol._errors import AgentError, AgentErrorType, agent_error

STDERR_TAIL = 8192
"""How much of what a program writes to stderr an error tells."""


class Transport(Protocol):
    def start(self) -> AsyncIterator[str]:
        """The lines, one after the other."""


class MockTransport:
    """Lines that are there already; `delay` is the time in seconds before each but the first."""

    def __init__(self, events: Iterable[str], delay: float = 0.0) -> None:
        self.events: list[str] = list(events)
        self.delay = delay

    async def start(self) -> AsyncIterator[str]:
        for place, line in enumerate(self.events):
            await anyio.sleep(self.delay if place else 0)
            yield line


class StdioTransport:
    """A program and the JSON lines that it writes. Its stdin is empty; nothing that it starts outlives it.

    Beside `environment` it sees what every agent sees (`inherit_env` of `dragoman.SessionConfig`).
    """

    def __init__(
        self,
        executable: str,
        args: Sequence[str] = (),
        working_directory: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.executable = executable
        self.args: list[str] = list(args)
        self.working_directory = working_directory
        self.environment: dict[str, str] = dict(environment or {})
        self._work: Background | None = None
        self._cancelled = False

    async def start(self) -> AsyncIterator[str]:
        """Its lines that begin with `{`. Raises AgentError: processSpawnFailed if it does not start, processExitError
        with the end of its stderr if it exits with anything but 0."""
        child = await self._spawn()
        said, lines = anyio.create_memory_object_stream[str](float("inf"))
        errors: list[bytes] = []

        async def live() -> None:
            with said:
                await _listen(child, said.send_nowait, errors)

        self._work = Background(live)
        try:
            async for line in lines:
                yield line
        finally:
            await self._work.stop()
            lines.close()
        if child.code != 0 and not self._cancelled:
            tail = b"".join(errors)[-STDERR_TAIL:].decode("utf-8", "replace").strip()
            how = child.signal or f"code {child.code}"
            raise AgentError(
                AgentErrorType.processExitError,
                f"{self.executable} exited with {how}{': ' + tail if tail else ''}",
                native_error=tail or None,
                exit_code=child.code,
            )

    async def cancel(self) -> None:
        """End it, with all that it started."""
        self._cancelled = True
        if self._work is not None:
            await self._work.stop()

    async def _spawn(self) -> Child:
        seen = environment(
            SessionConfig(agent=self.executable, env=self.environment), ("CLAUDE_", "CODEX_", *MODEL_KEYS)
        )
        program = _program(self.executable, seen.get("PATH", os.defpath))
        try:
            return await spawn(
                [program, *self.args],
                agent=self.executable,
                cwd=self.working_directory,
                env=seen,
            )
        except SpawnFailed as error:
            raise agent_error(error) from error


def _program(name: str, path: str) -> str:
    return os.path.abspath(shutil.which(name, path=path) or name)


async def _listen(child: Child, take: Callable[[str], None], errors: list[bytes]) -> None:
    splitter = LineSplitter()

    def give(lines: Iterable[bytes]) -> None:
        for line in lines:
            if line.lstrip().startswith(b"{"):
                take(line.decode("utf-8", "replace"))

    try:
        child.stdin.close()
        async with anyio.create_task_group() as pumps:
            pumps.start_soon(pump, child.stdout, lambda chunk: give(splitter.feed(chunk)))
            pumps.start_soon(pump, child.stderr, errors.append)
            await child.reap()
            pumps.cancel_scope.deadline = anyio.current_time() + PIPE_GRACE
        if (rest := splitter.close()) is not None:
            give([rest])
    finally:
        with anyio.CancelScope(shield=True):
            await child.end()
        child.close()
