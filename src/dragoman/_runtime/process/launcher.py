"""Our side of the launcher and its keepers (see keeper.py): programs are started through it.

There is one launcher for each of our processes, begun with the first program. If it is killed, the next program
begins another; what it started goes on, since keepers are processes of their own."""

import atexit
import logging
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from weakref import WeakSet

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

if TYPE_CHECKING:
    from dragoman._runtime.process.plain import Plain
    from dragoman._runtime.process.played import Played

Started: TypeAlias = "Kept | Plain | Played"

log = logging.getLogger("dragoman")

SCRIPT: Final = os.path.join(os.path.dirname(__file__), "keeper.py")
START_LIMIT: Final = 20.0
"""Seconds that a start may take."""
END_LIMIT: Final = 5.0
"""Seconds after SIGKILL in which the end of all is waited for."""
LOOK: Final = 0.1
NEEDED: Final = ("LD_LIBRARY_PATH",)
"""What a Python may need of the environment to start."""
PASSED_ON: Final = (
    b"Umask Uid Gid Groups CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Cpus_allowed".split()
)
"""Lines of /proc/self/status about what a process passes on to those that it starts."""


def start(
    argv: list[str], *, cwd: str | None, env: dict[str, str], stdin: int, stdout: int, stderr: int
) -> Started:
    """Start a program in a session of its own, with exactly this environment and these files. Raises OSError and
    ValueError as subprocess.Popen does."""
    streams = [stdin, stdout, stderr]
    with _ordered(argv, cwd, env) as order:
        try:
            if order is not None:
                return _ours.start(order.request, [order.here, *streams])
        except _Gone:
            _warn()
        return _plain(argv, cwd, env, streams)


async def start_meanwhile(
    argv: list[str], *, cwd: str | None, env: dict[str, str], stdin: int, stdout: int, stderr: int
) -> Started:
    """The same while the loop goes on: it takes tens of milliseconds where many are started. If cancelled,
    whatever was started ends."""
    streams = [stdin, stdout, stderr]
    with _ordered(argv, cwd, env) as order:
        try:
            if order is not None:
                return await _ours.start_meanwhile(order.request, [order.here, *streams])
        except _Gone:
            _warn()
        return _plain(argv, cwd, env, streams)


class _Order(NamedTuple):
    """A program to be started: argv, environment and directory, and the directory where we are."""

    request: bytes
    here: int


@contextmanager
def _ordered(argv: list[str], cwd: str | None, env: dict[str, str]) -> Iterator[_Order | None]:
    """How to order it of the launcher; None where there can be none."""
    if not _system_can():
        yield None
        return
    words = [os.fsencode(word) for word in argv]
    variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    if any(b"\0" in word for word in (*words, *variables, *variables.values())):
        raise ValueError("embedded null byte")
    here = os.open("/" if cwd is not None and os.path.isabs(cwd) else ".", os.O_PATH | os.O_DIRECTORY)
    try:
        yield _Order(marshal.dumps((words, variables, cwd and os.fsencode(cwd))), here)
    finally:
        os.close(here)


def _warn() -> None:
    log.warning("no launcher can be started: what an agent leaves behind may not be found")


def _plain(argv: list[str], cwd: str | None, env: dict[str, str], streams: list[int]) -> "Plain":
    from dragoman._runtime.process.plain import Plain  # psutil takes its time

    return Plain(argv, cwd, env, streams)


@cache
def _system_can() -> bool:
    """Whether there can be a launcher: on Linux since 5.3, where sys.executable is a Python."""
    if sys.platform != "linux" or getattr(sys, "frozen", False) or not sys.executable:
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return os.path.isfile(SCRIPT) and os.path.exists("/proc/self/stat")


class Kept:
    """A program that has a keeper."""

    def __init__(self, control: socket.socket, keeper: int, pid: int, heard: bytes) -> None:
        self.pid = pid
        self.status: int | None = None
        """What it exited with; negative: the signal that ended it; None while it runs, or if nobody knows."""
        self.over = False
        """Nobody is left of all that it started."""
        self._control = control
        self._keeper = keeper
        """Its pidfd."""
        self._heard = b""
        self._ear = anyio.Lock()
        self._take(heard)
        control.setblocking(False)

    async def until_exit(self) -> None:
        await self._listen(lambda: self.status is not None)

    def signal(self, number: int) -> None:
        """To the program alone."""
        self._tell(f"signal {number}")

    async def end(self, grace: float) -> None:
        """End it with all it started: they are asked, and after these seconds made to."""
        self._tell(f"end {grace}")
        with anyio.move_on_after(grace + END_LIMIT):
            await self._listen(lambda: False)
        if not self.over:
            self._hand_over()
            with anyio.move_on_after(END_LIMIT):
                await self._listen(lambda: False)

    def kill(self, limit: float) -> None:
        """The same at once, and without a loop. Waits for their end, so many seconds at most."""
        self._tell("end 0")
        until = time.monotonic() + limit
        while not self.over and time.monotonic() < until:
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            if poll.poll(LOOK * 1000):
                self._hear()
            self._signal_keeper(signal.SIGCONT)
        if not self.over:
            self._hand_over()

    def _hand_over(self) -> None:
        """A keeper that has not done it by now (somebody stops it again and again) leaves it to the launcher."""
        self._signal_keeper(signal.SIGKILL)

    def close(self) -> None:
        """Have no more to do with it: what it left running may stay."""
        self._tell("leave")
        self.forget()

    def forget(self) -> None:
        self.over = True
        self._control.close()
        if self._keeper >= 0:
            os.close(self._keeper)
            self._keeper = -1

    async def _listen(self, enough: Callable[[], bool]) -> None:
        """Hear what the keeper says until that is enough, or there is no more. One listens at a time, for all."""
        async with self._ear:
            while not self.over and not enough():
                await anyio.wait_readable(self._control)
                self._hear()

    def _hear(self) -> None:
        try:
            chunk = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._take(chunk)
        self.over = not chunk

    def _take(self, chunk: bytes) -> None:
        *lines, self._heard = (self._heard + chunk).split(b"\n")
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"exited":
                self.status = int(rest)

    def _tell(self, order: str) -> None:
        self._signal_keeper(signal.SIGCONT)  # somebody may have stopped it
        with suppress(OSError):  # it is gone, as is all that it kept
            self._control.send(order.encode() + b"\n", socket.MSG_NOSIGNAL)

    def _signal_keeper(self, number: int) -> None:
        if self._keeper >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._keeper, number)


class _Gone(Exception):
    """The launcher is not there, or ended before it did what it was asked."""


class _Launcher:
    """A launcher process."""

    def __init__(self) -> None:
        self.surroundings = _surroundings()
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._door.settimeout(START_LIMIT)
        with theirs:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", SCRIPT, str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in NEEDED if name in os.environ},
                start_new_session=True,  # what kills our group must not kill it too
            )

    def order(self, request: bytes, fds: list[int]) -> socket.socket:
        """Where the keeper of a new program will say how its start went."""
        control, theirs = socket.socketpair()
        control.settimeout(START_LIMIT)
        self._popen.send_signal(signal.SIGCONT)  # somebody may have stopped it
        try:
            with theirs:
                rights = array("i", [theirs.fileno(), *fds])
                files = (socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)
                self._door.sendmsg([b"+"], [files], socket.MSG_NOSIGNAL)
            control.sendall(len(request).to_bytes(8, "big") + request, socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError) as error:
            control.close()
            raise _Gone from error
        except BaseException:
            control.close()
            raise
        return control

    def kill(self) -> None:
        """It does not answer. What it has started goes on."""
        self._door.close()
        self._popen.kill()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(1.0)

    def retire(self) -> None:
        """It is to start nothing more, and ends when its keepers have: at once, if it has none."""
        self._door.close()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(0.1)

    def has_ended(self) -> bool:
        return self._popen.poll() is not None

    def forget(self) -> None:
        """It is no longer ours to bury."""
        self._door.close()
        self._popen.returncode = 0


class _Ours:
    """What is ours: the launcher, if one was begun, those before it, and who was started."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._launcher: _Launcher | None = None
        self._retired: list[_Launcher] = []
        self._kept: WeakSet[Kept] = WeakSet()

    def start(self, request: bytes, fds: list[int]) -> Kept:
        return self._started(*self._order(request, fds), request, fds)

    async def start_meanwhile(self, request: bytes, fds: list[int]) -> Kept:
        launcher, control = self._order(request, fds)
        try:
            with anyio.move_on_after(START_LIMIT) as limit:
                await anyio.wait_readable(control)
            await checkpoint_if_cancelled()
        except BaseException:
            control.close()  # its keeper ends it, if it was started
            raise
        if limit.cancelled_caught:
            control.settimeout(LOOK)
        return self._started(launcher, control, request, fds)

    def _order(self, request: bytes, fds: list[int]) -> tuple[_Launcher, socket.socket]:
        launcher = self._begun()
        try:
            return launcher, launcher.order(request, fds)
        except _Gone:  # somebody has killed it
            self._discard(launcher)
        except TimeoutError:
            self._discard(launcher)
            raise
        launcher = self._begun()
        return launcher, launcher.order(request, fds)

    def _started(self, launcher: _Launcher, control: socket.socket, request: bytes, fds: list[int]) -> Kept:
        try:
            kept = _kept(control)
        except _Gone:
            self._discard(launcher)
            kept = _kept(self._begun().order(request, fds))
        except TimeoutError:
            self._discard(launcher)
            raise
        self._kept.add(kept)
        return kept

    def _begun(self) -> _Launcher:
        """The launcher. It passes on what we would: where that has changed, another one is begun."""
        with self._lock:
            self._retired = [old for old in self._retired if not old.has_ended()]
            if self._launcher is not None and self._launcher.surroundings != _surroundings():
                self._launcher.retire()
                self._retired.append(self._launcher)
                self._launcher = None
            if self._launcher is None:
                try:
                    self._launcher = _Launcher()
                except OSError as error:
                    raise _Gone from error
            return self._launcher

    def _discard(self, launcher: _Launcher) -> None:
        with self._lock:
            if self._launcher is launcher:
                self._launcher = None
                launcher.kill()

    def forget(self) -> None:
        """In a process that was forked from ours, which shall neither use what is ours nor keep it from ending; and
        when ours ends."""
        for launcher in (self._launcher, *self._retired):
            if launcher is not None:
                launcher.forget()

    def start_anew(self) -> None:
        self.forget()
        for kept in self._kept:
            kept.forget()
        self.__init__()  # type: ignore[misc]


def _kept(control: socket.socket) -> Kept:
    """The program, once its keeper has said that it was started. Raises what its start failed with."""
    try:
        try:
            said, keeper, more = _first_line(control)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _Gone from error
        word, _, rest = said.partition(" ")
        if word == "started":
            return Kept(control, keeper, int(rest), more)
        number, _, why = rest.partition(" ")
        raise OSError(int(number), why) if int(number) else ValueError(why)
    except BaseException:
        control.close()
        raise


def _first_line(control: socket.socket) -> tuple[str, int, bytes]:
    """How the start went, the keeper's pidfd, and what it has said since."""
    fds = array("i", [-1])
    said, extra, _, _ = control.recvmsg(4096, socket.CMSG_LEN(fds.itemsize), socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds = array("i", data)
    while b"\n" not in said:
        chunk = control.recv(4096)
        if not chunk:
            raise ConnectionResetError
        said += chunk
    line, _, more = said.partition(b"\n")
    return line.decode(), fds[0], more


def _surroundings() -> tuple[object, ...]:
    """What a process passes on to those it starts, besides what is said with each start."""
    lines = _read("status").split(b"\n")
    passed = [line for line in lines if line.partition(b":")[0] in PASSED_ON]
    links = [os.readlink(f"/proc/self/{name}") for name in ("root", "ns/mnt", "ns/net", "ns/user")]
    return (*passed, *links, _read("limits"), _read("cgroup"), os.getpriority(os.PRIO_PROCESS, 0))


def _read(name: str) -> bytes:
    with open(f"/proc/self/{name}", "rb", buffering=0) as file:
        return file.read()


_ours = _Ours()
atexit.register(_ours.forget)
os.register_at_fork(after_in_child=_ours.start_anew)
