"""`dragoman run` as a program, on a pinned agent and a scripted model."""

import os
import signal
import subprocess
import sys

import dragoman
from dragoman import Event
from dragoman.testing import Scenario
from tests.real.driving import PATIENCE, Events, Pinned


def run(
    pinned: Pinned,
    model: Scenario,
    *arguments: str,
    piped: bytes | None = None,
    interrupt_at: str | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What it prints and exits with, if this is piped in; Ctrl-C comes when the model is held at the gate
    `interrupt_at`."""
    bare = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(pinned.home), "LANG": "C.UTF-8"}
    bare["DRAGOMAN_RECORD"] = "false"  # what is said on stderr is the run's
    with subprocess.Popen(
        _command(pinned, model, *arguments),
        stdin=subprocess.DEVNULL if piped is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=bare,
    ) as started:
        if interrupt_at is not None:
            model.wait_for_hold(interrupt_at)
            started.send_signal(signal.SIGINT)
        stdout, stderr = started.communicate(piped, timeout=PATIENCE)
    return subprocess.CompletedProcess(started.args, started.returncode, stdout, stderr)


def _command(pinned: Pinned, model: Scenario, *arguments: str) -> list[str]:
    env = model.env(pinned.name, pinned.home)
    said = [word for name, value in env.items() for word in ("--env", f"{name}={value}")]
    place = ["--executable", str(pinned.executable), "--cwd", str(pinned.cwd), "--clean-env"]
    model_name = ("--model", pinned.model) if pinned.model is not None else ()
    return [sys.executable, "-m", "dragoman", "run", pinned.name, *place, *model_name, *said, *arguments]


def events_of(stdout: bytes) -> Events:
    """What `--json` printed: events, one on each line, and nothing else."""
    events = Events()
    for line in stdout.splitlines():
        event = dragoman.decode(line)
        assert isinstance(event, Event), event
        events.append(event)
    return events
