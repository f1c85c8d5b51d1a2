"""Search in a library: two hundred questions of all kinds, against `rg` over the files that it was made from.

Each question is asked on a connection of its own, so that nothing of it is at hand but what the system keeps of the file.
"""

import os
import resource
import shutil
import subprocess
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.library.questions import questions

from bench import library_corpus
from bench.row import Figures, Row, below, faster
from dragoman._library.library import Library
from dragoman._library.query import Search
from dragoman._library.searching import search

QUESTIONS, OF_RG, ROUNDS = 200, 20, 2


class Times(NamedTuple):
    """Milliseconds of processor time, from the least to the most."""

    ours: list[float]
    rg: list[float]


@cache
def measured() -> Times:
    if shutil.which("rg") is None:
        raise FileNotFoundError("rg is not installed; Debian has it in the package ripgrep")
    home = library_corpus.home()
    place = library_corpus.FOLDER / f"{home.name}.db"
    with Library(place) as library:
        library.sync([home])
        asked = list(questions(library.db, QUESTIONS))
    ours = [min(_ours(place, question) for _ in range(ROUNDS)) for _, question in asked]
    _tell([kind for kind, _ in asked], ours)
    rg = [_of_rg(home, question.text) for _, question in asked[:: QUESTIONS // OF_RG]]
    return Times(sorted(ours), sorted(rg))


def _ours(place: Path, question: Search) -> float:
    with Library(place) as library:
        start = time.process_time()
        search(library.db, question)
        return (time.process_time() - start) * 1e3


def _of_rg(home: Path, text: str) -> float:
    """On all cores, as if it had them for itself. Files with the words as they are: it knows no others."""
    before = _of_children()
    subprocess.run(
        [
            "rg",
            "--hidden",
            "--ignore-case",
            "--fixed-strings",
            "--files-with-matches",
            text.strip('*"'),
            home,
        ],
        stdout=subprocess.DEVNULL,
        check=False,  # 1: nothing was found
    )
    return (_of_children() - before) / (os.cpu_count() or 1) * 1e3


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tell(kinds: list[str], times: list[float]) -> None:
    """Which kinds of questions take how long."""
    of = defaultdict(list)
    for kind, took in zip(kinds, times, strict=True):
        of[kind].append(took)
    for kind, some in of.items():
        print(f"  {kind:14} {median(some):6.1f} ms, at most {max(some):6.1f}")


def _at(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


_CORPUS = f"{library_corpus.SESSIONS:,} sessions, {library_corpus.BYTES / 1e9:g} GB"
ROWS = (
    Row(
        "library-search",
        f"{QUESTIONS} questions to a library of {_CORPUS}: p95",
        "rg",
        "ms",
        below(50, "ms"),
        lambda: Figures(_at(measured().ours, 0.95), _at(measured().rg, 0.95)),
    ),
    Row(
        "library-search-median",
        "the median",
        "rg",
        "ms",
        faster(1),
        lambda: Figures(_at(measured().ours, 0.5), _at(measured().rg, 0.5)),
    ),
    Row(
        "library-search-slowest",
        "the slowest",
        "rg's fastest",
        "ms",
        faster(1),
        lambda: Figures(measured().ours[-1], measured().rg[0]),
    ),
)
