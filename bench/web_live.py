"""Fifty live sessions that a server drives, at twenty updates a second each, with the page open on them.

For half of the time it shows the list of them, then one of them. The peer is asyncio alone: pipes, `readline` and
`json.loads`.
"""

import asyncio
import json
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.browser.serving import Served

from bench import browser, drivers, web_server
from bench.row import Figures, Row, below

SESSIONS, RATE, SECONDS = 50, 20, 20
ORDER = f"work {RATE} 600"
AGENT = "cagent"
"""One that speaks ACP: ours takes its place."""


class Found(NamedTuple):
    longest: float
    """Milliseconds that a task of the page took."""
    cores: float
    """Processor time of the server in that of the clock."""


@cache
def measured() -> Found:
    with TemporaryDirectory() as name:
        home = Path(name)
        with web_server.served(home, _agent(home)) as server, browser.page() as page:
            begun = [_begun(server, home) for _ in range(SESSIONS)]
            page.goto(server.link())
            return _watched(server, page, begun[0])


def _agent(home: Path) -> Path:
    program = home / "bin" / AGENT
    program.parent.mkdir()
    agent = Path(__file__).with_name("agent.py")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{agent}"\n')
    program.chmod(0o755)
    return program


def _begun(server: Served, home: Path) -> str:
    begun: dict[str, str] = server.client.post(
        "sessions", agent=AGENT, prompt=ORDER, cwd=str(home), approve="all"
    )
    return begun["run"]


def _watched(server: Served, page: Any, run: str) -> Found:
    live = page.get_by_role("region", name="Running now").get_by_role("listitem").filter(has_text="working")
    live.nth(SESSIONS - 1).wait_for()
    begun, used, looked = time.monotonic(), web_server.processor_time(server), browser.now(page)
    page.wait_for_timeout(SECONDS / 2 * 1e3)
    assert live.count() == SESSIONS, "agents have ended"
    page.evaluate("(place) => (location.hash = place)", f"#/session/{run}")
    blocks = page.get_by_role("main").get_by_role("group")
    blocks.first.wait_for()
    seen = blocks.count()
    page.wait_for_timeout(SECONDS / 2 * 1e3)
    assert blocks.count() > seen, "the session is not followed"
    cores = (web_server.processor_time(server) - used) / (time.monotonic() - begun)
    return Found(browser.longest_task(page, looked), cores)


async def _plain_asyncio() -> float:
    """Processor time of who reads as much and does nothing with it, in that of the clock."""

    async def one() -> None:
        process = await drivers.started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(drivers.prompt_line(f"work {RATE} {SECONDS}"))
        while "id" not in json.loads(await process.stdout.readline()):
            pass
        process.stdin.close()
        await process.wait()

    begun, used = time.monotonic(), time.process_time()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(SESSIONS):
            tasks.create_task(one())
    return (time.process_time() - used) / (time.monotonic() - begun)


TITLE = f"{SESSIONS} live sessions, {RATE} updates/s each"
ROWS = (
    Row(
        "web-live-page",
        f"{TITLE}: the page's longest task",
        "",
        "ms",
        below(200, "ms"),
        lambda: Figures(measured().longest),
    ),
    Row(
        "web-live-server",
        f"{TITLE}: the server's processor time",
        "plain asyncio",
        "cores",
        below(1, "cores"),
        lambda: Figures(measured().cores, asyncio.run(_plain_asyncio())),
    ),
)
