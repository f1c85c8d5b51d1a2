"""Archives: many files, each converted by itself, on all cores. A file's events never leave the process that reads it;
what comes back is what the caller makes of them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from dragoman._files.convert import convert
from dragoman._model.errors import DragomanError, UsageError
from dragoman._model.events import Event

R = TypeVar("R")

AHEAD = 2
"""Files that wait for each process, so that none has nothing to do. No more are taken from the list."""

EVENTS_BETWEEN_LOOKS = 500
"""A process looks so often whether it shall stop."""


class Converted(Struct, Generic[R], frozen=True):
    """What came of one file."""

    path: Path
    result: R | None = None
    """What the caller's function returned."""
    error: str | None = None
    """Why there is no result."""


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
    return map(each, places) if count == 1 else _on_all(places, each, count)


class _Each(Generic[R]):
    """Converts one file, wherever it is called."""

    def __init__(self, work: Callable[[Path, Iterator[Event]], R], options: dict[str, Any]) -> None:
        self._work, self._options = work, options

    def __call__(self, path: Path) -> Converted[R]:
        try:
            return Converted(path, self._work(path, _watched(convert(path, **self._options))))
        except DragomanError as error:
            return Converted(path, error=error.message)
        except OSError as error:
            return Converted(path, error=f"{error.filename or path}: {error.strerror or error}")


class Stopped(Exception):
    """The rest is not wanted any more."""


def _on_all(paths: Iterator[Path], each: _Each[R], jobs: int) -> Iterator[Converted[R]]:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads that somebody else has started
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, context, _begin, (stop,))
    under_way: dict[Future[Converted[R]], Path] = {}
    try:
        while True:
            for path in islice(paths, jobs * AHEAD - len(under_way)):
                under_way[pool.submit(each, path)] = path
            if not under_way:
                return
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                came = future.result()
                del under_way[future]
                yield came
    except BrokenProcessPool as error:
        names = ", ".join(map(str, under_way.values()))
        raise DragomanError(f"a process that converted files died; it had one of these: {names}") from error
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


# --- in the processes -----------------------------------------------------------------------------------------

_stop: Flag | None = None


def _begin(stop: Flag) -> None:
    """Ctrl-C is for the process that started this one, and which says when to stop; it ends where that one does."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _watched(events: Iterator[Event]) -> Iterator[Event]:
    """The events, as long as they are wanted."""
    if _stop is None:
        return events
    return _until(_stop, events)


def _until(stop: Flag, events: Iterator[Event]) -> Iterator[Event]:
    for number, event in enumerate(events):
        if number % EVENTS_BETWEEN_LOOKS == 0 and stop.is_set():
            raise Stopped
        yield event
