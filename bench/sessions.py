"""What a session costs when there are many in one process, as ratios within one run: `make bench`.

All are opened at once, then each takes a turn, then all are closed. The agent is a shell script, so that what is
measured is our part of it. The cost of a session must not depend on how many there are.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from anyio.abc import TaskStatus

import dragoman
from dragoman import Session

NUMBERS = (25, 50, 100, 200)
ROUNDS = 3
TICK = 0.005
AGENT = r"""#!/bin/sh
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

Cost = dict[str, tuple[float, ...]]
"""For each phase: seconds by the clock, and of our processor time, for one session; and how many anything else had to
wait for its turn, in 99 of 100 cases."""


class Gate:
    """Where all wait for the last of them, and for the gate to be opened."""

    def __init__(self, number: int) -> None:
        self._missing = number
        self._all = anyio.Event()
        self._open = anyio.Event()

    async def pass_through(self) -> None:
        self._missing -= 1
        if not self._missing:
            self._all.set()
        await self._open.wait()

    async def all_there(self) -> None:
        await self._all.wait()

    def open(self) -> None:
        self._open.set()


async def live(
    session: Session, before_turn: Gate, before_close: Gate, *, task_status: TaskStatus[None]
) -> None:
    async with session:
        task_status.started()
        await before_turn.pass_through()
        async for _ in session.prompt("hello"):
            pass
        await before_close.pass_through()


async def look(late: list[float]) -> None:
    """How much later than it should anything else gets its turn, again and again."""
    while True:
        due = time.perf_counter() + TICK
        await anyio.sleep(TICK)
        late.append(time.perf_counter() - due)


async def measured(number: int, agent: Path) -> Cost:
    cost: Cost = {}
    late: list[float] = []
    began = time.perf_counter(), time.process_time()

    def over(phase: str) -> None:
        nonlocal began
        clock, processor = began
        began = time.perf_counter(), time.process_time()
        worst = sorted(late)[len(late) * 99 // 100] if late else 0.0
        late.clear()
        cost[phase] = (began[0] - clock) / number, (began[1] - processor) / number, worst

    before_turn, before_close = Gate(number), Gate(number)
    async with anyio.create_task_group() as others:
        others.start_soon(look, late)
        async with anyio.create_task_group() as tasks:
            for _ in range(number):
                session = dragoman.open(
                    "claude",
                    executable=agent,
                    cwd=agent.parent,
                    inherit_env=False,
                    env={"PATH": os.defpath, "HOME": str(agent.parent)},
                )
                await tasks.start(live, session, before_turn, before_close)
            await before_turn.all_there()
            over("open")
            before_turn.open()
            await before_close.all_there()
            over("turn")
            before_close.open()
        over("close")
        others.cancel_scope.cancel()
    return cost


def best(rounds: list[Cost]) -> Cost:
    phases = rounds[0]
    return {phase: tuple(map(min, zip(*(cost[phase] for cost in rounds), strict=True))) for phase in phases}


def show(number: int, cost: Cost, unit: Cost) -> None:
    print(f"{number} sessions in one process")
    for phase, (clock, processor, worst) in cost.items():
        print(
            f"  {phase:6} {clock * 1e3:6.2f} ms each {clock / unit[phase][0]:5.2f} ×"
            f"   {processor * 1e3:6.2f} ms of processor {processor / unit[phase][1]:5.2f} ×"
            f"   others waited {worst * 1e3:5.0f} ms"
        )


def main() -> int:
    with TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        agent = Path(folder) / "agent"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        anyio.run(measured, 5, agent)
        unit: Cost | None = None
        for number in NUMBERS:
            cost = best([anyio.run(measured, number, agent) for _ in range(ROUNDS)])
            unit = unit or cost
            show(number, cost, unit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
