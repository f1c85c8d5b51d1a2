"""Watching: what comes is told as it comes, newest first, and it ends when it is told to."""

from pathlib import Path

from dragoman._library.library import Library
from tests.library import corpus


def test_what_comes(library: Library, home: Path) -> None:
    sources = corpus.session_files("codex")[:2]
    steps = iter(
        [
            lambda: None,
            lambda: corpus.place(home, "codex", sources[0], 1),
            lambda: None,
            lambda: corpus.place(home, "codex", sources[1], 2).open("ab").close(),
            lambda: True,
        ]
    )
    waits: list[float] = []

    def wait(seconds: float) -> object:
        waits.append(seconds)
        return next(steps)() is True

    came = [each.read for each in library.watch(interval=0.01, wait=wait)]
    assert came == [1, 1]
    assert len(library.sessions()) == 2
    assert len(waits) == 5
    assert all(seconds >= 0.01 for seconds in waits)


def test_closed_by_who_listens(library: Library, home: Path) -> None:
    corpus.place(home, "codex", corpus.session_files("codex")[0])
    watch = library.watch(wait=lambda seconds: False)
    assert next(watch).read == 1
    watch.close()
    assert len(library.sessions()) == 1
