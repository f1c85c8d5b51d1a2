"""The host: files and terminals that an agent asks its client for, within the session's directories."""

import os
import shlex
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from dragoman._model.events import HostCalled, PermissionRequested, ToolKind
from dragoman._runtime.host.files import Files, NotThere, Refused
from dragoman._runtime.host.terminals import Terminals, executed

__all__ = ["OFFERS", "Host", "Place", "Refused"]

OFFERS: Final = frozenset(("fs", "terminal"))
"""What a client that has a host can say it offers."""

_METHODS: Final[dict[str, ToolKind | None]] = {
    "fs/read_text_file": "read",
    "fs/write_text_file": "edit",
    "terminal/create": "execute",
    "terminal/output": None,
    "terminal/wait_for_exit": None,
    "terminal/kill": None,
    "terminal/release": None,
}
"""What can be asked, and as which kind of tool it needs a permission, if it needs one."""


class Place:
    """A place in a queue: it is its turn when those before it are done."""

    def __init__(self, before: anyio.Event | None) -> None:
        self.done: anyio.Event = anyio.Event()
        self._before = before

    async def __aenter__(self) -> None:
        if self._before is not None:
            await self._before.wait()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done.set()


class Host:
    """The files and terminals of one session. `roots` are its directories, the first is where it works.
    `missing_is_empty`: a file that is not there is read as an empty one."""

    def __init__(
        self,
        roots: Sequence[str],
        env: Mapping[str, str],
        *,
        read_only: bool = False,
        missing_is_empty: bool = False,
    ) -> None:
        self.cwd: str | None = roots[0] if roots else None
        """Where the session works."""
        self._files = Files(roots)
        self._env = env
        self._terminals = Terminals(self._files, env)
        self._read_only = read_only
        self._missing_is_empty = missing_is_empty
        self._queues: dict[str, anyio.Event] = {}

    def does(self, call: HostCalled) -> bool:
        return call.method in _METHODS

    def queue(self, call: HostCalled) -> Place:
        """Calls about the same file or terminal are served in the order in which they came; only nobody has to
        wait for one that waits itself."""
        about = _text(call.params, "terminalId") or _text(call.params, "path") or ""
        place = Place(self._queues.get(about))
        if about and call.method != "terminal/wait_for_exit":
            self._queues[about] = place.done
        return place

    def permission(self, call: HostCalled) -> PermissionRequested | None:
        """The permission that a call needs, if any. Its input is what would be done: of a command, the line that is really
        executed. Raises Refused for what cannot be done."""
        kind = _METHODS[call.method]
        if kind is None:
            return None
        input = self._executed(call.params) if kind == "execute" else call.params
        if kind != "execute":
            self._files.real(_needed(call.params, "path"))
        return PermissionRequested(
            request_id=call.request_id,
            call_id=call.call_id,
            tool_name=call.method,
            kind=kind,
            input=input,
            title=_text(input, "path") or _text(input, "command"),
            session=call.session,
            turn=call.turn,
            seq=call.seq,
            agent=call.agent,
            dialect=call.dialect,
            synthesized=True,
        )

    def _executed(self, params: Any) -> dict[str, Any]:
        """What is executed for a terminal/create, as the input of a tool has it."""
        env, where = _env(params), os.path.normpath(self._files.real(_text(params, "cwd") or "."))
        argv = executed(_needed(params, "command"), _args(params), {**self._env, **env}, where)
        line = argv[2] if argv[:2] == ["/bin/sh", "-c"] and len(argv) == 3 else shlex.join(argv)
        here = os.path.realpath(self.cwd or ".")
        return {"command": line, **({"cwd": where} if where != here else {}), **({"env": env} if env else {})}

    async def current_text(self, call: HostCalled) -> str | None:
        """The text of the file that a call would write, as it is; None if there is none, or it writes none."""
        path = _text(call.params, "path") if call.method == "fs/write_text_file" else None
        try:
            return await to_thread.run_sync(self._files.read, path) if path is not None else None
        except Refused:
            return None

    async def do(self, call: HostCalled, tasks: TaskGroup) -> dict[str, Any]:
        """The answer to a call that is allowed. Raises Refused."""
        params, files, terminals = call.params, self._files, self._terminals
        if self._read_only and _METHODS[call.method] not in (None, "read"):
            raise Refused("Denied: this session is read-only.")
        if call.method == "fs/read_text_file":
            return {"content": await to_thread.run_sync(self._read, params)}
        if call.method == "fs/write_text_file":
            await to_thread.run_sync(files.write, _needed(params, "path"), _needed(params, "content"))
            return {}
        if call.method == "terminal/create":
            terminal = terminals.create(
                _needed(params, "command"),
                _args(params),
                env=_env(params),
                cwd=_text(params, "cwd"),
                limit=_count(params, "outputByteLimit"),
            )
            tasks.start_soon(terminal.live)
            return {"terminalId": terminal.id}
        terminal = terminals.find(_needed(params, "terminalId"))
        if call.method == "terminal/output":
            return terminal.output()
        if call.method == "terminal/wait_for_exit":
            return await terminal.wait()
        if call.method == "terminal/release":
            terminals.forget(terminal)
            await terminal.release()
        else:
            await terminal.kill()
        return {}

    def _read(self, params: Any) -> str:
        path, line, limit = _needed(params, "path"), _count(params, "line"), _count(params, "limit")
        try:
            return self._files.read(path, line, limit)
        except NotThere:
            if self._missing_is_empty:
                return ""
            raise

    async def close(self) -> None:
        """End every terminal."""
        await self._terminals.close()


def _args(params: Any) -> list[str]:
    return [item for item in _items(params, "args") if isinstance(item, str)]


def _env(params: Any) -> dict[str, str]:
    return {_needed(item, "name"): _needed(item, "value") for item in _items(params, "env")}


def _needed(params: Any, key: str) -> str:
    value = _text(params, key)
    if value is None:
        raise Refused(f"Invalid params: {key} is missing, or no text.")
    return value


def _text(params: Any, key: str) -> str | None:
    value = params.get(key) if isinstance(params, dict) else None
    return value if isinstance(value, str) else None


def _count(params: Any, key: str) -> int | None:
    value = params.get(key) if isinstance(params, dict) else None
    return value if type(value) is int and value >= 0 else None


def _items(params: Any, key: str) -> list[Any]:
    value = params.get(key) if isinstance(params, dict) else None
    return value if isinstance(value, list) else []
