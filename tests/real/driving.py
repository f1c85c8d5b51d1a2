"""A pinned agent, driven through the public API against a scripted model, with every run checked to its last byte."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import psutil
import pytest
from anyio import to_thread

import dragoman
from dragoman import (
    Answer,
    ApproveHandler,
    Connection,
    Event,
    Exit,
    PermissionRequest,
    Session,
    SessionConfig,
)
from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._files.recording import read_recording
from dragoman._wire.machine import play
from dragoman.testing import Scenario, Script, ScriptedModel, Step, ToolCall
from tests.real.agent_tools import TOOLS
from tests.real.pins import Pin, differences

E = TypeVar("E", bound=Event)
Lines = Scenario | Script | Iterable[Step]
"""What the model is to say: a script, or a scenario that several processes share."""

SMALL_SERVER = {
    "command": sys.executable,
    "args": ["-I", str(Path(__file__).parent / "peers" / "mcp_server.py")],
}
"""An MCP server: `add`, `shout`, and `greet`, which asks for a name."""

PATIENCE = 60.0
"""Seconds after which a test has failed; no test waits for them."""


class Events(list[Event]):
    """Events in order, with a short way to those of one type."""

    def of(self, kind: type[E], /, **fields: Any) -> list[E]:
        return [event for event in self if isinstance(event, kind) and has(event, fields)]

    def one(self, kind: type[E], /, **fields: Any) -> E:
        """The only one; that there is just one is part of the test."""
        found = self.of(kind, **fields)
        assert len(found) == 1, (
            f"{len(found)} of {kind.__name__}{fields or ''} in {[type(e).__name__ for e in self]}"
        )
        return found[0]

    def said(self, role: str = "assistant", kind: str = "text") -> list[str | None]:
        """The texts of these messages, but for an agent's echoes of ours."""
        return [m.text for m in self.of(dragoman.Message, role=role, kind=kind, echo=False)]

    @property
    def ended(self) -> dragoman.TurnEnded:
        return self.one(dragoman.TurnEnded)


def told(model: Scenario, request: int = 1) -> str:
    """What the model is told last in one of its requests, as JSON. Not counting a `system` message behind it, which is
    the CLI's own: claude 2.1.300 ends every request with how many tokens are left."""
    messages = model.requests_of("main")[request].messages
    return json.dumps(next(each for each in reversed(messages) if each.get("role") != "system"))


def has(event: Event, fields: dict[str, Any]) -> bool:
    return all(getattr(event, name) == value for name, value in fields.items())


class Watched:
    """A session at work, and everything that it has said so far. With `late_ends`, the agent may say that a call has ended
    after it said so of the turn."""

    def __init__(self, session: Session, model: Scenario, *, late_ends: bool = False) -> None:
        self.session = session
        self.model = model
        self.events = Events()
        self._stream = session.events()
        self._late_ends = late_ends

    async def turn(
        self, text: str, blocks: Iterable[dragoman.ContentBlock] = (), *, leaves_running: bool = False
    ) -> Events:
        """The events of the turn that takes this prompt."""
        return await self.whole(self.session.prompt(text, list(blocks)), leaves_running=leaves_running)

    async def whole(self, turn: AsyncIterator[Event], *, leaves_running: bool = False) -> Events:
        """The events of a turn, and the late ends of its calls, unless it `leaves_running` one."""
        after = self.session.events()
        said = Events([event async for event in turn])
        if self._late_ends and not leaves_running:
            ended = {end.call_id for end in said.of(dragoman.ToolEnded)}
            running = {call.call_id for call in said.of(dragoman.ToolStarted)} - ended
            while running:
                event = await anext(after)
                if isinstance(event, dragoman.ToolEnded) and event.call_id in running:
                    running.remove(event.call_id)
                    said.append(event)
        return said

    async def until(self, kind: type[E], /, **fields: Any) -> E:
        """The next event like this; those before it are in `events` by then."""
        async for event in self._stream:
            self.events.append(event)
            if isinstance(event, kind) and has(event, fields):
                return event
        raise AssertionError(
            f"no {kind.__name__}{fields or ''} came in {[type(e).__name__ for e in self.events]}"
        )

    async def rest(self) -> None:
        async for event in self._stream:
            self.events.append(event)

    async def held(self, gate: str) -> None:
        """Until the model is held at this gate."""
        await to_thread.run_sync(self.model.wait_for_hold, gate)

    async def asked(self, n: int = 1, route: str = "main") -> Any:
        """The n-th request to the model, as soon as it is there."""
        return await to_thread.run_sync(partial(self.model.wait_for_request, n, route=route))


class Company:
    """Several sessions in one process, and everything that was said, once it is over."""

    def __init__(self, connection: Connection, model: Scenario, *, late_ends: bool = False) -> None:
        self.connection = connection
        self.model = model
        self.events = Events()
        self._stream = connection.events()
        self._late_ends = late_ends

    async def session(self, **fields: Any) -> Watched:
        return Watched(await self.connection.session(**fields), self.model, late_ends=self._late_ends)

    async def rest(self) -> None:
        self.events.extend([event async for event in self._stream])


class Pinned:
    """One version of an agent, in a home and a working directory of its own. A `steady` one is asked for the model
    that it is best tested with."""

    def __init__(self, pin: Pin, place: Path, *, steady: bool = False) -> None:
        if not pin.executable.exists():
            pytest.fail(f"{pin} is not installed: run `python -m tests.real.install`, or `make test-real`")
        self.name, self.version, self.executable = pin.agent, pin.version, pin.executable
        self._differences = differences(pin.agent)
        self._late_ends = self.differs("items_may_end_after_their_turn")
        self.tools = TOOLS[pin.agent]
        self.model = self.tools.model if steady else None
        self.home, self.cwd = place / "home", place / "work"
        self._recordings = (place / f"run-{n}.jsonl" for n in range(1, 100))
        for directory in (self.home, self.cwd):
            directory.mkdir()

    def differs(self, name: str) -> bool:
        """Whether this version does otherwise than its newest one in this point of differences.toml, which may be another
        agent's."""
        return name in self._differences and self._differences[name].holds_in(self.version)

    @property
    def files(self) -> list[str]:
        """What there is where it works."""
        return sorted(str(path.relative_to(self.cwd)) for path in self.cwd.rglob("*") if path.is_file())

    def write(self, path: str | Path, text: str = "fresh\n") -> ToolCall:
        """The model writes a file, below where the agent works."""
        return self.tools.write(self.cwd / path, text)

    def fields(self, model: Scenario, /, **fields: Any) -> dict[str, Any]:
        """What `dragoman.open` is to be told so that the agent sees this machine's programs and nothing else of it."""
        env = model.env(self.name, self.home) | fields.pop("env", {})
        place = {"executable": self.executable, "cwd": self.cwd, "env": env, "inherit_env": False}
        return {**place, **({"model": self.model} if self.model is not None else {}), **fields}

    def config(self, mode: Any) -> SessionConfig:
        """Which agent it is, and the approve mode, if beside it a handler is given as `approve`."""
        return SessionConfig(agent=self.name, **({"approve": mode} if mode is not None else {}))

    def recording(self) -> Path:
        """A new file for a recording."""
        return next(self._recordings)

    @asynccontextmanager
    async def open(self, lines: Lines = (), /, *, mode: Any = None, **fields: Any) -> AsyncIterator[Watched]:
        """A session that is watched from its first event to its last, then checked."""
        recording = self.recording()
        with anyio.fail_after(PATIENCE), playing(lines) as model:
            options = self.fields(model, record=recording, **fields)
            async with dragoman.open(self.config(mode), **options) as session:
                watched = Watched(session, model, late_ends=self._late_ends)
                yield watched
            await watched.rest()
        check(watched.events, recording)

    @asynccontextmanager
    async def connect(self, lines: Lines = (), /, **fields: Any) -> AsyncIterator[Company]:
        """A process for several sessions, watched and checked in the same way."""
        recording = self.recording()
        with anyio.fail_after(PATIENCE), playing(lines) as model:
            async with dragoman.connect(
                self.name, record=recording, **self.fields(model, **fields)
            ) as connection:
                company = Company(connection, model, late_ends=self._late_ends)
                yield company
            await company.rest()
        check(company.events, recording)

    async def ask(self, lines: Lines, prompt: str, /, *, mode: Any = None, **fields: Any) -> dragoman.Result:
        recording = self.recording()
        with anyio.fail_after(PATIENCE), playing(lines) as model:
            options = self.fields(model, record=recording, **fields)
            result = await dragoman.ask(self.config(mode), prompt, **options)
        check(result.events, recording)
        return result


@contextmanager
def playing(lines: Lines) -> Iterator[Scenario]:
    """The model that says these lines; a scenario belongs to the test that made it."""
    if isinstance(lines, Scenario):
        yield lines
        return
    with ScriptedModel(lines) as model:
        yield model
        # What goes to another host comes here as to a proxy: a tunnel, or the whole address of a page.
        assert [stray for stray in model.strays if "http://" in stray or stray.startswith("CONNECT")] == []


def check(events: Sequence[Event], recording: Path) -> None:
    """What must hold of every run: the invariants, nothing unknown, and a replay that equals life, byte by byte."""
    recorded = read_recording(recording)
    assert recorded.launch is not None
    assert not recorded.cut
    written = {frame.n for frame in recorded.frames if frame.dir == "out"}
    assert broken(events, frames=written) == []
    lines = {frame.n: frame.line for frame in recorded.frames}
    strange = [event for event in events if is_strange(event)]
    assert [(event, lines.get(event.frame or 0)) for event in strange] == []
    machine = machine_for(recorded.launch.dialect, recorded.launch.agent)
    played = play(recorded.frames, machine, recorded.launch, lambda: recorded.exit or Exit())
    assert list(map(dragoman.encode, played)) == list(map(dragoman.encode, events))


def is_strange(event: Event) -> bool:
    """Not understood; but a method whose name begins with `_` is an agent's own affair, in ACP. So are those that
    qwen-code 0.24.4 has without it."""
    if isinstance(event, dragoman.NativeUnknown):
        return not (event.native_type or "").startswith(("_", "craft/", "qwen/"))
    return isinstance(event, dragoman.NativeInvalid)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def eventually(what: Callable[[], bool]) -> None:
    """For what no event tells: looks until it is so."""
    with anyio.fail_after(10):
        while not what():  # noqa: ASYNC110
            await anyio.sleep(0.01)


def saying(decision: Any, **fields: Any) -> ApproveHandler:
    """A handler that always answers so."""

    def approve(request: PermissionRequest) -> Answer:
        return Answer(decision=decision, **fields)

    return approve


class Gate:
    """What a command of an agent can wait at, until the test lets it go on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    @property
    def wait(self) -> str:
        """The command that waits. Not `cat`: claude 2.1.197 then reads the file itself, and waits as well."""
        return f"read word < {self.path}"

    async def open(self) -> None:
        """As soon as someone waits there; in a thread, since the agent needs the event loop to get there."""
        await to_thread.run_sync(self.path.write_text, "go\n")

    def opened(self) -> int:
        """Opens it whether or not someone waits there; it is open as long as this file is."""
        file = os.open(self.path, os.O_RDWR)
        os.write(file, b"go\n")
        return file


def waits_forever(pid_file: Path) -> str:
    """A command that writes down who it is and then waits at a gate that nobody opens."""
    gate = Gate(pid_file.with_name("gate"))
    return f"bash -c 'echo $$ > {pid_file}.new && mv {pid_file}.new {pid_file} && {gate.wait}'"
