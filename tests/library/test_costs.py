"""What an agent says that its turns cost is shared among their calls: all of it, once, and marked as its own."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman._library.library import Library
from dragoman._library.sessions import Filter
from dragoman._library.usage import Sums, usage
from dragoman._model.events import TurnEnded
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import spent
from tests.golden import CAPTURES
from tests.library import corpus


def totals(library: Library) -> Sums:
    return usage(library.db, Filter(), "day", Prices()).totals


def lines_of(capture: Path) -> list[bytes]:
    """What the agent said."""
    if (capture / "stdout.jsonl").exists():
        return (capture / "stdout.jsonl").read_bytes().splitlines()
    frames = map(json.loads, (capture / "frames.jsonl").read_bytes().splitlines())
    return [frame["line"].encode() for frame in frames if frame.get("dir") == "out" and "line" in frame]


def costs_of(capture: Path) -> list[float]:
    """What its turns cost, as the agent says."""
    events = map(json.loads, (capture / "events.jsonl").read_bytes().splitlines())
    return [
        event["cost_usd"]
        for event in events
        if (event["type"] == "turn.ended" or event.get("scope") == "turn")
        and (event.get("cost_usd") or 0) > 0
    ]


def record(library: Library, lines: list[bytes], started: str | None = None, seconds: float = 0.0) -> None:
    """A run, whose results came so many seconds after all the rest."""
    header = {"dragoman": "recording/1", "agent": "claude", "dialect": "claude_stream"}
    frames = [
        {
            "dir": "out",
            "t": seconds if started is not None and b'"type":"result"' in line else 0.0,
            "line": line.decode(errors="replace"),
        }
        for line in lines
    ]
    if started is not None:
        header["started"] = started
    library.recordings.mkdir(parents=True, exist_ok=True)
    rows = [header, *frames, {"exit": {"code": 0}}]
    (library.recordings / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


PAID = sorted(
    path.parent.relative_to(CAPTURES).as_posix()
    for path in CAPTURES.glob("claude_stream/*/*/events.jsonl")
    if costs_of(path.parent)
)


@pytest.mark.parametrize("capture", PAID)
def test_all_that_is_said_is_shared(library: Library, capture: str) -> None:
    """Also what a compaction cost, a turn of the agent's own, or a subagent's answer that the stream leaves out."""
    record(library, lines_of(CAPTURES / capture))
    library.sync()
    assert totals(library).cost_usd == pytest.approx(sum(costs_of(CAPTURES / capture)), abs=1e-12)


BOTH = ["2.1.197/subagent", "2.1.197/tools_basic", "2.1.325/parallel_tools"]
"""Runs of one turn, of which there is what it said and what its agent kept."""


@pytest.mark.parametrize("first", ["disk", "recording"])
@pytest.mark.parametrize("run", BOTH)
def test_a_recording_and_a_file_of_one_session(library: Library, home: Path, run: str, first: str) -> None:
    """The file tells more calls than the recording, and the cost is that of all of them."""
    capture, kept = CAPTURES / "claude_stream" / run, CAPTURES / "claude_transcript" / run
    [cost] = costs_of(capture)
    times = [
        datetime.fromisoformat(line["timestamp"])
        for path in kept.glob("*.jsonl")
        if path.name != "events.jsonl"
        for line in map(json.loads, path.read_bytes().splitlines())
        if line.get("timestamp")
    ]
    started = datetime.fromtimestamp(min(times).timestamp() - 1, UTC)
    seconds = (max(times) - started).total_seconds() + 1
    for source in (first, {"disk": "recording", "recording": "disk"}[first]):
        if source == "disk":
            corpus.place(home, "claude", kept / "session.jsonl")
        else:
            record(library, lines_of(capture), started.isoformat(), seconds)
        library.sync()
    told = totals(library)
    assert (told.sessions, told.unpriced_calls, told.cost_estimated_usd) == (1, 0, None)
    assert told.cost_usd == pytest.approx(cost, abs=1e-12)
    library.rebuild()
    assert totals(library) == told


def test_a_file_alone_is_estimated_as_its_agent_says(library: Library, home: Path) -> None:
    run = BOTH[0]
    corpus.place(home, "claude", CAPTURES / "claude_transcript" / run / "session.jsonl")
    library.sync()
    told = totals(library)
    assert told.cost_usd is None
    assert told.cost_estimated_usd == pytest.approx(sum(costs_of(CAPTURES / "claude_stream" / run)))


def test_a_call_that_costs_nothing_by_its_agent_is_estimated(library: Library) -> None:
    """It says 0 of a turn that was killed, and leaves its tokens out (capture kill_sigint_stream)."""
    record(library, lines_of(CAPTURES / "claude_stream/2.1.325/kill_sigint_stream"))
    library.sync()
    told = totals(library)
    assert (told.calls, told.cost_usd) == (1, None)
    assert (told.cost_estimated_usd or 0) > 0


CALLS = {
    "claude": "claude_transcript/2.1.325/bidi_controls",
    "codex": "codex_rollout/0.166.0/basic",
    "gemini": "gemini_chat/0.61.0/text",
}


@pytest.mark.parametrize("agent", CALLS)
def test_a_limit_counts_what_usage_says(library: Library, home: Path, agent: str) -> None:
    """The same calls, with their tiers and their cache writes, one by one."""
    corpus.place(home, agent, CAPTURES / CALLS[agent] / "session.jsonl")
    library.sync()
    told = totals(library)
    events = [event for session in library.sessions() for event in library.events(session)]
    unsaid = [event for event in events if not isinstance(event, TurnEnded)]
    limit = spent(unsaid, Prices())
    assert (limit.reported, limit.unpriced) == (None, told.unpriced_calls)
    assert limit.estimated == pytest.approx((told.cost_usd or 0) + (told.cost_estimated_usd or 0))
