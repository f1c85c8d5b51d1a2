"""A run of an agent that writes a lot, in a process of its own: prints how much memory that took, and its outcome.

Arguments: a folder, the dialect, the fault, how many bytes."""

import json
import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))
from dragoman._files.recording import rows
from dragoman._model.events import TurnEnded
from dragoman._model.frames import Frame
from tests.faults.fault_agent import CONVERSING, opened


def peak() -> int:
    """The most memory that this program has had so far, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


async def main(where: str, dialect: str, fault: str, size: str) -> None:
    folder = Path(where)
    session, ledger = opened(folder, dialect, fault, int(size))
    before = peak()
    async with session:
        stream = session.events()
        async for event in stream:
            if isinstance(event, TurnEnded) and dialect in CONVERSING:
                break
    assert session.result is not None
    report = {"memory": peak() - before, "outcome": session.result.outcome, "said": ledger.read_text()}
    recorded = {"out": 0, "err": 0, "in": 0, "note": 0}
    with (folder / "recording").open("rb") as file:
        for row in rows(file):
            if isinstance(row, Frame):
                recorded[row.dir] += len(row.line) + row.eol
    print(json.dumps({**report, "recorded": recorded}))


anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4])
