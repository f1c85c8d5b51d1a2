"""The first sync of a home full of session files, and one with nothing new in it, against agentsview on the same files.

Each is a command of its own, in an empty home where the stores of the agents are links. One side after the other, by the
clock; memory is that of all its processes together.
"""

import os
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench import library_corpus
from bench.row import Figures, Row, below, faster

BIN = Path(sys.executable).parent
PAUSE = 0.05
"""Seconds between two looks at how much memory is in use."""


class Run(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float
    memory: float
    """Most MB that its processes had together; what they share counts for each."""


class Found(NamedTuple):
    first: Run
    again: Run


@cache
def ours() -> Found:
    return _found([sys.executable, "-P", "-m", "dragoman", "sync", "--json"])


@cache
def theirs() -> Found:
    return _found([str(BIN / "agentsview"), "sync"])


def _found(command: list[str]) -> Found:
    stores = library_corpus.home()
    with TemporaryDirectory() as name:
        for store in stores.iterdir():
            Path(name, store.name).symlink_to(store)
        return Found(_run(command, name), _run(command, name))


def _run(command: list[str], home: str) -> Run:
    environment = {
        "HOME": home,
        "PATH": os.defpath,
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "AGENTSVIEW_NO_DAEMON": "1",
    }
    before, start, most = _of_children(), time.perf_counter(), 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None:
            most = max(most, _memory(child.pid))
            time.sleep(PAUSE)
    seconds = time.perf_counter() - start
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    run = Run(seconds, _of_children() - before, most / 1e6)
    print(
        f"  {Path(command[0]).name}: {run.seconds:.1f} s, {run.processor:.1f} s of processors, {run.memory:.0f} MB"
    )
    return run


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: int | str) -> int:
    """Bytes of memory of a process and all below it. One that has ended has none."""
    place = Path("/proc", str(process))
    try:
        pages = int(place.joinpath("statm").read_text().split()[1])
        below = [child for task in place.glob("task/*/children") for child in task.read_text().split()]
    except OSError:
        return 0
    return pages * resource.getpagesize() + sum(map(_memory, below))


_CORPUS = f"{library_corpus.SESSIONS:,} sessions, {library_corpus.BYTES / 1e9:g} GB"
PEER = "agentsview"
ROWS = (
    Row(
        "library-sync",
        f"first sync of {_CORPUS}",
        PEER,
        "ms a file",
        faster(3),
        lambda: Figures(*(run.first.seconds / library_corpus.SESSIONS * 1e3 for run in (ours(), theirs()))),
    ),
    Row(
        "library-sync-processor",
        "its processor time, on all cores",
        PEER,
        "ms a file",
        faster(1),
        lambda: Figures(*(run.first.processor / library_corpus.SESSIONS * 1e3 for run in (ours(), theirs()))),
    ),
    Row(
        "library-sync-memory",
        "its memory, of all processes",
        PEER,
        "MB",
        below(300, "MB"),
        lambda: Figures(ours().first.memory, theirs().first.memory),
    ),
    Row(
        "library-sync-again",
        "the next sync, with nothing new",
        PEER,
        "s",
        below(1, "s"),
        lambda: Figures(ours().again.seconds, theirs().again.seconds),
    ),
)
