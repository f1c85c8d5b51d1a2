"""If we are killed, nobody of ours is left to stop the agent but its keeper: it ends all that there is."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.faults.fault_agent import DEADLINE
from tests.faults.offspring import DOOMED, KINDS, left_after, left_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no keepers elsewhere")

PLACES = ("agent", "terminal")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@contextmanager
def doomed(folder: Path, place: str, program: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    folder.mkdir(exist_ok=True)
    argv = [sys.executable, "-W", "ignore", str(DOOMED), str(folder), place, *program]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:  # also where a test failed
            process.kill()


def until_up(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_program_leaves_nothing(tmp_path: Path, kind: str, place: str) -> None:
    """A daemon that has emptied its environment, too, and what was started in a terminal."""
    with doomed(tmp_path, place, KINDS[kind]) as process:
        until_up(process)
        assert left_in(tmp_path, process.pid)
        process.kill()
    assert left_after(tmp_path, process.pid, DEADLINE) == []


def killed(dice: random.Random, folder: Path, kind: str, place: str) -> tuple[bool, float]:
    """Kill a program at a moment of its start, or after what it starts is there. Whether it was, and how many seconds
    it took until nothing was left: DEADLINE, if ever."""
    with doomed(folder, place, KINDS[kind]) as process:
        there = dice.random() < 0.7
        if there:
            until_up(process)
        time.sleep(dice.uniform(0, 0.1 if there else 0.8))
        process.kill()
        process.wait()
        since = time.monotonic()
        left_after(folder, process.pid, DEADLINE)
    return there, time.monotonic() - since


def random_kills(folder: Path, times: int, seed: int) -> list[tuple[bool, float]]:
    kinds = [(kind, place) for kind in KINDS for place in PLACES]
    jobs = [
        (random.Random(seed + number), folder / str(number), *kinds[number % len(kinds)])
        for number in range(times)
    ]
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda job: killed(*job), jobs))


def test_killed_at_any_moment(tmp_path: Path) -> None:
    assert max(seconds for _, seconds in random_kills(tmp_path, 20, seed=1)) < DEADLINE


@pytest.mark.slow
def test_killed_200_times(tmp_path: Path) -> None:
    """None is left after five seconds."""
    kills = random_kills(tmp_path, 200, seed=1000)
    there, seconds = sum(there for there, _ in kills), sorted(seconds for _, seconds in kills)
    print(
        f"{there} of 200 had something to leave; gone after {seconds[100]:.2f} s, at most {seconds[-1]:.2f} s"
    )
    assert sum(taken < 5.0 for taken in seconds) == 200


def test_the_launcher_killed_with_us_makes_no_difference(tmp_path: Path) -> None:
    with doomed(tmp_path, "agent", KINDS["a daemon without an environment"]) as process:
        until_up(process)
        [launcher] = psutil.Process(process.pid).children()
        launcher.kill()
        process.kill()
    assert left_after(tmp_path, process.pid, DEADLINE) == []


def test_who_has_lost_its_keeper_is_ended_by_the_launcher(tmp_path: Path) -> None:
    with doomed(tmp_path, "agent", KINDS["a daemon without an environment"]) as process:
        until_up(process)
        [launcher] = psutil.Process(process.pid).children()
        [keeper] = launcher.children()
        keeper.kill()
        process.wait(DEADLINE)
    assert left_after(tmp_path, process.pid, DEADLINE) == []


FORKS = """
import os, sys, time
sys.path.insert(0, {root!r})
from tests.faults import doomed
print_up = print
def print_and_fork(*args, **options):
    if os.fork() == 0:
        os.chdir("/")
        os.close(1)
        time.sleep(600)
    print_up(*args, **options)
doomed.print = print_and_fork
import anyio
anyio.run(doomed.by_an_agent, sys.argv[1], sys.argv[2:])
"""


def test_a_copy_of_our_sockets_makes_no_difference(tmp_path: Path) -> None:
    """A process that we forked has a copy of all that is open; it may outlive us, and the agent may not."""
    script = FORKS.format(root=str(DOOMED.parents[2]))
    argv = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path), *KINDS["deaf"]]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        until_up(process)
        us = psutil.Process(process.pid)
        [copy] = [child for child in us.children() if child.cmdline() == us.cmdline()]
        process.kill()
    try:
        assert left_after(tmp_path, process.pid, DEADLINE) == []
        assert copy.is_running()
    finally:
        copy.kill()


def test_signals_for_everybody_in_the_terminal_do_not_reach_the_keeper(tmp_path: Path) -> None:
    """It is in a session of its own, and deaf to those that end other programs."""
    with doomed(tmp_path, "agent", KINDS["deaf"]) as process:
        until_up(process)
        [launcher] = psutil.Process(process.pid).children()
        for small in (launcher, *launcher.children()):
            assert os.getsid(small.pid) != os.getsid(process.pid)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
                small.send_signal(number)
        process.kill()
    assert left_after(tmp_path, process.pid, DEADLINE) == []
