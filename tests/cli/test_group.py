"""The group itself: help, version, what it imports, how it fails."""

import subprocess
import sys

import pytest

from dragoman._cli import COMMANDS
from dragoman._version import __version__
from tests.cli.fake_program import Invoke, dragoman


def test_help_lists_every_command(invoke: Invoke) -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    for name, about in COMMANDS.items():
        assert name in result.stdout
        assert about in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(invoke: Invoke, name: str) -> None:
    result = invoke(name, "-h")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: cli {name}")
    assert result.stderr == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_flag_is_wrong_usage(invoke: Invoke, name: str) -> None:
    result = invoke(name, "--no-such-flag")
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert result.stdout == ""


def test_an_unknown_command_is_wrong_usage(invoke: Invoke) -> None:
    result = invoke("runn")
    assert result.exit_code == 2
    assert "No such command" in result.stderr


def test_version_as_module() -> None:
    process = dragoman("--version")
    assert process.communicate(timeout=60) == (f"dragoman {__version__}\n".encode(), b"")
    assert process.returncode == 0


@pytest.mark.parametrize("arg", ["--version", "--help"])
def test_what_is_not_needed_is_not_imported(arg: str) -> None:
    program = f"""
import sys
sys.argv = ["dragoman", {arg!r}]
from dragoman._cli import main
try:
    main()
except SystemExit:
    pass
heavy = {{"rich", "anyio", "asyncio", "psutil", "msgspec", "json", "subprocess", "tree_sitter"}}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert done.stderr == b"[]\n"


def test_convert_needs_no_terminal_and_no_event_loop() -> None:
    program = """
import sys
import dragoman._cli.commands.convert
print(sorted({"rich", "anyio", "asyncio", "psutil"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"[]\n"


def test_an_error_is_one_sentence_on_stderr(invoke: Invoke) -> None:
    result = invoke("convert", "no such file")
    assert result.exit_code == 2
    assert result.stderr == "dragoman: there is no file no such file\n"
    assert result.stdout == ""


def test_ctrl_c_in_any_command(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dragoman._cli.commands.schema.events_schema", interrupted)
    result = invoke("schema")
    assert result.exit_code == 130
    assert result.output == ""
