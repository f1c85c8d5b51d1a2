"""An agent that does not answer when it is started."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import dragoman
from dragoman import TimedOut

SILENT = """
import json, pathlib, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize" and "early" not in sys.argv:
        result = {"protocolVersion": 1, "agentCapabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    else:
        print("still setting up", file=sys.stderr, flush=True)
        pathlib.Path(sys.argv[1]).touch()
"""
"""An agent that answers `initialize` and not `session/new`, or neither; it makes a file where it falls silent."""


@pytest.fixture
def silent(tmp_path: Path) -> list[str]:
    program = tmp_path / "silent.py"
    program.write_text(SILENT)
    return [sys.executable, "-I", str(program), str(tmp_path / "asked")]


@pytest.mark.anyio
@pytest.mark.parametrize("when", ["early", "late"])
async def test_it_is_given_up(silent: list[str], when: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "dragoman"), anyio.fail_after(60):
        with pytest.raises(TimedOut, match=r"acp did not answer within 0\.5 s of its start") as raised:
            await dragoman.ask("acp", "hello", extra_args=[*silent, when], start_timeout=0.5)
        async with dragoman.open("acp", extra_args=[*silent, when], start_timeout=0.5) as session:
            with pytest.raises(TimedOut, match=r"did not answer within 0\.5 s of its start; it said: still"):
                await session.ready()
    assert raised.value.exit_status == 124
    assert "acp does not answer; it is given up after 0.5 s" in caplog.text


@pytest.mark.anyio
async def test_one_that_answers_has_all_the_time_that_it_wants(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "dragoman"):
        result = await dragoman.ask(
            "demo", "Fix it.", native={"pace": 0.002}, approve="all", start_timeout=30
        )
    assert result.outcome == "completed"
    assert "does not answer" not in caplog.text


def test_one_interrupt_ends_a_run_that_has_no_session(silent: list[str], tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    command = [sys.executable, "-m", "dragoman", "run", "acp", "hello", "--", *silent]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        while not asked.exists():  # no event tells it
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "stopping" not in said.replace("stops", "")
