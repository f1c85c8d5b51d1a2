"""Two runs of one session never overlap, in one process or between processes: agents write to a session's file
without asking who else does, and what two of them write is lost to both.

Who wants a session draws a ticket: a numbered file, held under flock for as long as its owner needs it. All
tickets with lower numbers come first, so the order is that of arrival and nobody is passed over. The kernel lets
go of a lock with its owner, however that one ended: a dead owner's ticket is free at once, and the number of a
process that was used again cannot keep it. Waiting is a thread that sleeps in flock; nothing is polled.

Under the state directory, `locks/arrivals` holds the last number given out, `locks/<sha256 of agent:id>/<number>` the
tickets: a folder for each session, so that none has to look at those of the others.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Final

import anyio

from dragoman._model.errors import TimedOut
from dragoman._model.events import AnyEvent, SessionStarted, SessionUpdated
from dragoman._runtime.held_file import HeldFile, is_free, is_ours
from dragoman._runtime.log import log
from dragoman._runtime.streams import EventStream


def state_directory() -> Path:
    """Where the locks are."""
    given = os.environ.get("XDG_STATE_HOME", "")
    home = Path(given) if os.path.isabs(given) else Path("~/.local/state").expanduser()
    return home / "dragoman" / "locks"


# --- tickets -----------------------------------------------------------------------------------------------


class Ticket:
    """A place in the queue for a name. Drawing one is `draw`; `leave` gives it back."""

    def __init__(self, file: HeldFile) -> None:
        self.number = int(file.path.name)
        self._file = file

    def ahead(self) -> list[Path]:
        """The tickets before this one, the nearest first; some of them may be free by now."""
        path = self._file.path
        before = (number for number in _numbers(path.parent) if number < self.number)
        return [path.with_name(str(number)) for number in sorted(before, reverse=True)]

    async def turn(self) -> None:
        """Comes back when nobody is ahead any more. May be cancelled; the ticket stays good until `leave`."""
        for path in self.ahead():
            await _freed(path)

    def leave(self) -> None:
        """Give it back. Does nothing the second time, or in a child of its owner."""
        self._file.leave()
        with suppress(OSError):
            self._file.path.parent.rmdir()  # unless somebody waits


def draw(name: str) -> Ticket:
    """The next ticket for `name`. Raises OSError or RuntimeError where the state directory cannot be used."""
    folder = state_directory()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    queue = folder / sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    with _arrivals(folder) as arrivals:
        if folder not in _swept:
            _swept.add(folder)
            for name in os.listdir(folder):
                _alive(folder / name)
        number = max([_last(arrivals), *_alive(queue)]) + 1
        os.pwrite(arrivals, b"%-20d" % number, 0)
        file = _made(queue / str(number))
        file.write(b"%d" % os.getpid())
    return Ticket(file)


_swept: Final[set[Path]] = set()
"""Where this process has looked for what the dead have left: once, since that takes the longer the more there are."""


def _made(path: Path) -> HeldFile:
    """A new ticket. Who leaves takes the folder away if nobody is in it, which may be now."""
    while True:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            return HeldFile(path)


@contextmanager
def _arrivals(folder: Path) -> Iterator[int]:
    """Alone at the entrance, for the few microseconds that drawing takes."""
    fd = os.open(folder / "arrivals", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _last(arrivals: int) -> int:
    text = os.pread(arrivals, 20, 0).strip()
    return int(text) if text.isdigit() else 0


def _alive(queue: Path) -> list[int]:
    """The numbers in use there; tickets that a dead owner left are swept away."""
    found = []
    for number in _numbers(queue):
        path = queue / str(number)
        if is_ours(path):
            found.append(number)
            continue
        with suppress(FileNotFoundError):
            fd = os.open(path, os.O_RDONLY)
            if is_free(fd):
                path.unlink(missing_ok=True)
            else:
                found.append(number)
            os.close(fd)
    if not found:
        with suppress(OSError):
            queue.rmdir()
    return found


def _numbers(queue: Path) -> list[int]:
    """The tickets there; none if there is no such folder."""
    try:
        return [int(name) for name in os.listdir(queue) if name.isdigit()]
    except (FileNotFoundError, NotADirectoryError):
        return []


async def _freed(path: Path) -> None:
    """Comes back when the ticket at `path` is given back, or its owner is dead.

    The thread is a daemon that can be forgotten: nothing interrupts a flock, and a program that wants to end
    shall not wait for it. It tells its news by closing a pipe, which every event loop can wait for.
    """
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    if is_free(fd):
        os.close(fd)
        return
    reader, writer = os.pipe()
    Thread(target=_watch, args=(fd, writer), name="dragoman lock", daemon=True).start()
    try:
        await anyio.wait_readable(reader)
    finally:
        os.close(reader)


def _watch(fd: int, writer: int) -> None:
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_SH)
    os.close(fd)
    os.close(writer)


def _owner_of(path: Path) -> str:
    with suppress(OSError):
        return f"process {path.read_text()}"
    return "another run"


# --- the locks of a run ------------------------------------------------------------------------------------


class SessionLocks(EventStream):
    """The sessions that one run has to itself. It listens to the run: what a new session is called is known only
    when the agent says so, and when the run is over all of them are free.

    Where nothing can be locked, there is a warning and no lock: better two runs than none.
    """

    def __init__(self, agent: str, patience: float | None = None) -> None:
        super().__init__()
        self._agent = agent
        self._patience = patience
        self._tickets: dict[str, Ticket] = {}

    async def acquire(self, session: str) -> None:
        """Wait until no other run has the session. Raises TimedOut after `patience`."""
        ticket = self._draw(session)
        if ticket is None or not (ahead := ticket.ahead()):
            return
        why = f"{_owner_of(ahead[0])} is at work in session {session} of {self._agent}"
        log.warning("waiting: %s", why)
        with anyio.move_on_after(self._patience) as patience:
            try:
                await ticket.turn()
            except BaseException:
                self.release(session)
                raise
        if patience.cancelled_caught:
            raise TimedOut(f"waited {self._patience:g} s: {why}", agent=self._agent)

    def hold(self, session: str) -> None:
        """Keep others away from a session that the run is in already."""
        ticket = self._draw(session)
        if ticket is not None and (ahead := ticket.ahead()):
            log.warning("%s is at work in session %s of %s too", _owner_of(ahead[-1]), session, self._agent)

    def release(self, session: str) -> None:
        ticket = self._tickets.pop(session, None)
        if ticket is not None:
            ticket.leave()

    def _draw(self, session: str) -> Ticket | None:
        """A ticket for the session; None if there is one already, or there can be none."""
        if session in self._tickets:
            return None
        try:
            ticket = self._tickets[session] = draw(f"{self._agent}:{session}")
        except (OSError, RuntimeError) as error:
            log.warning("session %s of %s is not locked: %s", session, self._agent, error)
            return None
        return ticket

    # --- what the run says -------------------------------------------------------------------------------

    def put(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if type(event) is SessionStarted and event.session is not None and not event.replay:
                self.hold(event.session)
            elif type(event) is SessionUpdated and event.session_id is not None:
                self.hold(event.session_id)

    def end(self) -> None:
        for ticket in self._tickets.values():
            ticket.leave()
        self._tickets.clear()
        super().end()
