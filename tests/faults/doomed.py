"""A program that drives an agent which leaves orphans, says when it does, and waits to be killed.

Arguments: a folder, the dialect, a mark for the agent's environment; `forked` if a child of this program, which
has a copy of all its pipes, shall outlive it for a while."""

import os
import sys
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))
from dragoman._model.events import Delta, Message
from tests.faults.fault_agent import DEADLINE, opened


def outlive() -> None:
    time.sleep(2 * DEADLINE)
    os._exit(0)


async def main(*args: str) -> None:
    folder, dialect, trace, *options = args
    session, _ = opened(Path(folder), dialect, "leaves_orphans", env={"TRACE": trace})
    async with session:
        async for event in session.events():
            if isinstance(event, Message | Delta) and event.text and event.text.endswith("ready"):
                break
        if "forked" in options and os.fork() == 0:
            outlive()
        print("ready", flush=True)
        await anyio.sleep_forever()


anyio.run(main, *sys.argv[1:])
