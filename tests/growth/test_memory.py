"""A session of a million events stays within 64 MB over its start. Minutes under load: `make test-slow`."""

import sys
from pathlib import Path

import psutil
import pytest

import dragoman

AGENT = Path(__file__).parents[2] / "bench" / "agent.py"
TURNS, PIECES = 250, 4_000
MOST = 64 << 20

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_million_events(tmp_path: Path) -> None:
    """In turns of a long message each, listened to by one who keeps nothing, and recorded."""
    process, events, most = psutil.Process(), 0, 0
    command = [sys.executable, "-I", "-S", str(AGENT)]
    async with dragoman.open(
        "acp", extra_args=command, cwd=tmp_path, record=tmp_path / "run.jsonl"
    ) as session:
        await session.ready()
        async for _ in session.prompt(f"flood {PIECES}"):  # what is made but once
            events += 1
        start = process.memory_info().rss
        for _ in range(TURNS - 1):
            async for _ in session.prompt(f"flood {PIECES}"):
                events += 1
            most = max(most, process.memory_info().rss - start)
    assert events > 1_000_000
    assert most < MOST
