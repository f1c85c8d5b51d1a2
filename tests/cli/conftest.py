"""Fixtures for the tests of the command line."""

import json
import os
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman._cli import cli
from tests.cli.fake_program import HELLO, INIT, Invoke, Program, dragoman, result, write_program


@pytest.fixture
def invoke() -> Invoke:
    """Call a command in this process."""

    def call(*args: object, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, [str(arg) for arg in args], input=input)

    return call


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return partial(write_program, tmp_path / "agent")


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """An agent's stdout, as a file."""
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (INIT, HELLO, result())))
    return path


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a run of the demo agent."""
    folder = tmp_path_factory.mktemp("demo")
    env = os.environ | {"TMPDIR": str(folder)}
    process = dragoman("demo", "--fast", env=env)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, (out, err)
    (path,) = folder.glob("*/demo.recording.jsonl")
    return path
