"""A thousand agents held at once: what one of them costs us, over what one of a hundred does.

All are opened, then each takes a turn, then all are closed. The agent is a shell script, so that a thousand of them fit.
"""

import asyncio
import os
import time
from pathlib import Path

import dragoman
from bench import drivers
from bench.many_agents import Gate
from bench.row import Figures, Row, within

FEW, MANY = 100, 1_000
SCRIPT = r"""#!/bin/sh
while [ "$1" != --session-id ]; do shift; done
s="\"session_id\":\"$2\""
while read -r line; do
    case $line in *'"type":"user"'*)
        m='"message":{"id":"m-1","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}]}'
        printf '%s\n' "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/x\",\"tools\":[],\"model\":\"m\",$s}" \
            "{\"type\":\"assistant\",$m,\"parent_tool_use_id\":null,$s}" \
            "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"hello\",\"num_turns\":1,$s}"
    esac
done
"""


async def _cost(number: int) -> float:
    """Milliseconds of our processor time for one agent, from its opening to its end."""
    async with drivers.folder() as place:
        script = place / "agent"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        opened, done = Gate(number), Gate(number)
        start = time.process_time()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(number):
                tasks.create_task(_live(script, opened, done))
        return (time.process_time() - start) / number * 1e3


async def _live(script: Path, opened: Gate, done: Gate) -> None:
    environment = {"PATH": os.defpath, "HOME": str(script.parent)}
    async with dragoman.open(
        "claude", executable=script, cwd=script.parent, inherit_env=False, env=environment
    ) as session:
        await opened.all_here()
        said = [event async for event in session.prompt("hello")]
        assert isinstance(said[-1], dragoman.TurnEnded)
        await done.all_here()


def held() -> Figures:
    few, many = asyncio.run(_cost(FEW)), asyncio.run(_cost(MANY))
    return Figures(many, few)


ROWS = (Row("agents-held", f"{MANY:,} agents held: one of them", f"one of {FEW}", "ms", within(1.5), held),)
