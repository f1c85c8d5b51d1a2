"""What an agent may have started: kinds of programs, by how they try to stay. Each writes `up` once it is there, and
none lives for ever. They are found by where they are, since that is all that they have in common."""

import sys
import time
from pathlib import Path

import psutil

DOOMED = Path(__file__).with_name("doomed.py")

RUNAWAY = """
import os, time
end = time.monotonic() + 120
os.write(1, b"up\\n")
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
"""
"""It is never the same process for more than a moment."""

DAEMON = "env -i setsid sh -c 'echo up; exec sleep 600' &"

KINDS: dict[str, list[str]] = {
    "plain": ["sh", "-c", "echo up; exec sleep 600"],
    "in a session of its own": ["sh", "-c", "setsid sh -c 'echo up; exec sleep 600'"],
    "an orphan": ["sh", "-c", "sh -c 'echo up; exec sleep 600' &"],
    "a daemon without an environment": ["sh", "-c", DAEMON],
    "deaf": ["sh", "-c", "trap '' TERM INT HUP; echo up; while :; do sleep 600; done"],
    "stopped": ["sh", "-c", "echo up; kill -STOP $$; sleep 600"],
    "by another name": ["bash", "-c", "echo up; exec -a '[kworker/0:1]' sleep 600"],
    "a runaway": [sys.executable, "-I", "-S", "-c", RUNAWAY],
    "multiplying": [
        "sh",
        "-c",
        "echo up; for n in $(seq 1000); do sh -c 'sleep 600 & sleep 600' & sleep 0.005; done",
    ],
    "a stopper": [
        "sh",
        "-c",
        r"kill -STOP $(sed -n 's/^PPid:\t//p' /proc/$PPID/status); trap '' TERM; echo up; sleep 600",
    ],
    "another one of us": [sys.executable, "-W", "ignore", str(DOOMED), ".", "agent", "sh", "-c", DAEMON],
}


def left_in(folder: Path, owner: int) -> list[psutil.Process]:
    """Who is still there: in the folder, or a launcher or keeper of this owner."""
    return [process for process in psutil.process_iter() if _is_of(process, str(folder), str(owner))]


def _is_of(process: psutil.Process, folder: str, owner: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        cmdline = process.cmdline()
        keeps = len(cmdline) > 1 and cmdline[-2].endswith("keeper.py") and cmdline[-1] == owner
        return keeps or process.cwd() == folder
    except (psutil.Error, OSError):
        return False


def left_after(folder: Path, owner: int, seconds: float) -> list[psutil.Process]:
    """The same, if that is not over before."""
    until = time.monotonic() + seconds
    while (left := left_in(folder, owner)) and time.monotonic() < until:
        time.sleep(0.02)
    return left
