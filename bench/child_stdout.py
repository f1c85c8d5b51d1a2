"""A child's stdout, from its pipe to `async for`: processor time of the reading process for one line."""

import asyncio
import subprocess
import time
from functools import cache
from typing import Any

from bench import drivers
from bench.clock import in_turns
from bench.row import Figures, Row, below, within

LINES = 10_000
CHUNK = 1 << 16


async def _ours(**options: Any) -> float:
    async with drivers.folder() as place, drivers.ours(place, **options) as session:
        await session.ready()
        start = time.process_time()
        count = 0
        async for _ in session.prompt(f"flood {LINES}"):
            count += 1
        seconds = time.process_time() - start
    assert count > LINES, "events were lost"
    return seconds


async def _recorded(redact: bool) -> float:
    async with drivers.folder() as place:
        return await _ours(record=place / "run.jsonl", redact=redact)


async def _theirs() -> float:
    from acp import text_block

    client = drivers.Client()
    async with drivers.folder() as place, drivers.theirs(place, client) as (connection, session):
        start = time.process_time()
        await connection.prompt(session_id=session, prompt=[text_block(f"flood {LINES}")])
        return time.process_time() - start


def _bare() -> float:
    """Nothing but reading the pipe and splitting what was read."""
    with subprocess.Popen(
        drivers.AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=drivers.ENVIRONMENT, bufsize=0
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(drivers.prompt_line(f"flood {LINES}"))
        child.stdin.close()
        start = time.process_time()
        count, rest = 0, b""
        while chunk := child.stdout.read(CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            count += len(lines)
        seconds = time.process_time() - start
    assert count == LINES + 1
    return seconds


@cache
def measured() -> dict[str, float]:
    """µs a line, of everyone who reads."""
    found = in_turns(
        lambda: asyncio.run(_ours()),
        lambda: asyncio.run(_recorded(redact=True)),
        lambda: asyncio.run(_recorded(redact=False)),
        lambda: asyncio.run(_theirs()),
        _bare,
        rounds=5,
    )
    names = ("ours", "redacted", "recorded", "theirs", "bare")
    return {name: seconds / LINES * 1e6 for name, seconds in zip(names, found, strict=True)}


def read() -> Figures:
    found = measured()
    return Figures(found["ours"], found["theirs"], found["bare"])


def recorded(how: str) -> Figures:
    found = measured()
    return Figures(found[how], found["ours"])


US = "µs a line"
ROWS = (
    Row(
        "stdout",
        "child's stdout → async for (250 k lines/s)",
        "agent-client-protocol",
        US,
        below(4, US),
        read,
    ),
    Row(
        "recording",
        "recorded and redacted",
        "unrecorded",
        US,
        within(1.3),
        lambda: recorded("redacted"),
    ),
    Row(
        "recording-plain",
        "recorded as it is",
        "unrecorded",
        US,
        within(1.3),
        lambda: recorded("recorded"),
    ),
)
