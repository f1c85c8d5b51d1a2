"""Who belongs to a program, and what becomes of them when it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman._model.events import Message
from dragoman._runtime import run as run_module
from dragoman._runtime.process import child as child_module
from dragoman._runtime.process import descendants
from dragoman._runtime.process.descendants import MARK, Descendants
from tests.runtime.test_stopping import alive, text
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio

SLEEPS = ["sleep", "600"]


def test_a_later_process_with_the_same_pid_is_another() -> None:
    sleeper = subprocess.Popen(SLEEPS)
    [member] = [member for member in Descendants(os.getpid()).seen() if member[0] == sleeper.pid]
    stranger = Descendants()
    stranger.known = {(member[0], member[1] - 1)}
    assert not stranger.press(signal.SIGKILL)
    assert sleeper.poll() is None
    stranger.known = {member}
    assert stranger.press(signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL


def test_who_is_found_by_psutil_is_found_by_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {**os.environ, MARK: "here"}
    sleeper = subprocess.Popen(SLEEPS, env=environ, start_new_session=True)
    for has_proc in {descendants.SYSTEM_HAS_PROC, False}:
        monkeypatch.setattr(descendants, "SYSTEM_HAS_PROC", has_proc)
        ours = Descendants(os.getpid(), "here")
        assert sleeper.pid in {pid for pid, _ in ours.seen()}
        orphans = Descendants(0, "here")
        assert orphans.press(0)
        assert {pid for pid, _ in orphans.known} == {sleeper.pid}
    sleeper.kill()
    sleeper.wait()


async def test_a_crash_leaves_nothing_running() -> None:
    async with alone(toy_plan()) as session:
        child = int(await text(session, "child\ntake steer\nexit 3"))
        stream = session.events()
        await session.steer("now")
        async for _ in stream:
            pass
        assert not alive(child)


async def test_what_an_agent_leaves_running_when_it_exits_in_good_order_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that the user asked for, say."""
    monkeypatch.setattr(run_module, "PIPE_GRACE", 0.3)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with alone(toy_plan("leaves_heir.py", str(fifo))) as session:
        with anyio.fail_after(30):
            [heir] = [int(event.text or "") async for event in session.events() if isinstance(event, Message)]
    assert alive(heir)
    fifo.write_text("go")
    psutil.Process(heir).wait(30)


async def test_what_was_seen_at_work_is_remembered_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mark, in a session of its own, and nobody's child: only who looked in time knows it."""
    monkeypatch.setattr(child_module, "TRACKING", 0.01)
    monkeypatch.setattr(Descendants, "_marked", lambda self, rows: set())
    async with alone(toy_plan()) as session:
        child = int(await text(session, "child\ntake steer\nexit 3"))
        family_of = session._run.child.descendants
        while child not in {pid for pid, _ in family_of.known}:  # noqa: ASYNC110 - nobody tells of a look
            await anyio.sleep(0.01)
        stream = session.events()
        await session.steer("now")
        async for _ in stream:
            pass
        assert not alive(child)


async def test_the_watchdog_is_sent_away_when_the_run_is_over() -> None:
    async with alone(toy_plan()) as session:
        await text(session, "say hello")
        dogs = [child for child in psutil.Process().children() if descendants.__file__ in child.cmdline()]
        assert len(dogs) == (sys.platform == "linux")
    assert not any(dog.is_running() for dog in dogs)
