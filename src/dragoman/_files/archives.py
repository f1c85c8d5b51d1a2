"""Archives: many files, each converted by itself, on all cores. A file's events never leave the process that reads it;
what comes back is what the caller makes of them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from msgspec import Struct

from dragoman._files.convert import convert
from dragoman._files.sources import EmptySource
from dragoman._model.errors import DragomanError, UsageError
from dragoman._model.events import Event

R = TypeVar("R")
Item = TypeVar("Item")

AHEAD = 2
"""Files that wait for each process, so that none has nothing to do. No more are taken from the list."""

GRACE = 3.0
"""Seconds that a process has to stop by itself: one that waits for a file, such as a pipe, would not."""


class Converted(Struct, Generic[R], frozen=True):
    """What came of one file."""

    path: Path
    result: R | None = None
    """What the caller's function returned."""
    error: str | None = None
    """Why there is no result."""
    empty: bool = False
    """There is none because nothing is in the file, which is no fault."""


def convert_files(
    paths: Iterable[str | os.PathLike[str]],
    work: Callable[[Path, Iterator[Event]], R],
    *,
    jobs: int | None = None,
    dialect: str | None = None,
    agent: str | None = None,
    native: bool = False,
    redact: bool = False,
) -> Iterator[Converted[R]]:
    """What `work(path, events)` returns for each file, as it is done: the order is that in which they end.

    `work` is called where the events are made, in one of `jobs` processes (as many as there are cores, if not given; with 1
    here, and in order), so it and what it returns must be of the kind that `pickle` takes, and a script calls this
    under `if __name__ == "__main__"`. What it does not read is not made. The other options are those of `convert`. A
    file that cannot be read or written has an `error` and does not stop the others; whatever else `work` raises is
    raised here. Where the iterator is closed, or Ctrl-C comes, the processes end. Raises UsageError if `jobs` is less than
    1, and DragomanError if a process dies."""
    options = {"dialect": dialect, "agent": agent, "native": native, "redact": redact}
    each = _Each(work, options)
    places = map(Path, paths)
    count = jobs if jobs is not None else os.cpu_count() or 1
    if count < 1:
        raise UsageError(f"{count} processes convert nothing; 1 is the least")
    return on_all(places, each, count)


class _Each(Generic[R]):
    """Converts one file, wherever it is called."""

    def __init__(self, work: Callable[[Path, Iterator[Event]], R], options: dict[str, Any]) -> None:
        self._work, self._options = work, options

    def __call__(self, path: Path) -> Converted[R]:
        try:
            return Converted(path, self._work(path, _watched(convert(path, **self._options))))
        except DragomanError as error:
            return Converted(path, error=error.message, empty=isinstance(error, EmptySource))
        except OSError as error:
            return Converted(path, error=f"{error.filename or path}: {error.strerror or error}")


class Stopped(Exception):
    """The rest is not wanted any more."""


def on_all(items: Iterator[Item], each: Callable[[Item], R], jobs: int) -> Iterator[R]:
    """What `each` returns for the items, as it is done in so many processes; with one of them here, and in order."""
    return map(each, items) if jobs == 1 else _on_all(items, each, jobs)


def _on_all(items: Iterator[Item], each: Callable[[Item], R], jobs: int) -> Iterator[R]:
    # Ctrl-C may come between any two steps of the main thread: had it just taken a lock of the pool, that would never end.
    # So the pool has a thread of its own, and what goes to and fro is two queues that are no Python code.
    given: SimpleQueue[tuple[int, Item] | None] = SimpleQueue()
    came: SimpleQueue[tuple[int, Future[R]]] = SimpleQueue()
    under_way: dict[int, Item] = {}
    numbered = enumerate(items)
    pool = threading.Thread(target=_pool, args=(given, came, each, jobs))
    try:
        pool.start()
        while True:
            for n, item in islice(numbered, jobs * AHEAD - len(under_way)):
                under_way[n] = item
                given.put((n, item))
            if not under_way:
                return
            n, future = came.get()
            result = future.result()
            del under_way[n]
            yield result
    except BrokenProcessPool as error:
        names = ", ".join(map(str, under_way.values()))
        raise DragomanError(f"a process that converted files died; it had one of these: {names}") from error
    finally:
        given.put(None)
        pool.join()


def _pool(
    given: "SimpleQueue[tuple[int, Item] | None]",
    came: "SimpleQueue[tuple[int, Future[R]]]",
    each: Callable[[Item], R],
    jobs: int,
) -> None:
    """Has what is given done by so many processes; None is the end of it, and of what is under way."""
    context = multiprocessing.get_context("spawn")  # a fork would copy threads that somebody else has started
    # A pipe, not a flag with a lock in it: who dies with that stops all others.
    listening, ending = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, _begin, (listening,))
    while (task := given.get()) is not None:
        n, item = task
        try:
            future = pool.submit(each, item)
        except Exception as error:  # such as that the pool is broken
            future = Future()
            future.set_exception(error)
        future.add_done_callback(partial(_came, came, n))
    ending.close()
    pool.shutdown(cancel_futures=True)
    listening.close()


def _came(came: "SimpleQueue[tuple[int, Future[R]]]", n: int, future: Future[R]) -> None:
    came.put((n, future))


# --- in the processes -----------------------------------------------------------------------------------------

_stop: threading.Event | None = None


def _begin(listening: connection.Connection) -> None:
    """Ctrl-C is for the process that started this one, and which says when to stop; it ends where that one does."""
    global _stop
    _stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_in_time, args=(listening, _stop), daemon=True).start()


def _end_in_time(listening: connection.Connection, stop: threading.Event) -> None:
    """Nothing is ever written to the pipe: it can be read where its other end is closed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    if parent.sentinel not in connection.wait([listening, parent.sentinel]):
        stop.set()
        parent.join(GRACE)
    os._exit(1)


def _watched(events: Iterator[Event]) -> Iterator[Event]:
    """The events, as long as they are wanted."""
    return events if _stop is None else _until(_stop, events)


def _until(stop: threading.Event, events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if stop.is_set():
            raise Stopped
        yield event
