"""Homes full of session files, generated once and kept under .cache/bench.

`DRAGOMAN_BENCH_CORPUS=500:50000000` measures on another number of sessions and bytes than the goals are about.
"""

import os
import shutil
from pathlib import Path
from typing import Final

from tests.library import corpus

FOLDER: Final = Path(__file__).parents[1] / ".cache" / "bench" / "library"
_SESSIONS, _BYTES = os.environ.get("DRAGOMAN_BENCH_CORPUS", "10000:1000000000").split(":")
SESSIONS: Final = int(_SESSIONS)
BYTES: Final = int(_BYTES)


def home() -> Path:
    """The folder with all the files, each where its agent would have it. Read only: it is shared."""
    return _made_once(FOLDER / f"home-{SESSIONS}-{BYTES}")


def _made_once(place: Path) -> Path:
    if not place.exists():
        unfinished = place.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for _ in corpus.generated(unfinished, SESSIONS, BYTES):
            pass
        unfinished.rename(place)
    return place
