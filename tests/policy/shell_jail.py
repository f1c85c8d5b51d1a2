"""A place where command lines can be run by a real bash and hurt nobody: `python -m tests.policy.shell_jail FOLDER`.

Every line of its input is a JSON `[line, stubbed]`; every line of its output is a JSON `[touched, ran]`: whether the
canary was run, and the words of every stub that was. The canary is the program `pwn`; no other program on PATH can change
anything. Where the machine lets us, it has no network, sees no other process and is nobody; everywhere it has little time,
memory and room.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

STUBS = (
    "ls",
    "cat",
    "git",
    "head",
    "wc",
    "grep",
    "sort",
    "find",
    "sed",
    "cut",
    "rg",
    "jq",
    "uname",
    "date",
    "stat",
)
BUILTINS = ("echo", "true", "false", "pwd", "cd", "printf", "test", "[", ":")
TOOLS = (
    "sh", "bash", "dash", "env", "nice", "nohup", "timeout", "setsid", "stdbuf", "xargs", "find", "flock",
    "script", "ionice", "chrt", "taskset", "awk", "mawk", "sed", "perl", "tar", "sort", "cat", "ls",
    "head", "wc", "grep", "cut", "tee", "dd", "uname", "date", "stat", "split", "mktemp", "basename",
    "dirname", "tr", "seq", "git", "time", "chroot", "prlimit", "setpriv", "unshare", "watch", "strace",
)  # fmt: skip
NEW = {"mount": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "pid": 0x20000000, "net": 0x40000000}
NEW_USER = 0x10000000
SECONDS = 3.0
END = "\x1eend"


def main(place: Path) -> None:
    alone = _enter(place)
    _build(place)
    _become_nobody()
    if alone and (child := os.fork()):  # the first in its own world of processes
        os.waitpid(child, 0)
        return
    _limit()
    os.chdir(place / "home")
    signal.signal(signal.SIGALRM, _too_long)
    for line in sys.stdin:
        text, stubbed = json.loads(line)
        print(json.dumps(_outcome(place, text, stubbed)), flush=True)


def _build(place: Path) -> None:
    out, stubs, tools, home = (place / name for name in ("out", "stubs", "tools", "home"))
    for folder in (out, stubs, tools, home):
        folder.mkdir()
    # No shell can run it as a script: `bash pwn` names a file, as `bash x.sh` does.
    pwn = f'#!/usr/bin/awk -f\nBEGIN {{ f = "{out}/canary"; printf "x" > f; close(f) }}\n'
    stub = f'#!/bin/sh\nprintf "%s\\0" "${{0##*/}}" "$@" "{END}" >> "{out}/ran"\n'
    for folder in (stubs, tools):
        (folder / "pwn").write_text(pwn)
    for name in STUBS:
        (stubs / name).write_text(stub)
    for name in TOOLS:
        if found := shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            (tools / name).symlink_to(found)
    for folder in (stubs, tools):
        for each in folder.iterdir():
            if not each.is_symlink():
                each.chmod(0o755)
    place.chmod(0o755)
    out.chmod(0o777)
    home.chmod(0o777)


def _enter(place: Path) -> bool:
    """Leaves the machine's network, files and processes behind, as far as one may; whether it has its own processes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        return False
    root = os.getuid() == 0
    alone = bool(libc.unshare(sum(NEW.values()) | (0 if root else NEW_USER)) == 0)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    libc.prctl(36, 1, 0, 0, 0)  # what a line leaves behind becomes ours
    if alone:
        libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)  # private, all below
        libc.mount(b"jail", os.fsencode(place), b"tmpfs", 0, b"size=8m")
        libc.mount(b"none", b"/", None, 0x20 | 0x1000 | 0x1, None)  # remounted to be read only
    return alone


def _become_nobody() -> None:
    if os.getuid() == 0:
        os.setgroups([])
        nobody = 62_000 + os.getpid() % 1_000
        os.setresgid(nobody, nobody, nobody)
        os.setresuid(nobody, nobody, nobody)


def _limit() -> None:
    for name, most in (("CPU", 600), ("FSIZE", 1 << 20), ("NOFILE", 64), ("CORE", 0), ("AS", 4 << 30)):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if os.getuid():
        resource.setrlimit(resource.RLIMIT_NPROC, (128, 128))


def _outcome(place: Path, text: str, stubbed: bool) -> tuple[bool, list[list[str]]]:
    out, home = place / "out", place / "home"
    (home / "a").write_text("true\n")
    (home / "b").write_text("x y\n")
    _run(text, home, place / ("stubs" if stubbed else "tools"))
    touched = (out / "canary").exists()
    ran = [_decoded(each) for each in _read(out / "ran").split(END.encode() + b"\0") if each]
    for name in ("canary", "ran"):
        (out / name).unlink(missing_ok=True)
    for each in list(home.iterdir()):
        shutil.rmtree(each, ignore_errors=True) if each.is_dir() and not each.is_symlink() else each.unlink()
    return touched, ran


class _TooLong(Exception):
    pass


def _too_long(*_: object) -> None:
    raise _TooLong


def _run(text: str, home: Path, path: Path) -> None:
    if "\0" in text:  # no shell can be given that
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    process = os.posix_spawn(
        "/bin/bash",
        ["bash", "--norc", "--noprofile", "-c", text],
        {"PATH": str(path), "HOME": str(home), "LC_ALL": "C.UTF-8", "PWD": str(home)},
        file_actions=[(os.POSIX_SPAWN_DUP2, nothing, fd) for fd in (0, 1, 2)],
        setsid=True,
    )
    os.close(nothing)
    _wait(SECONDS, process)
    _wait(0.2)  # background jobs may end by themselves
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(process, signal.SIGKILL)
    _wait(1.0)


def _wait(seconds: float, process: int | None = None) -> None:
    """Waits for a process, or for all that there are, but not for ever."""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        if process is not None:
            os.waitpid(process, 0)
        while process is None:
            os.waitpid(-1, 0)
    except (_TooLong, ChildProcessError):
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _decoded(words: bytes) -> list[str]:
    return [word.decode(errors="replace") for word in words.split(b"\0")[:-1]]


class Jail:
    """The jail as a process of its own."""

    def __init__(self) -> None:
        self._place = tempfile.mkdtemp(prefix="jail")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.policy.shell_jail", self._place],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, lines: list[tuple[str, bool]]) -> Iterator[tuple[bool, list[list[str]]]]:
        """For every line whether the canary was run, and what every stub was given."""
        assert self._process.stdin
        assert self._process.stdout
        for line in lines:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
            touched, ran = json.loads(self._process.stdout.readline())
            yield touched, ran

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        shutil.rmtree(self._place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
