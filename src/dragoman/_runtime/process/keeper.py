"""The launcher and its keepers: small processes by which every program is started on Linux, and kept hold of.

    our program ─ launcher ─┬─ keeper ─ agent ─ what it starts
                            └─ keeper ─ the command of a terminal

Run as a script this is the launcher, one for each program that uses Dragoman. It forks a keeper for each program
that is to be started. The keeper is a subreaper and the program's parent: whoever loses its parents below it becomes
the keeper's own child, also a daemon in a session of its own with nothing in its environment. So it knows that nobody
is left when it has no child left, and that is all it has to know. It outlives us, if we are killed, until then.

The launcher is a subreaper too: who comes to it has lost its keeper, and is killed. `launcher.py` is our side of this.
Only small imports here: the launcher is to start fast, and a keeper is a copy of it.
"""

import array
import ctypes
import gc
import marshal
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

LIBC = ctypes.CDLL(None)
PR_SET_CHILD_SUBREAPER = 36
HEARD = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD")
"""Signals that do not end us."""
ORDER = 5
"""Files that come with an order: see Keeper."""
IGNORED = {signal.SIGPIPE, signal.SIGXFSZ}
"""Signals that Python ignores, and those whom we start do not."""
GRACE = 1.5
"""Seconds from SIGTERM to SIGKILL for those whom our owner left behind."""
LOOK = 0.05
"""Seconds between two looks for those who were born meanwhile."""
LONG = 5.0
"""Seconds after which one that SIGKILL does not end (it hangs in the kernel, or is root's) is looked for less often."""
DEPTH = 50
"""How far down a tree is walked: who is deeper comes up when those above it end."""
PATIENCE = 30.0
"""Seconds in which the owner has to say what shall be started."""
KERNEL_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")

Row = tuple[int, int]
"""Of a living process: its parent, and when it started (in clock ticks since the system did)."""


# --- the launcher --------------------------------------------------------------------------------------------


def launch(owner: int) -> None:
    """Fork a keeper for each order that comes through the socket which is our stdin, as long as the owner lives; then
    see to it that the keepers do what they are there for."""
    door = socket.socket(fileno=0)
    ended = hear_signals()
    life = os.pidfd_open(owner)
    if os.getppid() != owner or not become_subreaper():  # it is gone already, and its pid may be another's
        return
    gc.freeze()  # so that keepers go on sharing this memory
    poll = _poll(0, ended, life)
    keepers: set[int] = set()
    needed = True
    while needed or keepers:
        ready = {fd for fd, _ in poll.poll()}
        if ended in ready:
            _empty(ended)
            _bury(keepers)
        if life in ready:
            break
        if 0 in ready:
            said, fds = _received(door)
            if not said:
                poll.unregister(0)
                needed = False
            elif len(fds) == ORDER and (pid := _fork(fds, life, ended)):
                keepers.add(pid)
            for fd in fds:
                os.close(fd)
    until = time.monotonic() + LONG
    while _bury(keepers) or (keepers and time.monotonic() < until):
        for pid in keepers:
            _kill(pid, signal.SIGCONT)  # somebody may have stopped it
        time.sleep(LOOK)


def _received(door: socket.socket) -> tuple[bytes, list[int]]:
    """A message, and the files that came with it: not to be passed on by us (socket.recv_fds takes no flags)."""
    fds = array.array("i")
    room = socket.CMSG_LEN(ORDER * fds.itemsize)
    said, extra, _, _ = door.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return said, list(fds)


def _fork(fds: list[int], life: int, ended: int) -> int:
    """The pid of a new keeper, or 0: there can be none."""
    try:
        pid = os.fork()
    except OSError as error:
        with socket.socket(fileno=os.dup(fds[0])) as control, suppress(OSError):
            control.sendall(_failure(error))
        return 0
    if pid:
        return pid
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # else the owner does not see the launcher's end
        os.close(ended)
        Keeper(fds, life).run()
        status = 0
    finally:
        os._exit(status)


def _bury(keepers: set[int]) -> bool:
    """Take note of the end of keepers; who has lost his is killed. Whether there is anyone such. They are our own
    children: nobody else gets their pids before we have heard of their end."""
    with suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
            keepers.discard(pid)
    lost = set(children(os.getpid())) - keepers
    for pid in lost:
        _kill(pid, signal.SIGKILL)
    return bool(lost)


# --- a keeper ------------------------------------------------------------------------------------------------


class Keeper:
    """Starts one program, tells how it ended, and ends it with all that it started when it is told to, or when there
    is no owner any more. `fds` are the socket to the owner, the directory where the owner is, and the program's
    stdin, stdout and stderr.

    It is told `signal N` (for the program alone), `end SECONDS` (for all: so long they are asked before they are
    made to), `leave` (the program may have left something running: only bury it). It tells `started PID` or
    `failed ERRNO WHY`, and `exited CODE`; its own end means that nobody is left, or that the launcher takes over."""

    def __init__(self, fds: list[int], life: int) -> None:
        self._control = socket.socket(fileno=fds[0])
        self._here, *self._streams = fds[1:]
        self._life = life
        self._launcher = os.getppid()
        self._program = 0
        """Its pid, until its end was heard of."""
        self._heard = b""
        self._deadline: float | None = None
        """Since all shall end: when they are made to."""
        self._signalled: set[tuple[int, int, int]] = set()

    def run(self) -> None:
        self._ended = hear_signals()
        become_subreaper()
        if not self._start():
            return
        self._poll = _poll(self._control.fileno(), self._life, self._ended)
        while self._bury():
            pause = None if self._deadline is None else self._press()
            self._listen({fd for fd, _ in self._poll.poll(None if pause is None else pause * 1000)})

    def _start(self) -> bool:
        try:
            argv, env, cwd = marshal.loads(self._request())
            os.fchdir(self._here)
            if cwd is not None:
                os.chdir(cwd)
            self._program = spawn(argv, env, self._streams)
        except (OSError, ValueError, EOFError) as error:
            self._tell(_failure(error))
            return False
        os.chdir("/")
        for fd in (self._here, *self._streams):
            os.close(fd)
        self._introduce()
        self._control.setblocking(False)
        return True

    def _introduce(self) -> None:
        """Tell that the program was started, and give the owner our pidfd: we may be stopped by somebody."""
        us = os.pidfd_open(os.getpid())
        files = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [us]))
        with suppress(OSError):
            self._control.sendmsg([b"started %d\n" % self._program], [files], socket.MSG_NOSIGNAL)
        os.close(us)

    def _request(self) -> bytes:
        """What shall be started: argv, environment, directory, as the owner marshalled them."""
        self._control.settimeout(PATIENCE)
        return self._exactly(int.from_bytes(self._exactly(8), "big"))

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._control.recv(size - len(data))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)

    def _tell(self, line: bytes) -> None:
        with suppress(OSError):
            self._control.send(line, socket.MSG_NOSIGNAL)

    # --- what it hears -----------------------------------------------------------------------------------

    def _listen(self, ready: set[int]) -> None:
        if self._ended in ready:
            _empty(self._ended)
        if self._control.fileno() in ready:  # first: the owner's last word may be to leave all as it is
            try:
                chunk = self._control.recv(4096)
            except OSError:
                chunk = b""
            *lines, self._heard = (self._heard + chunk).split(b"\n")
            for line in lines:
                self._obey(line.split())
            if not chunk:
                self._orphaned()
        if self._life in ready:
            self._orphaned()

    def _obey(self, order: list[bytes]) -> None:
        if order[0] == b"signal" and self._program:
            _kill(self._program, int(order[1]))
        elif order[0] == b"end":
            self._end(float(order[1]))
        elif order[0] == b"leave" and self._deadline is None:
            self._deaf()

    def _orphaned(self) -> None:
        """The owner is gone. A process that it forked may have a copy of its socket, so its own end tells too."""
        if self._control.fileno() >= 0:
            self._deaf()
            self._end(GRACE)
        if os.getppid() == self._launcher:
            _kill(self._launcher, signal.SIGCONT)  # somebody may have stopped it

    def _end(self, grace: float) -> None:
        deadline = time.monotonic() + grace
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)

    def _deaf(self) -> None:
        """Listen to nobody any more."""
        if self._control.fileno() >= 0:
            self._poll.unregister(self._control.fileno())
            self._poll.unregister(self._life)
            self._control.close()

    # --- what it does ------------------------------------------------------------------------------------

    def _bury(self) -> bool:
        """Take note of who has ended; whether anyone is left."""
        try:
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                if dead[0] == self._program:
                    self._program = 0
                    self._tell(b"exited %d\n" % os.waitstatus_to_exitcode(dead[1]))
        except ChildProcessError:
            return False
        return True

    def _press(self) -> float:
        """Send all who are left what they have to get by now; the seconds until the next look.

        The pids of our own children cannot become another's, since it is we who bury them. So they are killed at
        once: one that does nothing but fork and exit has to be met in between."""
        late = time.monotonic() - (self._deadline or 0.0)
        number = signal.SIGTERM if late < 0 else signal.SIGKILL
        before = len(self._signalled)
        own = children(os.getpid())
        if number == signal.SIGKILL:
            for pid in own:
                _kill(pid, number)
        for pid in own:
            with suppress(OSError):
                self._descend(pid, os.getpid(), None, number, DEPTH)
        if number == signal.SIGKILL and len(self._signalled) > before:
            return 0.0
        return LOOK if late < LONG else 1.0

    def _descend(self, pid: int, parent: int, parent_fd: int | None, number: int, depth: int) -> None:
        """Signal a process, and then those below it. Held by its pidfd it is what was seen: if it is `parent`'s child,
        and `parent` was not buried meanwhile, then it is one of ours, and not a later one with the same pid."""
        fd = os.pidfd_open(pid)
        try:
            above, start = row(pid)
            if parent_fd is not None:
                signal.pidfd_send_signal(parent_fd, 0)
            if above != parent:
                return
            if (pid, start, number) not in self._signalled:
                self._signalled.add((pid, start, number))
                with suppress(OSError):  # another user's, since it has become one
                    signal.pidfd_send_signal(fd, number)
                    signal.pidfd_send_signal(fd, signal.SIGCONT)
            for child in children(pid) if depth else ():
                with suppress(OSError):
                    self._descend(child, pid, fd, number, depth - 1)
        finally:
            os.close(fd)


# --- what the system offers ----------------------------------------------------------------------------------


def become_subreaper() -> bool:
    """Whether whoever loses its parents below us is our child from now on."""
    return bool(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def hear_signals() -> int:
    """A pipe that can be read when a child has ended. Signals that would end us are heard too, and nothing comes of
    it: were they ignored, they would be ignored by all that we start."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    old = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if old >= 0:
        os.close(old)
    for name in HEARD:
        signal.signal(signal.Signals[name], lambda number, frame: None)
    return reader


def default_signals() -> None:
    """What our owner ignores or blocks is nothing that those whom we start have to."""
    for number in signal.valid_signals() - IGNORED:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def spawn(argv: list[bytes], env: dict[bytes, bytes], streams: list[int]) -> int:
    """The pid of a program that was started where we are. It is looked for in the PATH that it will have, and fails
    as subprocess.Popen does."""
    program, failure = argv[0], None
    folders = [b""] if b"/" in program else env.get(b"PATH", os.defpath.encode()).split(b":")
    for folder in folders:
        try:
            return os.posix_spawn(
                os.path.join(folder, program),
                argv,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(streams)],
                setsid=True,
                setsigmask=(),
                setsigdef=IGNORED,
            )
        except OSError as error:
            if failure is None or isinstance(failure, FileNotFoundError | NotADirectoryError):
                failure = error
    assert failure is not None
    raise failure


def row(pid: int) -> Row:
    """Raises OSError if it is not there, or has ended and is only not buried yet."""
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        fields = file.read(4096).rpartition(b")")[2].split()  # a program's name may hold anything
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        raise ProcessLookupError
    return int(fields[1]), int(fields[19])


def children(pid: int) -> list[int]:
    """Whom a process has started, or taken in; none if it is not there."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read().split())
    return found if found or KERNEL_LISTS_CHILDREN else _scanned(pid)


def _scanned(parent: int) -> list[int]:
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with suppress(OSError):
            if row(pid)[0] == parent:
                found.append(pid)
    return found


def _kill(pid: int, number: int) -> None:
    with suppress(OSError):  # another user's, since it has become one
        os.kill(pid, number)


def _failure(error: Exception) -> bytes:
    number = getattr(error, "errno", None) or 0
    why = getattr(error, "strerror", None) or str(error)
    return f"failed {number} {' '.join(why.split())}\n".encode("utf-8", "replace")


def _poll(*fds: int) -> select.poll:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return poll


def _empty(pipe: int) -> None:
    with suppress(BlockingIOError):
        while os.read(pipe, 4096):
            pass


if __name__ == "__main__":
    default_signals()
    launch(int(sys.argv[1]))
    os._exit(0)
