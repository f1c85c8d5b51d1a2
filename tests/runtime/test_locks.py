"""One run at a time for each session, in the order in which they came, whoever dies on the way."""

import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from dragoman._agents import claude
from dragoman._model.config import SessionConfig
from dragoman._model.errors import SessionNotFound, TimedOut
from dragoman._runtime.connection import CalledOff
from dragoman._runtime.locks import SessionLocks, Ticket, draw, state_directory
from dragoman.api import connect, open
from tests.runtime.lock_users import NAME
from tests.runtime.toy_agent import PLURAL, TOY

pytestmark = pytest.mark.anyio

USERS = Path(__file__).with_name("lock_users.py")
LONG = 120.0
"""Seconds after which something hangs that should not."""


@pytest.fixture(autouse=True)
def _fresh_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def tickets() -> list[str]:
    return sorted(
        str(path) for path in state_directory().rglob("*") if path.is_file() and path.name != "arrivals"
    )


@contextmanager
def user(what: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that has the session, and the first thing that it says."""
    with subprocess.Popen(
        [sys.executable, str(USERS), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


async def enter(ticket: Ticket, log: list[int]) -> None:
    await ticket.turn()
    log.append(ticket.number)
    ticket.leave()


# --- tickets -----------------------------------------------------------------------------------------------


def test_a_hundred_processes_run_one_after_another(tmp_path: Path) -> None:
    """In the order of their tickets; each gets its turn, and none meets another one."""
    command = [sys.executable, str(USERS), "race", "100", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert (result.returncode, result.stderr) == (0, "")
    numbers = [int(line) for line in (tmp_path / "log").read_text().split()]
    assert (len(numbers), numbers) == (100, sorted(numbers))
    assert tickets() == []


async def test_the_order_is_that_of_arrival() -> None:
    first, *others = drawn = [draw(NAME) for _ in range(20)]
    log: list[int] = []
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as group:
            for ticket in random.Random(7).sample(others, 19):
                group.start_soon(enter, ticket, log)
            await wait_all_tasks_blocked()
            assert log == []
            await enter(first, log)
    assert log == [ticket.number for ticket in drawn]


async def test_sessions_do_not_wait_for_each_other() -> None:
    one, two = draw("claude:one"), draw("claude:two")
    with anyio.fail_after(LONG):
        await one.turn()
        await two.turn()
    for ticket in (one, two):
        ticket.leave()


async def test_the_death_of_the_holder_frees_the_session() -> None:
    with user("hold") as (holder, said):
        assert said == "held"
        ticket = draw(NAME)
        assert len(ticket.ahead()) == 1
        holder.send_signal(signal.SIGKILL)
        with anyio.fail_after(LONG):
            await ticket.turn()
    ticket.leave()


async def test_the_ticket_of_a_dead_owner_is_swept_away() -> None:
    with user("hold") as (holder, _):
        [left] = tickets()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert tickets() == [left]
        ticket = draw("claude:another")
        assert left not in tickets()
        ticket.leave()


async def test_a_forked_child_does_not_keep_the_lock() -> None:
    with user("fork") as (owner, child):
        try:
            ticket = draw(NAME)
            owner.send_signal(signal.SIGKILL)
            with anyio.fail_after(LONG):
                await ticket.turn()
            os.kill(int(child), 0)  # it lives on
            ticket.leave()
        finally:
            os.kill(int(child), signal.SIGKILL)


async def test_who_gives_up_its_place_lets_nobody_past_the_first() -> None:
    first, second, third = (draw(NAME) for _ in range(3))
    log: list[int] = []
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as group:
            second.leave()
            group.start_soon(enter, third, log)
            await wait_all_tasks_blocked()
            assert log == []
            first.leave()
    assert log == [third.number]


async def test_giving_back_twice_does_no_harm() -> None:
    first = draw(NAME)
    first.leave()
    second = draw(NAME)  # has the same file descriptor now
    first.leave()
    third = draw(NAME)
    assert len(third.ahead()) == 1
    for ticket in (second, third):
        ticket.leave()


async def test_numbers_go_on_where_the_count_is_lost() -> None:
    first = draw(NAME)
    (state_directory() / "arrivals").write_text("rubbish")
    second = draw(NAME)
    assert second.number > first.number
    for ticket in (first, second):
        ticket.leave()


async def test_the_tickets_of_other_sessions_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [draw(f"claude:{number}") for number in range(50)]
    seen: list[str] = []
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: seen.extend(listed(path)) or listed(path))
    last = draw(NAME)
    assert last.ahead() == []
    assert seen == [str(last.number)]
    for ticket in (*others, last):
        ticket.leave()


# --- what is locked ----------------------------------------------------------------------------------------


def test_claude_knows_the_id_of_a_new_session_before_it_starts() -> None:
    def plan(**fields: Any) -> Any:
        return claude.plan(SessionConfig(agent="claude", **fields), "/bin/claude", "claude_stream")

    for made in (plan(), plan(resume="old", fork=True)):
        assert made.argv[made.argv.index("--session-id") + 1] == made.session
    assert plan(resume="old").session is None


def test_the_state_directory_must_be_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for odd in ("", "relative/path"):
        monkeypatch.setenv("XDG_STATE_HOME", odd)
        assert state_directory() == Path("/home/me/.local/state/dragoman/locks")


# --- runs --------------------------------------------------------------------------------------------------


async def use(log: list[str], what: str, **fields: Any) -> None:
    async with open(TOY, **fields):
        log.append(what)


async def test_a_resumed_session_is_waited_for() -> None:
    log: list[str] = []
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as group, open(TOY, resume="s-1"):
            group.start_soon(lambda: use(log, "second", resume="s-1"))
            await use(log, "one that waits for nobody")
            await wait_all_tasks_blocked()
            log.append("first")
    assert log == ["one that waits for nobody", "first", "second"]
    assert tickets() == []


async def test_a_new_session_is_locked_as_soon_as_it_has_a_name() -> None:
    async with open(TOY) as session:
        async for _ in session.prompt("say hello"):
            pass
        assert session.id == "s-1"
        ticket = draw("toy:s-1")
        assert len(ticket.ahead()) == 1
    assert ticket.ahead() == []
    ticket.leave()


async def test_a_session_of_several_is_locked_until_it_is_closed() -> None:
    other = draw("toy:old")
    with anyio.fail_after(LONG):
        async with connect(PLURAL) as agent, anyio.create_task_group() as group:

            async def resume() -> None:
                async with await agent.session(resume="old"):
                    assert len(tickets()) == 1
                assert tickets() == []

            group.start_soon(resume)
            await wait_all_tasks_blocked()
            assert agent.sessions == {}
            other.leave()


async def test_a_session_that_cannot_be_opened_is_not_locked() -> None:
    with anyio.fail_after(LONG):
        async with connect(PLURAL) as agent:
            with pytest.raises(SessionNotFound):
                await agent.session(resume="unknown")
            assert tickets() == []


async def test_a_copy_does_not_lock_what_it_copies() -> None:
    original = draw("toy:original")
    with anyio.fail_after(LONG):
        async with open(TOY, resume="original", fork=True):
            assert [name for name in tickets() if name.endswith(f"/{original.number}")] == tickets()[:1]
            later = draw("toy:original")
            assert len(later.ahead()) == 1
    for ticket in (original, later):
        ticket.leave()


async def test_nobody_waits_who_does_not_want_to() -> None:
    other = draw("toy:s-1")
    with anyio.fail_after(LONG):
        async with open(TOY, resume="s-1", serialize=False):
            assert len(tickets()) == 1
    other.leave()


async def test_the_time_limit_counts_for_waiting_too(tmp_path: Path) -> None:
    other = draw("toy:s-1")
    with pytest.raises(
        TimedOut, match=rf"waited 0.01 s: process {os.getpid()} is at work in session s-1 of toy"
    ):
        async with open(TOY, resume="s-1", timeout=0.01, record=tmp_path / "record"):
            pytest.fail("it did not wait")
    assert len(tickets()) == 1
    other.leave()


async def test_waiting_can_be_stopped(tmp_path: Path) -> None:
    other = draw("toy:s-1")
    session = open(TOY, resume="s-1", record=tmp_path / "record")

    async def wait() -> None:
        with pytest.raises(CalledOff, match="stopped before toy was started"):
            await session.__aenter__()

    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await wait_all_tasks_blocked()
            await session.stop("cancelled")
    assert len(tickets()) == 1
    other.leave()


async def test_waiting_can_be_cancelled() -> None:
    other = draw("toy:s-1")
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: use([], "never", resume="s-1"))
            await wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    assert len(tickets()) == 1
    other.leave()


async def test_an_agent_that_does_not_start_leaves_no_lock(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.touch(0o600)
    with pytest.raises(Exception, match="may not be executed"):
        await use([], "never", resume="s-1", executable=program)
    assert tickets() == []


async def test_without_a_place_for_locks_there_is_a_warning_and_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    log: list[str] = []
    with caplog.at_level(logging.WARNING, "dragoman"):
        await use(log, "it runs", resume="s-1")
    assert log == ["it runs"]
    assert "session s-1 of toy is not locked" in caplog.text


async def test_an_overlap_that_could_not_be_avoided_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Only the agent knew which session this is."""
    other = draw("toy:s-1")
    locks = SessionLocks("toy")
    with caplog.at_level(logging.WARNING, "dragoman"):
        locks.hold("s-1")
    assert f"process {os.getpid()} is at work in session s-1 of toy too" in caplog.text
    locks.end()
    other.leave()
