"""Files to lines of events, and of a view of them, as `dragoman convert` does it."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.clock import side_by_side
from bench.material import CAPTURES
from bench.row import Figures, Row, within
from dragoman._cli.terminal.view_options import view_lines
from dragoman._files.convert import convert
from dragoman._wire.event_json import encode


def sources() -> list[Path]:
    return sorted(CAPTURES.glob("claude_stream/*/*/stdout.jsonl"))


def plain_lines(path: Path) -> Iterator[bytes]:
    return (encode(event) + b"\n" for event in convert(path))


def insights_lines(path: Path) -> Iterator[bytes]:
    """The view repeats the agent's own lines, so that the events have to have them."""
    return view_lines(convert(path, native=True), "insights")


def insights() -> Figures:
    """ms for all captures of Claude Code's."""
    paths = sources()

    def work(lines_of: Callable[[Path], Iterator[bytes]]) -> int:
        return sum(len(line) for path in paths for line in lines_of(path))

    plain, view = side_by_side(lambda: lambda: work(plain_lines), lambda: lambda: work(insights_lines))
    return Figures(view * 1e3, plain * 1e3)


ROWS = (
    Row("insights", "insights view over plain conversion", "our own events", "ms", within(1.3), insights),
)
