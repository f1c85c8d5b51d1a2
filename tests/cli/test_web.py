"""`dragoman web` and `dragoman run --web`, as processes in a home of their own."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dragoman.server import Client
from dragoman.testing._demo_agent import prepare

PATIENCE = 60.0
"""Seconds after which a test has failed; no test waits for them."""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `dragoman` with these arguments, in a folder with the demo agent's job."""
    job = tmp_path / "job"
    job.mkdir()
    prepare(job)
    started: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory(prefix="d-") as sockets:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": sockets,
            "LANG": "C.UTF-8",
        }

        def begin(*arguments: str) -> "subprocess.Popen[str]":
            process = subprocess.Popen(
                [sys.executable, "-m", "dragoman", *arguments],
                env=env,
                cwd=job,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            started.append(process)
            return process

        yield begin
        for process in started:
            process.kill()
            process.communicate()


def linked(process: "subprocess.Popen[str]", *, on_stderr: bool = False) -> str:
    """The link that it prints."""
    stream = process.stderr if on_stderr else process.stdout
    assert stream is not None
    for line in stream:
        if "http://127.0.0.1:" in line:
            return line[line.index("http://") :].strip()
    raise AssertionError("no link was printed")


def allowed(client: Client, run: str) -> None:
    """Answer whatever is asked, until the run is over."""
    for name, data in client.feed({run: 0}):
        if name == "asks":
            for asked in data["asks"]:
                client.post(f"sessions/{run}/answer", run=run, request=asked["request"], choice="y")
        if name == "events" and any(event["type"] == "run.ended" for event in data["events"]):
            return


def test_the_page_ends_with_the_first_signal(start: Start) -> None:
    process = start("web", "--port", "0", "--no-open")
    assert Client(linked(process)).get("me")["read_only"] is False
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


def test_sessions_of_the_page_end_with_it(start: Start, tmp_path: Path) -> None:
    process = start("web", "--port", "0", "--no-open")
    client = Client(linked(process))
    run = client.post("sessions", agent="demo", prompt="Go", cwd=str(tmp_path / "job"))["run"]
    next(data for name, data in client.feed({run: 0}) if name == "asks" and data["asks"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    again = Client(linked(start("web", "--port", "0", "--no-open")))
    [kept] = again.get("sessions")["sessions"]
    assert (kept["agent"], kept["outcome"]) == ("demo", "cancelled")


def test_a_port_that_is_taken_is_told(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start("web", "--port", str(taken.getsockname()[1]))
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "cannot be had" in said
    assert "--port" in said


def test_a_link_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dragoman", "web", "--port", "0", "--no-open"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE
        )
    assert done.returncode == 74
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("way", [["--json"], []])
def test_a_run_is_answered_on_its_page(start: Start, tmp_path: Path, way: list[str]) -> None:
    """There is no terminal: without the page the answer would be no."""
    process = start("run", "demo", "Go", "--web", *way)
    link = linked(process, on_stderr=bool(way))
    place, _, run = link.rpartition("/session/")
    allowed(Client(place), run)
    assert process.wait(PATIENCE) == 0
    assert "len(values) - 1" not in (tmp_path / "job" / "mean.py").read_text()


def test_a_run_of_another_program_is_watched_and_answered(start: Start) -> None:
    server = start("web", "--port", "0", "--no-open")
    client = Client(linked(server))
    process = start("run", "demo", "Go", "--web", "--json")  # there is somebody who waits for an answer
    for name, data in client.feed():
        if name == "board" and data["rows"]:
            live = data["rows"][0]["live"]
            break
    assert live["hosted"] is False
    assert live["pid"] == process.pid
    allowed(client, live["run"])
    assert process.wait(PATIENCE) == 0
    ended = next(data for name, data in client.feed({live["run"]: 0}) if name == "ended")
    assert client.get(f"sessions/{ended['session']}")["session"]["outcome"] == "completed"


def test_what_is_not_recorded_has_no_page(start: Start) -> None:
    process = start("run", "demo", "Go", "--web", "--no-record")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "--no-record" in said
