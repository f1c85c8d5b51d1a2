"""A thousand sessions on one connection: the last must cost what the first did."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import NamedTuple

import dragoman
from bench import drivers
from bench.row import Figures, Row, within

SESSIONS, SOME, LINES, ROUNDS = 1_000, 100, 5_000, 3


class Found(NamedTuple):
    """Processor time: milliseconds for opening one of the first and of the last, microseconds for a line while one
    session is open and while all are."""

    first: float
    last: float
    line_of_one: float
    line_of_all: float


async def _measured() -> Found:
    async with (
        drivers.folder() as place,
        dragoman.connect(
            "acp", extra_args=drivers.AGENT, cwd=place, inherit_env=False, env=drivers.ENVIRONMENT
        ) as connection,
    ):

        async def opening(number: int) -> None:
            for _ in range(number):
                await connection.session()

        first = await connection.session()
        line_of_one = await _best(partial(_flood, first))
        opened = await _seconds(partial(opening, SOME))
        await opening(SESSIONS - 2 * SOME - 1)
        opened_last = await _seconds(partial(opening, SOME))
        line_of_all = await _best(partial(_flood, first))
    each = 1e3 / SOME
    return Found(opened * each, opened_last * each, line_of_one / LINES * 1e6, line_of_all / LINES * 1e6)


async def _flood(session: dragoman.Session) -> None:
    async for _ in session.prompt(f"flood {LINES}"):
        pass


async def _best(work: Callable[[], Awaitable[None]]) -> float:
    return min([await _seconds(work) for _ in range(ROUNDS)])


async def _seconds(work: Callable[[], Awaitable[None]]) -> float:
    start = time.process_time()
    await work()
    return time.process_time() - start


@cache
def measured() -> Found:
    return asyncio.run(_measured())


ROWS = (
    Row(
        "sessions-opening",
        f"{SESSIONS:,} sessions on one connection: opening one of the last {SOME}",
        f"of the first {SOME}",
        "ms",
        within(1.5),
        lambda: Figures(measured().last, measured().first),
    ),
    Row(
        "sessions-flood",
        f"a line while {SESSIONS:,} sessions are open",
        "while one is",
        "µs a line",
        within(1.5),
        lambda: Figures(measured().line_of_all, measured().line_of_one),
    ),
)
