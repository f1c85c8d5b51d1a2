"""Commands that an agent has its client run."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dragoman._runtime.host.files import Files, Refused
from dragoman._runtime.host.terminals import Terminal, Terminals

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
