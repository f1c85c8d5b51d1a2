"""A question that takes the place of another: what is typed at that moment was meant for the other one."""

import io
import os
import pty
import sys
from collections.abc import Callable

import anyio
import pytest
from rich.console import Console

from dragoman._cli.terminal import keyboard
from dragoman._cli.terminal.renderer import Renderer
from dragoman._model.events import PermissionRequested
from dragoman._policy.permission import PermissionRequest

pytestmark = pytest.mark.anyio


async def test_a_yes_to_the_one_is_no_answer_to_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent could take a harmless question back and ask another one under the fingers of who was about to answer."""
    monkeypatch.setattr(keyboard, "SETTLE", 0.3)
    person, terminal = pty.openpty()
    shown = io.StringIO()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        asking = keyboard.Keyboard(Renderer(Console(file=shown, width=80)))
        async with anyio.create_task_group() as group:
            group.start_soon(asking.permission, _request("ls"))
            await _until(lambda: shown.getvalue().endswith("? "))
            group.cancel_scope.cancel()
        answers = []

        async def ask() -> None:
            answers.append(await asking.permission(_request("rm -rf ~")))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await _until(lambda: "rm -rf ~" in shown.getvalue())
            os.write(person, b"y\n")
            await _until(lambda: shown.getvalue().endswith("? "))
            os.write(person, b"n\n")
    os.close(person)
    assert [answer.decision for answer in answers] == ["deny"]


def _request(command: str) -> PermissionRequest:
    return PermissionRequest(
        PermissionRequested(request_id="r", tool_name="Bash", kind="execute", input={"command": command})
    )


async def _until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not condition():
            await anyio.lowlevel.checkpoint()
