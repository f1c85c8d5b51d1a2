"""Many agents in one process: how late their events come, and what it takes to close them all.

Each agent writes the time at which it writes. The peer is asyncio alone: pipes, `readline` and `json.loads`.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import NamedTuple

import dragoman
from bench import drivers
from bench.row import Figures, Row, below

AGENTS, RATE, SECONDS = 200, 4, 8
ORDER = f"tick {RATE} {SECONDS}"


class Found(NamedTuple):
    """Milliseconds from the agent's clock to who reads, and seconds to close all."""

    p50: float
    p99: float
    closing: float


class Gate:
    """Where all wait for the last of them."""

    def __init__(self, number: int) -> None:
        self._missing = number
        self._open = asyncio.Event()

    async def all_here(self) -> None:
        self._missing -= 1
        if not self._missing:
            self._open.set()
        await self._open.wait()


class Watch:
    """How late events were, and when the closing began."""

    def __init__(self, number: int) -> None:
        self.opened, self.done = Gate(number), Gate(number)
        self.late: list[float] = []
        self.closing = 0.0

    def hear(self, text: str) -> None:
        self.late.append((time.monotonic() - float(text)) * 1e3)

    async def wait_for_all(self) -> None:
        await self.done.all_here()
        self.closing = self.closing or time.monotonic()


async def watched(agent: Callable[[Watch], Awaitable[None]], number: int = AGENTS) -> Found:
    watch = Watch(number)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(number):
            tasks.create_task(agent(watch))
    took = time.monotonic() - watch.closing
    late = sorted(watch.late)
    assert len(late) == number * RATE * SECONDS, "events were lost"
    return Found(late[len(late) // 2], late[len(late) * 99 // 100], took)


async def _ours() -> Found:
    async with drivers.folder() as place:

        async def one(watch: Watch) -> None:
            async with drivers.ours(place) as session:
                await session.ready()
                await watch.opened.all_here()
                async for event in session.prompt(ORDER):
                    if isinstance(event, dragoman.Delta):
                        watch.hear(event.text)
                await watch.wait_for_all()

        return await watched(one)


async def _plain_asyncio() -> Found:
    async def one(watch: Watch) -> None:
        process = await drivers.started()
        assert process.stdin is not None
        assert process.stdout is not None
        await watch.opened.all_here()
        process.stdin.write(drivers.prompt_line(ORDER))
        while "id" not in (message := json.loads(await process.stdout.readline())):
            watch.hear(message["params"]["update"]["content"]["text"])
        await watch.wait_for_all()
        process.stdin.close()
        await process.wait()

    return await watched(one)


@cache
def measured() -> tuple[Found, Found]:
    return asyncio.run(_ours()), asyncio.run(_plain_asyncio())


def found(name: str) -> Figures:
    ours, plain = measured()
    return Figures(getattr(ours, name), getattr(plain, name))


TITLE = f"{AGENTS} agents, {RATE} events/s each"
ROWS = (
    Row("agents-p50", f"{TITLE}: p50", "plain asyncio", "ms", below(50, "ms"), partial(found, "p50")),
    Row("agents-p99", f"{TITLE}: p99", "plain asyncio", "ms", below(50, "ms"), partial(found, "p99")),
    Row(
        "agents-closing",
        f"{AGENTS} agents: closing all",
        "plain asyncio",
        "s",
        below(2, "s"),
        partial(found, "closing"),
    ),
)
