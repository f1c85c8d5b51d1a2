"""A program that has a program started, by an agent or in a terminal, says `up` when that is there, and waits to be
killed.

Arguments: a folder; `agent` or `terminal`; the program that shall be started."""

import os
import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))
from dragoman._model.events import Message
from dragoman._runtime.host.files import Files
from dragoman._runtime.host.terminals import Terminals
from tests.runtime.toy_dialect import alone, toy_plan


async def by_an_agent(folder: str, program: list[str]) -> None:
    plan = toy_plan("begets.py", *program, cwd=folder, env={"PATH": os.environ["PATH"]})
    async with alone(plan) as session:
        async for event in session.events():
            if isinstance(event, Message):
                print(event.text, flush=True)


async def in_a_terminal(folder: str, program: list[str]) -> None:
    host = Terminals(Files([folder]), {"PATH": os.environ["PATH"]})
    async with anyio.create_task_group() as tasks:
        terminal = host.create(program[0], program[1:], env={})
        tasks.start_soon(terminal.live)
        while "up" not in terminal.output()["output"]:  # noqa: ASYNC110 - it is there to be polled
            await anyio.sleep(0.01)
        print("up", flush=True)


if __name__ == "__main__":
    folder, place, *program = sys.argv[1:]
    anyio.run({"agent": by_an_agent, "terminal": in_a_terminal}[place], os.path.abspath(folder), program)
