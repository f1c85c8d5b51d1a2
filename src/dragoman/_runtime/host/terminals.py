"""Commands that an agent has its client run: real processes, each in a session of its own, whose output is kept
until the agent has no more use for it. None outlives its terminal."""

import codecs
import os
import resource
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from typing import IO, Any, Final

import anyio

from dragoman._runtime.host.files import Files, Refused
from dragoman._runtime.process import pipes
from dragoman._runtime.process.child import Process
from dragoman._runtime.process.launcher import Started, start

KEPT: Final = 1 << 20
"""Bytes of output that are kept if the agent does not say how many."""
KEPT_AT_MOST: Final = 16 << 20
"""Bytes that are kept of a terminal's output, whatever the agent says."""
KEPT_IN_ALL: Final = 64 << 20
"""Bytes that are kept of all terminals of a session: beyond that the one that has most loses its beginning."""


class Terminals:
    """The terminals of one session. `env` is what their commands see of the environment."""

    def __init__(self, files: Files, env: Mapping[str, str]) -> None:
        self._files = files
        self._env = env
        self._ids = count(1)
        self._open: dict[str, Terminal] = {}
        self._kept = 0
        """Bytes of output that they hold."""

    def create(
        self,
        command: str,
        args: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None = None,
        limit: int | None = None,
    ) -> "Terminal":
        """Start a command. Its caller keeps it alive with `live`."""
        if len(self._open) >= _most():
            raise Refused(f"{command} cannot be run: {len(self._open)} terminals are open; release some")
        where = self._files.real(cwd or ".")
        variables = {**self._env, **env}
        with ExitStack() as theirs, ExitStack() as ours:
            try:
                argv = executed(command, args, variables, where)
                pipe, output = pipes.pipe(ours, theirs, "rb")
                with open(os.devnull, "rb") as nothing:
                    stdin = nothing.fileno()
                    program = start(argv, cwd=where, env=variables, stdin=stdin, stdout=output, stderr=output)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise Refused(f"{command} cannot be run: {why}") from error
            ours.pop_all()
        limit = min(KEPT if limit is None else limit, KEPT_AT_MOST)
        terminal = Terminal(f"terminal-{next(self._ids)}", program, pipe, limit, self._weigh)
        self._open[terminal.id] = terminal
        return terminal

    def _weigh(self, more: int) -> None:
        self._kept += more
        while self._kept > KEPT_IN_ALL and self._open:
            max(self._open.values(), key=Terminal.size).halve()

    def find(self, id: str) -> "Terminal":
        if id not in self._open:
            raise Refused(f"There is no terminal {id}.")
        return self._open[id]

    def forget(self, terminal: "Terminal") -> None:
        """Nobody will ask for what it wrote."""
        if self._open.pop(terminal.id, None) is not None:
            terminal.drop()

    async def close(self) -> None:
        """End them all, together."""
        terminals = list(self._open.values())
        async with anyio.create_task_group() as tasks:
            for terminal in terminals:
                self.forget(terminal)
                tasks.start_soon(terminal.release)


def executed(command: str, args: Sequence[str], env: Mapping[str, str], cwd: str) -> list[str]:
    """What is run for a call: a program and its arguments; one text that names no program is for the shell. `env`
    is all that the program sees of the environment, `cwd` where it runs."""
    program = os.path.join(cwd, command) if os.path.dirname(command) else command
    if args or shutil.which(program, path=env.get("PATH", os.defpath)):
        return [command, *args]
    return ["/bin/sh", "-c", command]


def _most() -> int:
    """How many terminals a session may have open: each takes three of the files that our process may have."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4096 if files == resource.RLIM_INFINITY else min(files // 12, 4096)


class Terminal:
    """One command, from its start to its release."""

    def __init__(
        self, id: str, program: Started, pipe: IO[bytes], limit: int, weigh: Callable[[int], None]
    ) -> None:
        self.id = id
        self._process = Process(program)
        self._pipe = pipe
        self._kept = bytearray()
        self._limit = limit
        self._weigh = weigh
        self._cut = False
        self._over = anyio.Event()
        """The command has ended, and all that it wrote is here."""
        self._unwanted = anyio.Event()
        self._gone = anyio.Event()

    async def live(self) -> None:
        """Take in what it writes, until it is released. What it left running goes on, as in any terminal, but
        not longer than that."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pipes.pump, self._pipe, self._take)
                tasks.start_soon(self._await_end)
                await self._unwanted.wait()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self.kill()
            self._pipe.close()
            self._process.close()
            self._gone.set()

    async def _await_end(self) -> None:
        await self._process.reap()
        self._end()

    def _end(self) -> None:
        pipes.drain(self._pipe, self._take)
        self._over.set()

    def _take(self, chunk: bytes) -> None:
        self._kept += chunk
        self._weigh(len(chunk))
        self._cut_to(self._limit)

    def _cut_to(self, size: int) -> None:
        if (extra := len(self._kept) - size) > 0:
            del self._kept[:extra]
            self._cut = True
            self._weigh(-extra)

    def size(self) -> int:
        return len(self._kept)

    def halve(self) -> None:
        self._cut_to(len(self._kept) // 2)

    def drop(self) -> None:
        """Keep nothing of what it wrote or will write."""
        self._limit = 0
        self._cut_to(0)

    # --- what can be asked of it -------------------------------------------------------------------------

    def output(self) -> dict[str, Any]:
        """What it wrote: the last of it, if it is more than shall be kept."""
        if not self._over.is_set():
            pipes.drain(self._pipe, self._take)
        over = self._over.is_set()
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(_whole(self._kept, self._cut), over)
        data = text.encode()  # longer than what was read, where that was no text
        if cut := len(data) > self._limit:
            text = _whole(data[len(data) - self._limit :], cut).decode()
        status = {"exitStatus": self._status()} if over else {}
        return {"output": text, "truncated": self._cut or cut, **status}

    async def wait(self) -> dict[str, Any]:
        """How it ended, once it has."""
        await self._over.wait()
        return self._status()

    async def kill(self) -> None:
        """End the command, with all it started; what it wrote stays."""
        await self._process.end()
        if not self._over.is_set():
            self._end()

    async def release(self) -> None:
        """End it for good."""
        self._unwanted.set()
        await self._gone.wait()

    def _status(self) -> dict[str, Any]:
        return {"exitCode": self._process.code, "signal": self._process.signal}


def _whole(data: bytes | bytearray, cut: bool) -> bytes:
    """Without the rest of a character whose beginning was cut off."""
    start = 0
    while cut and start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return bytes(data[start:])
