"""`dragoman run` with a pipe for stdin: what becomes of what comes through it, and of what does not come."""

import fcntl
import io
import os
import pty
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from dragoman._cli.terminal import piped
from dragoman._cli.terminal.piped import LIMIT, prompt_of
from tests.cli.fake_program import HELLO, INIT, Invoke, Program, dragoman, result
from tests.cli.test_run import CALL, MAY_I, answers


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("claude", "Why?\nx\n"),
        ("codex", "Why?\n\n<stdin>\nx\n</stdin>"),
        ("codex-acp", "Why?\n\n<stdin>\nx\n</stdin>"),
        ("gemini", "x\n\n\nWhy?"),
        ("opencode", "Why?\nx\n"),
        ("no such agent", "Why?"),
    ],
)
def test_it_goes_with_the_prompt(monkeypatch: pytest.MonkeyPatch, agent: str, said: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\n")))
    assert prompt_of("Why?", agent) == said


def test_it_is_shown_as_it_is_sent(invoke: Invoke, program: Program) -> None:
    done = invoke("run", "claude", "Why?", "--executable", program(INIT, HELLO, result()), input="it broke")
    assert done.exit_code == 0
    assert done.stdout.startswith("> Why?\n> it broke\n")


@pytest.mark.parametrize("nothing", ["", " \n\t\n"])
def test_nothing_but_blanks_is_nothing(invoke: Invoke, program: Program, nothing: str) -> None:
    done = invoke("run", "claude", "Why?", "--executable", program(INIT, HELLO, result()), input=nothing)
    assert done.exit_code == 0
    assert done.stdout.startswith("> Why?\nclaude")


@pytest.mark.parametrize("prompt", [["Why?"], ["-"], []])
@pytest.mark.parametrize(
    ("bytes", "why"),
    [
        (b"gr\xfc\xdfe", "not UTF-8, from byte 2 on. Convert it"),
        (b"\xff\xfeh\0i\0", "not UTF-8, from byte 0 on"),
        (b"x" * (LIMIT + 1), "More than 8 MB"),
    ],
    ids=["latin-1", "utf-16", "long"],
)
def test_what_cannot_be_sent_is_refused(invoke: Invoke, prompt: list[str], bytes: bytes, why: str) -> None:
    done = invoke("run", "claude", *prompt, "--executable", "/no/such/program", input=bytes)
    assert done.exit_code == 2
    assert why in done.stderr


def test_as_much_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * LIMIT)))
    assert len(prompt_of("Why?", "claude")) == LIMIT + len("Why?\n")


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A pipe that is stdin; the end to write to."""
    source, sink = os.pipe()
    with open(source, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield sink
    os.close(sink)


def test_a_pipe_that_nobody_writes_to(
    pipe: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(piped, "PATIENCE", 0.01)
    assert prompt_of("Why?", "claude") == "Why?"
    assert "nothing came through stdin in 0.01 s: going on without it" in capfd.readouterr().err


def test_an_empty_prompt_does_not_wait_for_one(pipe: int) -> None:
    with pytest.raises(click.UsageError, match="empty"):
        prompt_of("  ", "claude")


def test_files_and_devices_are_read_at_once(program: Program, tmp_path: Path) -> None:
    agent = program(INIT, HELLO, result())
    (tmp_path / "file").write_text("from a file\n")
    for name, shown in ((tmp_path / "file", b"> Why?\n> from a file\n"), (os.devnull, b"> Why?\nclaude")):
        with open(name, "rb") as stdin:
            out, err = dragoman("run", "claude", "Why?", "--executable", agent, stdin=stdin).communicate()
        assert (out[: len(shown)], err) == (shown, b"")


def at_terminal(stdin: int, *args: object) -> tuple[Any, int]:
    """`dragoman` with a terminal of its own for all but stdin, and the other side of that terminal."""
    screen, slave = pty.openpty()
    process = dragoman(
        *args,
        stdin=stdin,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(slave)
    return process, screen


def shown_until(screen: int, word: bytes) -> bytes:
    shown = b""
    while word not in shown:
        shown += os.read(screen, 4096)
    return shown


def rest_of(screen: int) -> None:
    try:
        while os.read(screen, 4096):
            pass
    except OSError:  # how Linux says that the other side of a terminal is gone
        os.close(screen)


@pytest.mark.parametrize("prompt", [["hi"], ["-"], []])
def test_permissions_are_asked_for_at_the_terminal(
    program: Program, tmp_path: Path, prompt: list[str]
) -> None:
    agent, record = program(INIT, CALL, MAY_I, "answer", HELLO, result()), tmp_path / "rec"
    source, sink = os.pipe()
    process, screen = at_terminal(source, "run", "claude", *prompt, "--executable", agent, "--record", record)
    os.close(source)
    os.write(sink, b"the input\n")
    os.close(sink)
    assert b"the input" in shown_until(screen, b"y/s/r/e/n? ")
    os.write(screen, b"y\n")
    rest_of(screen)
    assert process.wait(timeout=60) == 0
    assert answers(record) == [{"behavior": "allow", "updatedInput": {"command": "rm x"}}]


def test_without_input_there_is_nobody_to_ask(program: Program, tmp_path: Path) -> None:
    """`< /dev/null` says so."""
    agent, record = program(INIT, CALL, MAY_I, "answer", HELLO, result()), tmp_path / "rec"
    with open(os.devnull, "rb") as nothing:
        process, screen = at_terminal(
            nothing.fileno(), "run", "claude", "hi", "--executable", agent, "--record", record
        )
    rest_of(screen)
    assert process.wait(timeout=60) == 0
    [answer] = answers(record)
    assert answer["behavior"] == "deny"
