"""All live runs that a server knows: those that it drives itself, and those of other programs on this machine.

One that is over stays until it is in the library, and a moment longer, so that whoever watches it learns where it went.
"""

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from threading import Event as Flag
from typing import Final, TypeVar

import anyio
from anyio import CapacityLimiter, from_thread, to_thread
from anyio.abc import TaskGroup
from msgspec import structs

from dragoman._library.library import Library
from dragoman._library.opening import recording_path
from dragoman._model.config import SessionConfig
from dragoman._model.errors import UsageError
from dragoman._runtime.log import log
from dragoman._server.bell import Bell
from dragoman._server.hosting import Hosted
from dragoman._server.live import LiveRun
from dragoman._server.watching import watch
from dragoman._settings import own_prices

T = TypeVar("T")

MOST_HOSTED: Final = 200
MOST_ENDED: Final = 20
"""Runs that are over and are still known."""
AT_ONCE: Final = 4
"""Questions that are put to the library at the same time."""
SOON: Final = 2.0
"""Seconds within which a run that was just begun is found."""
_RUN: Final = re.compile("r[0-9a-f]{12}")
INTERVAL: Final = 2.0
"""Seconds between two looks at what agents have written, at least."""
AGAIN: Final = 10.0
"""Seconds after which it is tried again, where the library could not be had."""


class Hub:
    """`address` is the library's. To be entered while a server runs; its end ends the runs that it drives."""

    def __init__(self, address: str | None = None) -> None:
        self.address = address
        self.runs: dict[str, LiveRun] = {}
        """By id, in the order in which they were found."""
        self.bell = Bell()
        self.version = 0
        """Goes up whenever a run has changed, or the library."""
        self.stored = 0
        """Goes up whenever the library has something new."""
        self.unread = 0
        """Files that the library has not read yet."""
        self.watchers = 0
        """Feeds that are open."""
        self.stopping = False
        """Nothing is begun any more."""
        self.stopped = False
        """Nothing more will be said."""
        self.looked = Bell()
        """Rings after each look at what others have said."""
        self._prices = own_prices.load().prices
        self._ended: deque[str] = deque()
        self._tasks: TaskGroup | None = None
        self._no_more = Flag()
        self._readers = CapacityLimiter(AT_ONCE)

    async def serve(self) -> None:
        """Find what runs and read what is new, until it is cancelled."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(watch, self)
            self._tasks.start_soon(self._keep_reading)

    async def stop(self) -> None:
        """Nothing is begun any more, what is driven here is ended, and every feed with it, once all is said."""
        if not self.stopping:
            self.stopping = True
            self._no_more.set()
            async with anyio.create_task_group() as closing:
                for run in self.runs.values():
                    if isinstance(run.owner, Hosted):
                        closing.start_soon(run.owner.close)
            await self.looked.wait()
            self.stopped = True
            self.changed()

    def close(self) -> None:
        """Let go of all that was said, when nobody reads it any more."""
        self._no_more.set()
        for run in self.runs.values():
            run.close()

    async def unwatched(self, seconds: float | None = None) -> None:
        """Come back when no feed is open any more, or when so much time has gone by."""
        with anyio.move_on_after(seconds):
            while self.watchers:
                await self.bell.wait()

    # --- the library --------------------------------------------------------------------------------------

    async def ask(self, question: Callable[[Library], T]) -> T:
        """What the library answers, without holding up anybody. Raises what the question raises."""
        return await to_thread.run_sync(self._asked, question, limiter=self._readers, abandon_on_cancel=True)

    def _asked(self, question: Callable[[Library], T]) -> T:
        with Library(self.address) as library:
            return question(library)

    async def _keep_reading(self) -> None:
        await to_thread.run_sync(self._read_on, abandon_on_cancel=True)

    def _read_on(self) -> None:
        while not self._no_more.is_set():
            try:
                with Library(self.address) as library:
                    for came in library.watch(interval=INTERVAL, wait=self._no_more.wait):
                        from_thread.run_sync(self._came, came.unread)
            except Exception as error:  # a database may be away for a while
                log.warning("the library is not kept up to date: %s", error)
                self._no_more.wait(AGAIN)

    def _came(self, unread: int) -> None:
        self.unread = unread
        self.renewed()

    def renewed(self) -> None:
        """The library has something new."""
        self.stored += 1
        self.changed()

    # --- runs ---------------------------------------------------------------------------------------------

    def find(self, id: str) -> LiveRun | None:
        """The live run of this id, or the last one of this session."""
        if id in self.runs:
            return self.runs[id]
        return next((run for run in reversed(self.runs.values()) if id in (run.session, run.taken_as)), None)

    async def awaited(self, id: str) -> LiveRun | None:
        """The same, where it may be about to be found."""
        run = self.find(id)
        if run is None and _RUN.fullmatch(id):
            with anyio.move_on_after(SOON):
                while (run := self.find(id)) is None:
                    await self.bell.wait()
        return run

    def add(self, run: LiveRun) -> None:
        self.runs[run.id] = run
        self.changed()

    def made(self, agent: str, **known: object) -> LiveRun:
        """A run that is about to be live."""
        return LiveRun(agent=agent, changed=self.changed, prices=self._prices, **known)  # type: ignore[arg-type]

    def changed(self) -> None:
        """Somebody may want to know."""
        self.version += 1
        self.bell.ring()

    @property
    def driven(self) -> int:
        """How many sessions are driven here."""
        return sum(run.hosted and not run.is_over for run in self.runs.values())

    async def begin(self, config: SessionConfig) -> LiveRun:
        """Drive a session from now on. Comes back when its agent has started; raises DragomanError if it does not."""
        if self._tasks is None or self.stopping:
            raise UsageError("the server is stopping; start it again")
        if self.driven >= MOST_HOSTED:
            raise UsageError(f"{MOST_HOSTED} sessions are driven here already; close one")
        path = await to_thread.run_sync(recording_path, config.agent)
        run = self.made(config.agent, id=f"r{token_hex(6)}", hosted=True, cwd=config.cwd, recording=str(path))
        try:
            hosted = Hosted(run, structs.replace(config, record=str(path)))
            await self._tasks.start(hosted.drive, self.add, self.over)
        except BaseException:
            run.close()
            raise
        return run

    async def over(self, run: LiveRun) -> None:
        """A run has ended: it goes into the library, and is forgotten here after some others have ended."""
        run.is_over = True
        try:
            with anyio.CancelScope(shield=True):  # it is kept whole, also where it ended with the server
                run.taken_as = await self.ask(lambda library: _taken(library, run))
            self.stored += 1
        except Exception as error:  # the next sync will try again
            log.warning("run %s is recorded in %s, and not in the library: %s", run.id, run.recording, error)
        self._ended.append(run.id)
        while len(self._ended) > MOST_ENDED:
            self.runs.pop(self._ended.popleft()).close()
        run.touch()


def _taken(library: Library, run: LiveRun) -> str | None:
    """The session as which a run is in the library; None if nothing of it was recorded. Whoever else drove it may have brought
    it in before us, and its file with it."""
    path = Path(run.recording or "")
    found = library.take(path) if path.is_file() else library.told_by(path)
    return run.session if run.session in found else next(iter(found), None)
