"""Commands that an agent has its client run."""

import os
import resource
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dragoman._runtime.host import terminals as terminals_module
from dragoman._runtime.host.files import Files, Refused
from dragoman._runtime.host.terminals import Terminal, Terminals, executed
from dragoman._runtime.process import child

pytestmark = pytest.mark.anyio

Start = Callable[..., Terminal]

STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.05; done"


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@asynccontextmanager
async def terminals(home: Path, env: dict[str, str] | None = None) -> AsyncIterator[Start]:
    """Something that starts commands; at the end all of them are cancelled, as when a run is over."""
    host = Terminals(Files([str(home)]), {"PATH": os.defpath, **(env or {})})
    async with anyio.create_task_group() as tasks:

        def start(command: str, *args: str, **options: Any) -> Terminal:
            terminal = host.create(command, args, **{"env": {}, **options})
            tasks.start_soon(terminal.live)
            return terminal

        yield start
        tasks.cancel_scope.cancel()


async def shows(terminal: Terminal, text: str) -> str:
    """Its output, once it has `text` in it."""
    with anyio.fail_after(30):
        while text not in (output := terminal.output()["output"]):  # noqa: ASYNC110 - it is there to be polled
            await anyio.sleep(0.01)
    return str(output)


async def test_a_command_its_output_and_its_end(tmp_path: Path) -> None:
    async with terminals(tmp_path, {"A": "1", "B": "1"}) as start:
        script = "echo $A $B; pwd; echo wrong >&2; exit 3"
        terminal = start("sh", "-c", script, env={"B": "2"})
        assert await terminal.wait() == {"exitCode": 3, "signal": None}
        assert terminal.output() == {
            "output": f"1 2\n{tmp_path}\nwrong\n",
            "truncated": False,
            "exitStatus": {"exitCode": 3, "signal": None},
        }
        other = start("pwd && cat", cwd=str(tmp_path))
        assert (await other.wait())["exitCode"] == 0, "stdin is at its end, and one text is for the shell"
        assert other.output()["output"] == f"{tmp_path}\n"
        assert other.id != terminal.id


async def test_a_program_with_a_space_in_its_name_is_no_shell_command(tmp_path: Path) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    async with terminals(tmp_path) as start:
        for command in (str(program), "./my program"):
            terminal = start(command)
            await terminal.wait()
            assert terminal.output()["output"] == "hello\n"


@pytest.mark.parametrize(
    ("command", "args", "argv"),
    [
        ("ls", ["-l"], ["ls", "-l"]),
        ("ls", [], ["ls"]),
        ("ls -l", [], ["/bin/sh", "-c", "ls -l"]),
        ("rm -rf x", [], ["/bin/sh", "-c", "rm -rf x"]),
        ("no-such-program", [], ["/bin/sh", "-c", "no-such-program"]),
        ("no-such-program", ["x"], ["no-such-program", "x"]),
    ],
)
def test_what_is_executed(tmp_path: Path, command: str, args: list[str], argv: list[str]) -> None:
    assert executed(command, args, {"PATH": os.defpath}, str(tmp_path)) == argv


async def test_half_a_character_waits_for_its_other_half(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", "printf 'h\\303'; read x < go; printf '\\251'")
        assert await shows(terminal, "h") == "h"
        assert "exitStatus" not in terminal.output()
        await anyio.to_thread.run_sync((tmp_path / "go").write_text, "on\n")
        await terminal.wait()
        assert terminal.output()["output"] == "hé"


@pytest.mark.parametrize(
    ("written", "limit", "output", "truncated"),
    [
        ("abc", 3, "abc", False),
        ("abcd", 3, "bcd", True),
        ("abc", 0, "", True),
        ("", 0, "", False),
        ("aéé", 3, "é", True),
        ("a😀b", 4, "b", True),
        ("a😀b", 5, "😀b", True),
        (b"a\xff\xff", 4, "\ufffd", True),
        (b"\xff", 3, "\ufffd", False),
        ("x" * 3_000_000, None, "x" * (1 << 20), True),
    ],
)
async def test_the_end_is_kept_and_cut_between_characters(
    tmp_path: Path, written: str | bytes, limit: int | None, output: str, truncated: bool
) -> None:
    (tmp_path / "text").write_bytes(written if isinstance(written, bytes) else written.encode())
    async with terminals(tmp_path) as start:
        terminal = start("cat", "text", limit=limit)
        await terminal.wait()
        shown = terminal.output()
        assert (shown["output"] == output, shown["truncated"]) == (True, truncated)
        assert limit is None or len(shown["output"].encode()) <= limit


async def test_a_killed_command_keeps_its_output(tmp_path: Path) -> None:
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", "echo before; exec sleep 1000")
        await shows(terminal, "before")
        await terminal.kill()
        await terminal.kill()
        assert await terminal.wait() == {"exitCode": None, "signal": "SIGTERM"}
        assert terminal.output()["output"] == "before\n"


async def test_one_that_does_not_listen_is_made_to(tmp_path: Path) -> None:
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", STUBBORN)
        await shows(terminal, "up")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(terminal.release)
            assert await terminal.wait() == {"exitCode": None, "signal": "SIGKILL"}


CHILD = f"{sys.executable} -I -c 'import signal; print(\"up\", flush=True); signal.pause()'"


@pytest.mark.parametrize("how", ["kill", "release", "cancel"])
@pytest.mark.parametrize("wait", ["; read x < go", ""])
async def test_nothing_is_left_behind(tmp_path: Path, how: str, wait: str) -> None:
    """Neither of a command that still runs, nor of one that has left something running."""
    os.mkfifo(tmp_path / "go")
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", f"{CHILD} & echo child $!; echo $$ {wait}")
        output = await shows(terminal, "up")
        pids = [int(word) for word in output.split() if word.isdigit()]
        assert len(pids) == 2
        if not wait:
            await terminal.wait()
        assert alive(pids[0])
        if how == "kill":
            await terminal.kill()
            assert not any(map(alive, pids))
        if how == "release":
            await terminal.release()
            assert not any(map(alive, pids))
    assert not any(map(alive, pids))


async def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    async with terminals(tmp_path) as start:
        with pytest.raises(Refused, match="no-such-program cannot be run"):
            start("no-such-program", "arg")
        with pytest.raises(Refused, match="outside of the session's directories"):
            start("pwd", cwd="..")
        with pytest.raises(Refused, match="cannot be run"):
            start("nul\0byte", "x")
        (tmp_path / "file").touch()
        with pytest.raises(Refused, match="cannot be run"):
            start("pwd", cwd="file")


async def test_closing_ends_every_terminal(tmp_path: Path) -> None:
    host = Terminals(Files([str(tmp_path)]), {"PATH": os.defpath})
    async with anyio.create_task_group() as tasks:
        both = [host.create("sleep", ["1000"], env={}) for _ in range(2)]
        for terminal in both:
            tasks.start_soon(terminal.live)
        assert host.find(both[0].id) is both[0]
        await host.close()
        assert [await terminal.wait() for terminal in both] == [{"exitCode": None, "signal": "SIGTERM"}] * 2
        with pytest.raises(Refused, match="There is no terminal terminal-1"):
            host.find("terminal-1")


DAEMON = "env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' & "


@pytest.mark.skipif(sys.platform != "linux", reason="needs a keeper")
@pytest.mark.parametrize("how", ["kill", "release", "cancel"])
async def test_a_daemon_does_not_outlive_its_terminal(tmp_path: Path, how: str) -> None:
    """Not even one that forked twice, left the session and has no environment."""
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", DAEMON)
        await terminal.wait()
        daemon = int(await shows(terminal, "\n"))
        assert alive(daemon)
        if how != "cancel":
            await getattr(terminal, how)()
            assert not alive(daemon)
    assert not alive(daemon)


@asynccontextmanager
async def many(home: Path, number: int, *command: str) -> AsyncIterator[tuple[Terminals, list[Terminal]]]:
    host = Terminals(Files([str(home)]), {"PATH": os.defpath})
    async with anyio.create_task_group() as tasks:
        opened = [host.create(command[0], command[1:], env={}) for _ in range(number)]
        for terminal in opened:
            tasks.start_soon(terminal.live)
        yield host, opened


async def test_many_close_in_the_time_of_the_slowest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these takes all its grace: one after the other it would be the sum of that."""
    grace = 2.0
    monkeypatch.setattr(child, "SWEEP_GRACE", grace)
    async with many(tmp_path, 20, "sh", "-c", STUBBORN) as (host, opened):
        for terminal in opened:
            await shows(terminal, "up")
        began = anyio.current_time()
        await host.close()
        assert anyio.current_time() - began < 20 * grace / 2
        assert [(await terminal.wait())["signal"] for terminal in opened] == ["SIGKILL"] * 20


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_thousand_are_released(tmp_path: Path) -> None:
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 13_000:
        pytest.skip("a process may not have so many files open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        async with many(tmp_path, 1, "true") as (host, _):
            await host.close()
        before = len(os.listdir("/proc/self/fd"))
        async with many(tmp_path, 1000, "sleep", "1000") as (host, opened):
            began = anyio.current_time()
            await host.close()
            print(f"1000 terminals were released in {anyio.current_time() - began:.1f} s")
            assert {(await terminal.wait())["signal"] for terminal in opened} == {"SIGTERM"}
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))


async def test_there_is_a_limit_to_how_many_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an agent could take all files that our process may have."""
    monkeypatch.setattr(terminals_module, "_most", lambda: 2)
    async with many(tmp_path, 2, "sleep", "1000") as (host, opened):
        with pytest.raises(Refused, match="2 terminals are open; release some"):
            host.create("true", [], env={})
        host.forget(opened[0])
        await opened[0].release()
        last = host.create("true", [], env={})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(last.live)
            await last.wait()
            await host.close()


FLOOD = "head -c {} /dev/zero | tr '\\0' x"


async def test_an_agent_cannot_have_more_kept_than_there_may_be(tmp_path: Path) -> None:
    """Whatever it says of how much that is."""
    most = terminals_module.KEPT_AT_MOST
    async with terminals(tmp_path) as start:
        terminal = start("sh", "-c", FLOOD.format(most + 3_000_000), limit=1 << 40)
        await terminal.wait()
        shown = terminal.output()
        assert (len(shown["output"]), shown["truncated"]) == (most, True)


async def test_all_terminals_together_are_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals_module, "KEPT_IN_ALL", 1_000_000)
    async with many(tmp_path, 1, "sh", "-c", FLOOD.format(900_000)) as (host, opened):
        await opened[0].wait()
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                opened.append(host.create("sh", ["-c", FLOOD.format(100_000 + number)], env={}))
                tasks.start_soon(opened[-1].live)
                await opened[-1].wait()
            outputs = [terminal.output() for terminal in opened]
            kept = [len(output["output"]) for output in outputs]
            assert kept[1:] == [100_000 + number for number in range(5)], "only the longest is cut"
            assert sum(kept) <= 1_000_000
            assert [output["truncated"] for output in outputs] == [True] + [False] * 5
            await host.close()
        assert host._kept == 0


async def test_one_that_never_stops_writing_can_be_asked_and_ended(tmp_path: Path) -> None:
    """What it writes while it is read is for the next time."""
    async with terminals(tmp_path) as start:
        terminal = start("yes", "x" * 1000)
        await shows(terminal, "x")
        for _ in range(20):
            assert terminal.output()["truncated"] in (True, False)
        with anyio.fail_after(60):
            await terminal.release()
