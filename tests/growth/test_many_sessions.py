"""What a session costs when there are many: on one connection, and among the locks."""

from pathlib import Path

import pytest

from dragoman._runtime.connection import Connection
from dragoman._runtime.locks import SessionLocks
from tests.growth.counting import steps
from tests.interpreted import line
from tests.runtime.toy_dialect import MANY as PLURAL
from tests.runtime.toy_dialect import toy_plan

FEW, MANY = 8, 64


@pytest.mark.anyio
async def test_a_line_takes_as_many_steps_beside_many_sessions(tmp_path: Path) -> None:
    taken = []
    async with Connection(toy_plan("plural.py", capabilities=PLURAL)) as connection:
        first, run = await connection.session(tmp_path), connection._run
        listener = first.events()
        said = line({"type": "text", "session": first.id, "text": "hello"})
        for number in (FEW, MANY):
            while len(connection.sessions) < number:
                await connection.session(tmp_path)
            listener.drain()
            # as the run takes in what it reads, without the pipe: how much is read at once is the system's affair
            taken.append(steps(lambda: run._publish(run._pass("out", [said], 0.5))))
            assert len(listener.drain()) == 1
    assert taken[1] <= taken[0] * 1.25


def test_a_lock_takes_as_many_steps_beside_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    locks = SessionLocks("tester")
    taken = []
    for number in (FEW, MANY):
        while len(locks._tickets) < number:
            locks.hold(f"session-{len(locks._tickets)}")
        taken.append(steps(lambda: locks.hold("one more")))
        locks.release("one more")
    locks.end()
    assert taken[1] <= taken[0] * 1.25
