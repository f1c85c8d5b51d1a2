"""Golden files: what every capture becomes, as events and as a transcript that a person reads.

`make golden` writes them anew; the tests compare. A change in a golden file is a change in what users see:
read transcript.md first.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from dragoman._dialects import DIALECTS
from dragoman._files.convert import convert
from dragoman._files.sources import open_source
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


def unnamed(version: Path) -> str:
    """The fields that the agent sends and no native type names, of all captures of one version."""
    dialect = version.parts[-2]
    messages = DIALECTS[dialect].part("messages")
    if not hasattr(messages, "unnamed"):
        return ""
    seen: dict[str, set[str]] = defaultdict(set)
    for capture in sorted(version.glob("*/meta.json")):
        for frame in open_source(source(capture.parent), dialect):
            if frame.dir == "out":
                for kind, field in messages.unnamed(frame.line):
                    seen[kind].add(field)
    return "".join(f"{kind}: {' '.join(sorted(fields))}\n" for kind, fields in sorted(seen.items()))


def versions() -> list[Path]:
    return sorted({capture.parent for capture in captures()})


def golden_files() -> Iterator[tuple[Path, str]]:
    """Every golden file, and what should be in it."""
    for capture in captures():
        events = events_of(capture)
        yield capture / "events.jsonl", events_text(events)
        yield capture / "transcript.md", transcript(events)
    for version in versions():
        yield version / "unnamed.txt", unnamed(version)


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
