"""`make bench-check`: that nothing has become slower, on counts and on ratios within one run. No peers are needed.

Where something has become cheaper, its ceiling comes down with it.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import converting, material
from bench.clock import Work, side_by_side
from bench.counts import counted
from bench.material import Runs
from bench.ours import to_events
from dragoman._files.streamed_text import FrameRedactor
from dragoman._model.frames import Frame
from dragoman._wire.redaction import Redactor

SOME = 1_000
MARGIN = 1.1
"""Counts are the same in every run of one Python; other versions call a little more or less."""
WIDE = 1.75
"""How much worse than its ceiling a ratio of times may be: others use the machine too."""


@dataclass(frozen=True)
class Ceiling:
    """What a line may cost: calls of Python functions, decodings, and processor time in that of json.loads."""

    name: str
    dialect: str
    runs: Callable[[], Runs]
    calls: float
    decodes: float
    times: float


CEILINGS = (
    Ceiling("claude captures", "claude_stream", lambda: material.captured("claude_stream"), 18.9, 1.15, 1.1),
    Ceiling("claude deltas", "claude_stream", lambda: material.claude_deltas(SOME), 6.1, 1, 0.5),
    Ceiling("acp captures", "acp", lambda: material.captured("acp"), 26.4, 1.04, 1.8),
    Ceiling("acp chunks", "acp", lambda: material.acp_chunks(SOME), 4.1, 1, 0.55),
    Ceiling("acp diffs", "acp", lambda: material.acp_diffs(SOME), 28.1, 1, 2.1),
    Ceiling("codex exec captures", "codex_exec", lambda: material.captured("codex_exec"), 12.2, 1, 1.5),
    Ceiling("codex app captures", "codex_app", lambda: material.captured("codex_app"), 12, 1.01, 1.4),
    Ceiling("gemini captures", "gemini_stream", lambda: material.captured("gemini_stream"), 9.9, 1.02, 1.55),
)
REDACTION = 21.2
"""Calls of Python functions to redact a piece of a message."""
INSIGHTS = 48
"""Calls of Python functions that the insights view of a line takes beyond its plain conversion."""


@dataclass(frozen=True)
class Found:
    name: str
    what: str
    number: float
    ceiling: float

    @property
    def good(self) -> bool:
        return self.number <= self.ceiling

    def __str__(self) -> str:
        return f"{'ok ' if self.good else 'NO '} {self.name:20} {self.what:28} {self.number:8.2f}  ≤ {self.ceiling:.2f}"


def of_lines(ceiling: Ceiling) -> Iterator[Found]:
    runs = material.readable(ceiling.runs(), json.loads)
    lines = [line for run in runs for line in run]
    counts = counted(to_events(ceiling.dialect, runs))
    yield Found(ceiling.name, "calls a line", counts.calls / len(lines), ceiling.calls * MARGIN)
    yield Found(ceiling.name, "decodings a line", counts.decodes / len(lines), ceiling.decodes * MARGIN)
    ours, plain = side_by_side(
        lambda: to_events(ceiling.dialect, runs),
        lambda: lambda: [json.loads(line) for line in lines],
        budget=1,
    )
    yield Found(ceiling.name, "times json.loads", ours / plain, ceiling.times * WIDE)


def of_redaction() -> Found:
    [lines] = material.acp_chunks(SOME)
    redactor = FrameRedactor(Redactor(), "acp")
    frames = [Frame(n, "out", line) for n, line in enumerate(lines, 1)]
    calls = counted(lambda: [redactor.line(frame) for frame in frames]).calls
    return Found("redaction", "calls a line", calls / SOME, REDACTION * MARGIN)


def of_insights() -> Found:
    paths = converting.sources()

    def all_of(lines_of: Callable[[Path], Iterator[bytes]]) -> Work:
        return lambda: [line for path in paths for line in lines_of(path)]

    plain, view = (counted(all_of(way)).calls for way in (converting.plain_lines, converting.insights_lines))
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    return Found("insights view", "calls a line, over plain", (view - plain) / lines, INSIGHTS * MARGIN)


def found() -> Iterator[Found]:
    for ceiling in CEILINGS:
        yield from of_lines(ceiling)
    yield of_redaction()
    yield of_insights()


def main() -> int:
    good = True
    for one in found():
        print(one, flush=True)
        good = good and one.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
