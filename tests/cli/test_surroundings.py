"""Every command where nothing can be written, streams are closed or the folder is gone: one sentence and a status that
says which, never a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from dragoman._cli import COMMANDS, NO_OUTPUT, WRONG_USAGE
from dragoman._library.library import Library
from tests.cli.fake_program import HELLO, INIT, Program, result
from tests.files.test_stores import ONE, claude_file

ARGS = {
    "run": "run claude hi --executable {agent} --cwd {folder}",
    "run --json": "run claude hi --executable {agent} --cwd {folder} --json",
    "run --view": "run claude hi --executable {agent} --cwd {folder} --view insights",
    "convert": "convert {stream}",
    "replay": "replay {stream}",
    "replay --json": "replay {stream} --json",
    "check": "check {stream}",
    "drift": "drift {stream}",
    "drift --json": "drift {stream} --json",
    "schema": "schema",
    "agents": "agents",
    "agents --json": "agents --json",
    "doctor": "doctor",
    "doctor --json": "doctor --json",
    "config": "config",
    "policy": "policy test Bash ls --cwd {folder}",
    "policy where": "policy where --cwd {folder}",
    "trust": "trust {folder}",
    "ls": "ls",
    "ls claude": "ls claude",
    "show": f"show {ONE}",
    "sync": "sync",
    "search": "search said",
    "usage": "usage",
    "usage --json": "usage --json",
    "export": f"export {ONE}",
    "restore": f"restore {ONE} --to {{folder}}/there",
    "forget": f"forget {ONE} --yes",
    "library": "library",
    "permission-server": "permission-server --cwd {folder}",
    "demo": "demo --fast",
    "--version": "--version",
    "--help": "--help",
}
SILENT = ("permission-server",)
"""What writes nothing where it is asked nothing."""


ELSEWHERE = {"archive", "delete", "rename", "permission-hook", "web"}
"""What only asks an agent, and says nothing; what judges a call that it must be given (tests/cli/test_permission_hook); and
what goes on until it is told to end (tests/cli/test_web)."""


def test_every_command_is_here() -> None:
    assert {args.split()[0] for args in ARGS.values()} == COMMANDS.keys() - ELSEWHERE | {
        "--version",
        "--help",
    }


@pytest.fixture
def shell(program: Program, stream: Path, tmp_path: Path) -> "Shell":
    claude_file(tmp_path / ".claude/projects", ONE, "/w", "What is said.")
    with Library(tmp_path / ".local/share/dragoman/library.db") as library:
        library.sync([tmp_path / ".claude"])
    return Shell(tmp_path, agent=program(INIT, HELLO, result()), stream=str(stream), folder=str(tmp_path))


class Shell:
    """Runs a command as a shell would, with redirections; PATH has no agents, and no one else's settings."""

    def __init__(self, home: Path, **names: str) -> None:
        self._env = {"PATH": str(home), "HOME": str(home), "TMPDIR": str(home), "DRAGOMAN_RECORD": "false"}
        self._names = names

    def __call__(self, args: str, redirect: str, before: str = "") -> tuple[int, str, str]:
        line = (
            f"{before} exec '{sys.executable}' -W error -m dragoman {args.format(**self._names)} {redirect}"
        )
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self._env,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ARGS)
def test_a_full_device(shell: Shell, name: str) -> None:
    """It was a traceback."""
    status, _, said = shell(ARGS[name], ">/dev/full")
    if name in SILENT:
        assert status == 0
    else:
        assert (status, said) == (
            NO_OUTPUT, "dragoman: the output cannot be written: No space left on device\n"
        )  # fmt: skip


@pytest.mark.parametrize("name", ARGS)
def test_stdout_is_closed(shell: Shell, name: str) -> None:
    """It was a traceback, or the first file that was opened was written to as if it were stdout."""
    assert shell(ARGS[name], ">&-") == (NO_OUTPUT, "", "dragoman: standard output is closed\n")


@pytest.mark.parametrize("name", ARGS)
@pytest.mark.parametrize("redirect", ["<&- 2>&-", "2>/dev/full"])
def test_what_is_not_needed_is_not_missed(shell: Shell, name: str, redirect: str) -> None:
    status, shown, _ = shell(ARGS[name], redirect)
    assert status == 0
    assert bool(shown) == (name not in SILENT)


@pytest.mark.parametrize("args", ["run claude", "run claude -", "convert -", "replay -", "check -"])
def test_a_closed_stdin_is_an_empty_one(shell: Shell, args: str) -> None:
    status, shown, said = shell(args, "<&-")
    assert (status, shown) == (WRONG_USAGE, "")
    assert "empty" in said


def test_an_error_that_cannot_be_told(shell: Shell) -> None:
    """The status still says it."""
    for redirect in ("2>&-", "2>/dev/full"):
        assert shell("convert none", redirect) == (WRONG_USAGE, "", "")


@pytest.mark.parametrize("name", ARGS)
def test_the_folder_is_gone(shell: Shell, name: str, tmp_path: Path) -> None:
    """What has its own paths works; what is to work here cannot."""
    leave = f"/bin/mkdir {tmp_path}/gone; cd {tmp_path}/gone; /bin/rmdir {tmp_path}/gone;"
    assert shell(ARGS[name], "", before=leave)[0] == 0
    args = ARGS[name].replace(" --cwd {folder}", "")
    if args != ARGS[name] and name not in ("policy where", "permission-server"):
        status, shown, said = shell(args, "", before=leave)
        assert (status, shown) == (WRONG_USAGE, "")
        assert said == "dragoman: the working directory is gone; go to one that is there\n"


def test_a_request_to_the_permission_server_and_a_full_device(shell: Shell) -> None:
    request = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
    status, _, said = shell(ARGS["permission-server"], f">/dev/full <<< '{request}'")
    assert (status, said.count("\n")) == (NO_OUTPUT, 1)
