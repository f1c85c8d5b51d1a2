"""Programs are started by a launcher and kept hold of: who belongs to one, and what becomes of them when it ends."""

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dragoman._model.errors import SpawnFailed
from dragoman._model.events import Message
from dragoman._runtime import run as run_module
from dragoman._runtime.process import keeper, launcher
from dragoman._runtime.process.child import Child, spawn
from dragoman._runtime.process.descendants import Descendants
from dragoman._runtime.process.pipes import pump
from tests.faults.fault_agent import DEADLINE, kept_after
from tests.runtime.test_stopping import alive, text
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="there are no keepers elsewhere"),
]

SLEEPS = ["sleep", "600"]
DAEMON = "env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &"


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    return tmp_path.resolve()


async def started(*argv: str, **options: Any) -> Child:
    given: dict[str, Any] = {"agent": "toy", "cwd": None, "env": {"PATH": os.defpath}}
    return await spawn(list(argv), **{**given, **options})


async def said(child: Child) -> bytes:
    """All that it writes, and those below it."""
    chunks: list[bytes] = []
    with anyio.fail_after(DEADLINE):
        await pump(child.stdout, chunks.append)
        await child.reap()
    return b"".join(chunks)


async def ended(child: Child) -> None:
    try:
        await child.end()
    finally:
        child.close()


def launchers() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.ZombieProcess):
            found += [child] if launcher.SCRIPT in child.cmdline() else []
    return found


def discard() -> None:
    if launcher._ours._launcher is not None:
        launcher._ours._discard(launcher._ours._launcher)


@pytest.fixture(params=["kept", "plain"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With a keeper, and without one as on other systems."""
    if request.param == "plain":
        monkeypatch.setattr(launcher, "_system_can", lambda: False)
    return str(request.param)


# --- who is ended, and who may stay --------------------------------------------------------------------------


async def test_a_crash_leaves_nothing_running(either: str) -> None:
    async with alone(toy_plan()) as session:
        child = int(await text(session, "child\ntake steer"))
        if either == "plain":
            session._run.child._program._descendants.look()  # type: ignore[union-attr]
        os.kill(session._run.child.pid, signal.SIGKILL)
        async for _ in session.events():
            pass
        assert not alive(child)
    assert session.exit is not None
    assert session.exit.signal == "SIGKILL"


async def test_a_daemon_without_an_environment_is_ended_with_its_agent() -> None:
    child = await started("sh", "-c", DAEMON)
    daemon = int(await said(child))
    assert psutil.Process(daemon).environ().keys() <= {"PWD", "SHLVL", "_", "OLDPWD"}
    await ended(child)
    assert not alive(daemon)


async def test_what_an_agent_leaves_running_when_it_exits_in_good_order_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, either: str
) -> None:
    """A server that the user asked for, say."""
    monkeypatch.setattr(run_module, "PIPE_GRACE", 0.3)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with alone(toy_plan("leaves_heir.py", str(fifo))) as session:
        with anyio.fail_after(30):
            [heir] = [int(event.text or "") async for event in session.events() if isinstance(event, Message)]
    assert alive(heir)
    process = psutil.Process(heir)  # it is gone, and buried, as soon as it may go
    fifo.write_text("go")
    process.wait(30)
    assert kept_after(DEADLINE) == []


HEIR = """
import sys, anyio
sys.path.insert(0, sys.argv[1])
from dragoman._model.events import Message
from tests.runtime.toy_dialect import alone, toy_plan

async def main():
    async with alone(toy_plan("leaves_heir.py", sys.argv[2])) as session:
        async for event in session.events():
            if isinstance(event, Message):
                print(event.text)

anyio.run(main)
"""


def test_what_may_stay_stays_when_we_are_gone(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = [sys.executable, "-W", "error", "-c", HEIR, str(Path(__file__).parents[2]), str(fifo)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    heir = psutil.Process(int(done.stdout))
    assert alive(heir.pid)
    fifo.write_text("go")
    heir.wait(30)


async def test_a_kill_waits_until_all_are_gone() -> None:
    child = await started("sh", "-c", f"{DAEMON} trap '' TERM; sleep 600")
    await anyio.wait_readable(child.stdout)
    daemon = int(os.read(child.stdout.fileno(), 100))
    child.kill()
    assert not alive(daemon)
    assert not alive(child.pid)
    assert (child.code, child.signal) == (None, "SIGKILL")
    child.close()


async def test_a_program_that_a_child_of_its_own_outlives_is_waited_for_alone() -> None:
    child = await started("sh", "-c", "sleep 600 & exit 7")
    with anyio.fail_after(DEADLINE):
        await child.reap()
    assert (child.code, child.signal) == (7, None)
    await ended(child)


async def test_a_keeper_that_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows how the program ended, but it did."""
    child = await started(*SLEEPS)
    program = psutil.Process(child.pid)
    program.parent().kill()  # type: ignore[union-attr]
    with anyio.fail_after(DEADLINE):
        await child.reap()
        await ended(child)
    assert (child.code, child.signal) == (None, None)
    program.wait(DEADLINE)


async def test_a_keeper_or_launcher_that_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent may stop them, having the rights that they have."""
    child = await started(*SLEEPS)
    [parent] = launchers()
    [keeping] = parent.children()
    for small in (parent, keeping):
        small.suspend()
    other = await started("/bin/true")
    with anyio.fail_after(DEADLINE):
        await ended(other)
        await child.end()
    assert child.signal == "SIGTERM"
    child.close()


async def test_a_keeper_that_is_stopped_again_and_again_is_done_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = await started(*SLEEPS)
    program = psutil.Process(child.pid)
    keeping = program.parent()
    assert keeping is not None
    monkeypatch.setattr(launcher, "END_LIMIT", 0.1)
    real = signal.pidfd_send_signal

    def never_goes_on(pidfd: int, number: int) -> None:
        if number != signal.SIGCONT:
            real(pidfd, number)

    monkeypatch.setattr(signal, "pidfd_send_signal", never_goes_on)
    keeping.suspend()
    await ended(child)
    program.wait(DEADLINE)


def test_a_later_process_with_the_same_pid_is_another() -> None:
    sleeper = subprocess.Popen(SLEEPS)
    ours = Descendants(os.getpid())
    ours.look()
    [member] = [member for member in ours.known if member[0] == sleeper.pid]
    stranger = Descendants(member[0])
    stranger.root = (0, 0.0)
    stranger.known = {(member[0], member[1] - 1)}
    assert not stranger.press(signal.SIGKILL)
    assert sleeper.poll() is None
    stranger.known = {member}
    assert stranger.press(signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL


def test_children_are_found_where_the_kernel_keeps_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper = subprocess.Popen(SLEEPS)
    listed = keeper.children(os.getpid())
    assert sleeper.pid in listed
    assert sorted(keeper._scanned(os.getpid())) == sorted(listed)
    sleeper.kill()
    sleeper.wait()


# --- what a program gets -------------------------------------------------------------------------------------

LOOKS = """
import os, signal
print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))
print(dict(os.environ))
print(os.getcwd())
print(os.getsid(0) == os.getpid())
status = open("/proc/self/status").read().split()
masks = [int(status[status.index(name) + 1], 16) for name in ("SigBlk:", "SigIgn:")]
print([number for mask in masks for number in signal.valid_signals() if mask & 1 << number - 1])
"""


async def test_it_gets_what_it_was_given_and_nothing_else(tmp_path: Path) -> None:
    """Three files, its environment, no signal blocked or ignored (but the two that Python ignores)."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    os.set_inheritable(leak := os.open(os.devnull, os.O_RDONLY), True)
    try:
        child = await started(sys.executable, "-I", "-S", "-c", LOOKS, cwd=str(tmp_path), env={"LC_ALL": "C"})
        lines = (await said(child)).decode().splitlines()
    finally:
        os.close(leak)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
        signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    await ended(child)
    assert lines == [
        "['0', '1', '2'] 4",  # the fourth is the directory that it looks at
        "{'LC_ALL': 'C'}",
        str(tmp_path),
        "True",
        str([signal.SIGPIPE, signal.SIGXFSZ]),
    ]


async def test_its_place_is_ours_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    for cwd, place in ((None, tmp_path), ("below", tmp_path / "below")):
        child = await started("/bin/pwd", cwd=cwd)
        assert (await said(child)).decode().strip() == str(place)
        await ended(child)


async def test_what_we_pass_on_is_what_we_would_pass_on_now() -> None:
    """Not what held when the launcher was begun: a program that has given up its rights must not start others with
    them. The mask of new files stands for all of it."""
    await ended(await started("/bin/true"))
    for mask in (0o027, 0o022):
        before = os.umask(mask)
        try:
            child = await started("sh", "-c", "umask")
            assert int(await said(child), 8) == mask
        finally:
            os.umask(before)
        await ended(child)
    assert len(launchers()) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_rights_that_were_given_up_are_gone_for_programs_too() -> None:
    script = """
import os, sys, anyio
sys.path.insert(0, sys.argv[1])
from tests.runtime.test_keepers import ended, said, started
async def main():
    await ended(await started("/bin/true"))
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    child = await started("/usr/bin/id", "-u", cwd="/")
    print((await said(child)).decode().strip())
    await ended(child)
anyio.run(main)
"""
    program = [sys.executable, "-c", script, str(Path(__file__).parents[2])]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.stdout == "65534\n", done.stderr


def executable(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


async def test_what_cannot_start_says_why(tmp_path: Path, either: str) -> None:
    """In the same words with a keeper and without."""
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("/nowhere/agent", {}, "there is no program /nowhere/agent; install it"),
        ("no-such-agent", {}, "there is no program no-such-agent"),
        (executable(tmp_path / "x", "", 0o644), {}, "may not be executed; chmod"),
        (
            executable(tmp_path / "y", "#!/nowhere/python"),
            {},
            "the interpreter that .*/y names does not exist",
        ),
        (executable(tmp_path / "z", "no program"), {}, r"cannot be run \(Exec format error\)"),
        ("/bin/true", {"cwd": "/nowhere/at/all"}, "there is no directory /nowhere/at/all"),
        ("/bin/true", {"cwd": __file__}, "there is no directory"),
        ("nul\0byte", {}, r"cannot be run \(embedded null byte\)"),
        ("/bin/true", {"env": {"A": "nul\0byte"}}, r"cannot be run \(embedded null byte\)"),
        ("/bin/true", {"env": {"A=B": "c"}}, r"cannot be run \(illegal environment variable name\)"),
        ("/bin/true", {"env": {"A": "\ud800"}}, "cannot be run"),
    ]
    for program, options, sentence in cases:
        with pytest.raises(SpawnFailed, match=f"toy did not start: .*{sentence}"):
            await started(program, **options)
    assert kept_after(DEADLINE) == []


async def test_a_long_command_line_arrives() -> None:
    """More than a socket takes at once."""
    words = ["x" * 100_000] * 15
    child = await started("/bin/sh", "-c", 'printf %s "$@" | wc -c', "sh", *words)
    assert int(await said(child)) == 1_500_000
    await ended(child)


async def test_it_is_looked_for_in_the_path_that_it_is_given(tmp_path: Path) -> None:
    executable(tmp_path / "hello", "#!/bin/sh\necho hello\n")
    executable(tmp_path / "sh", "no program", 0o644)
    child = await started("hello", env={"PATH": f"/nowhere:{tmp_path}"})
    assert await said(child) == b"hello\n"
    await ended(child)
    with pytest.raises(SpawnFailed, match="may not be executed"):
        await started("sh", env={"PATH": str(tmp_path)})


# --- the launcher --------------------------------------------------------------------------------------------


async def test_one_launcher_serves_all_and_another_follows_it() -> None:
    first = await started("sh", "-c", "read x; exit 3")
    [one] = launchers()
    second = await started("/bin/true")
    assert launchers() == [one]
    one.kill()
    third = await started("/bin/true")
    [other] = launchers()
    assert other != one
    for child in (second, third):
        await child.reap()
        assert child.code == 0
    first.stdin.close()
    await first.reap()
    assert first.code == 3, "it goes on without the launcher"
    for child in (first, second, third):
        await ended(child)


async def test_a_launcher_that_cannot_be_started_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    discard()
    monkeypatch.setattr(launcher, "SCRIPT", executable(tmp_path / "keeper.py", "raise SystemExit(1)"))
    child = await started("sh", "-c", "exit 5")
    discard()
    await child.reap()
    assert child.code == 5
    assert "no launcher can be started" in caplog.text
    await ended(child)


async def test_a_launcher_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    await ended(await started("/bin/true"))
    [stopped] = launchers()
    monkeypatch.setattr(signal, "SIGCONT", 0)
    stopped.suspend()
    launcher._ours._launcher._door.settimeout(0.2)  # type: ignore[union-attr]
    monkeypatch.setattr(launcher, "START_LIMIT", 0.2)
    with pytest.raises(SpawnFailed, match="timed out"):
        await started("/bin/true")
    monkeypatch.undo()
    assert not stopped.is_running()
    child = await started("/bin/true")
    await child.reap()
    assert child.code == 0
    await ended(child)


def test_threads_share_it(anyio_backend_name: str) -> None:
    discard()
    codes: list[int | None] = []

    async def work() -> None:
        for code in range(10):
            child = await started("sh", "-c", f"exit {code}")
            await child.reap()
            codes.append(child.code)
            await ended(child)

    threads = [threading.Thread(target=anyio.run, args=(work,), kwargs={"backend": anyio_backend_name})]
    threads += [threading.Thread(target=anyio.run, args=(work,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes, key=str) == sorted([*range(10)] * 4)
    assert len(launchers()) == 1


async def test_a_start_that_is_cancelled_leaves_nothing() -> None:
    """However far it has come: whoever was started ends."""
    for turns in range(40):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def begin() -> None:
                    await ended(await started("sh", "-c", "exec sleep 600"))

                group.start_soon(begin)
                for _ in range(turns % 10):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
    assert kept_after(DEADLINE) == []


@pytest.fixture
def forked() -> Iterator[list[int]]:
    pids: list[int] = []
    yield pids
    for pid in pids:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


async def test_a_process_that_we_fork_has_its_own_and_cannot_touch_ours(forked: list[int]) -> None:
    child = await started("sh", "-c", "read x; exit 3")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            child.kill()  # as it would be if an exception unwound the stack
            child.close()
            assert launchers() == []
            own = launcher.start(["/bin/true"], cwd=None, env={}, stdin=0, stdout=1, stderr=2)
            assert len(launchers()) == 1
            own.kill(DEADLINE)
            own.close()
            launcher._ours.forget()
            status = 0
        finally:
            os._exit(status)
    forked.append(pid)
    child.stdin.close()
    await child.reap()
    assert child.code == 3
    await ended(child)


def test_closed_standard_files_of_ours_are_no_matter() -> None:
    script = """
import os, sys
for fd in (0, 1, 2):
    os.close(fd)
sys.path.insert(0, sys.argv[1])
import anyio
from tests.runtime.test_keepers import ended, said, started
async def main():
    child = await started("sh", "-c", "read x; echo $x; echo no >&2")
    os.write(child.stdin._pipe.fileno(), b"yes\\n")
    assert await said(child) == b"yes\\n"
    await ended(child)
anyio.run(main)
os._exit(7)
"""
    program = [sys.executable, "-c", script, str(Path(__file__).parents[2])]
    assert subprocess.run(program, timeout=60).returncode == 7


def open_things() -> tuple[int, int, int]:
    gc.collect()
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith("Trio thread")]
    return len(os.listdir("/proc/self/fd")), len(threads), len(psutil.Process().children())


async def test_nothing_is_used_up() -> None:
    """Five hundred programs: no file, no thread, no zombie stays."""
    await ended(await started("/bin/true"))
    before = open_things()
    for number in range(500):
        child = await started("/bin/true" if number % 2 else "/bin/cat")
        if number % 2:
            await child.reap()
        await ended(child)
        if number % 10 == 0:
            with pytest.raises(SpawnFailed):
                await started("/nowhere/agent")
    assert kept_after(DEADLINE) == []
    after = open_things()
    assert [now - then for now, then in zip(after, before, strict=True) if now > then] == []
