"""An agent whose stdout is a file: every byte arrives, as it is written, to the last one before the exit."""

import os
from pathlib import Path

import anyio
import pytest

from dragoman._model.events import Message, NativeInvalid, TurnEnded
from dragoman._runtime.process import stopping
from dragoman._runtime.process.pipes import follow
from tests.runtime.toy_dialect import ToyMachine, alone, toy_plan

pytestmark = pytest.mark.anyio


class OneTurn(ToyMachine):
    """An agent that has said its last word with the end of its turn."""

    def on_out(self, line: bytes) -> None:
        super().on_out(line)
        self.finished = not self.ledger.busy() and self.ledger.turn() == 1


async def test_a_file_is_read_as_it_grows(tmp_path: Path) -> None:
    taken: list[bytes] = []
    news, over = anyio.Event(), anyio.Event()

    def take(chunk: bytes) -> None:
        taken.append(chunk)
        news.set()

    with (tmp_path / "out").open("w+b", buffering=0) as file:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, file, take, over)
            os.write(file.fileno(), b"one\n")
            await news.wait()
            assert taken == [b"one\n"]
            os.write(file.fileno(), b"two")
            over.set()
    assert b"".join(taken) == b"one\ntwo"


@pytest.mark.parametrize("spool", [False, True])
async def test_everything_arrives(spool: bool) -> None:
    plan = toy_plan("writes.py", "text", "line:3000000", "lines:2000", "cut", one_shot=True, spool=spool)
    async with alone(plan) as session:
        events = [event async for event in session.events()]
    texts = [event.text or "" for event in events if isinstance(event, Message)]
    assert [len(text) for text in texts[:2]] == [5, 3_000_000]
    assert texts[2:] == [str(n) for n in range(2000)]
    assert len([event for event in events if isinstance(event, NativeInvalid)]) == 1
    assert session.exit is not None
    assert session.exit.code == 0


async def test_an_agent_that_said_its_last_word_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is helped to exit, and no reason of ours is put on record."""
    monkeypatch.setattr(stopping, "LAST_WORD_GRACE", 0.0)
    async with alone(toy_plan(machine=OneTurn())) as session:
        events = session.events()
        session.prompt("say hello")
        outcomes = [event.outcome async for event in events if isinstance(event, TurnEnded)]
    assert session.exit is not None
    assert session.exit.reason is None
    assert outcomes == ["completed"]
