"""Golden files: what every capture becomes, as events and as a transcript that a person reads; and the books of what is
known to be sent (`_drift/known`).

`make golden` writes them anew; the tests compare. A change in a golden file is a change in what users see:
read transcript.md first.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from dragoman._drift.book import FOLDER, gathered, write
from dragoman._drift.survey import Spot
from dragoman._files.convert import convert
from dragoman._files.surveys import survey
from dragoman._model.events import Event
from dragoman._reports.transcript import transcript
from dragoman._wire.event_json import encode

CAPTURES = Path(__file__).parent.parent / "captures"
SOURCES = ("frames.jsonl", "stdout.jsonl", "session.jsonl", "session.json")


def captures(dialect: str = "*") -> list[Path]:
    """The capture folders: captures/<dialect>/<version>/<scenario>."""
    return sorted(path.parent for path in CAPTURES.glob(f"{dialect}/*/*/meta.json"))


def name(capture: Path) -> str:
    return str(capture.relative_to(CAPTURES))


def source(capture: Path) -> Path:
    return next(capture / file for file in SOURCES if (capture / file).exists())


def events_of(capture: Path, *, native: bool = False) -> list[Event]:
    return list(convert(source(capture), dialect=capture.parts[-3], native=native))


def events_text(events: list[Event]) -> str:
    return "".join(encode(event).decode() + "\n" for event in events)


def known(dialect: str) -> str:
    """What agents are known to send and no type names: the book of a dialect, from all its captures."""
    spots: set[Spot] = set()
    for capture in captures(dialect):
        spots |= survey(source(capture), dialect).sights.keys()
    versions = {capture.parent.name: None for capture in captures(dialect)}
    return write(gathered(spots), versions)


def dialects() -> list[str]:
    """Those that have captures."""
    return sorted({capture.parts[-3] for capture in captures()})


def golden_files() -> Iterator[tuple[Path, str]]:
    """Every golden file, and what should be in it."""
    for capture in captures():
        events = events_of(capture)
        yield capture / "events.jsonl", events_text(events)
        yield capture / "transcript.md", transcript(events)
    for dialect in dialects():
        yield FOLDER / f"{dialect}.txt", known(dialect)


def main() -> int:
    changed = 0
    for path, text in golden_files():
        data = text.encode()
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            changed += 1
            print(path.relative_to(CAPTURES.parent))
    print(f"{changed} golden files changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
