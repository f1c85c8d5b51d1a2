"""What an agent has its client do needs a permission for just that: a yes to something else is none."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman._policy.permission import PermissionRequest
from tests.runtime.test_host_acp import OPTIONS, told

pytestmark = pytest.mark.anyio


def permission(kind: str, title: str = "x", **tool: Any) -> list[Any]:
    call = {"toolCallId": "c", "title": title, "kind": kind, **tool}
    return ["session/request_permission", {"toolCall": call, "options": OPTIONS}]


def started(kind: str, **fields: Any) -> list[Any]:
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "x",
        "kind": kind,
        "status": "in_progress",
    }
    return ["update", {**call, **fields}]


def diff(path: Path, before: str | None, after: str) -> list[Any]:
    return [{"type": "diff", "path": str(path), "oldText": before, "newText": after}]


class Person:
    """Says yes once, and no to all that is asked after that."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    def __call__(self, request: PermissionRequest) -> bool:
        self.asked.append(request)
        return len(self.asked) == 1


async def test_a_permission_to_read_is_none_to_write(tmp_path: Path) -> None:
    file, person = tmp_path / "f", Person()
    location = {"locations": [{"path": str(file)}]}
    await told(
        [
            started("read", **location),
            permission("read", rawInput={"path": str(file)}),
            ["fs/write_text_file", {"path": str(file), "content": "evil"}],
        ],
        tmp_path,
        approve=person,
    )
    assert [request.kind for request in person.asked] == ["read", "edit"]
    assert not file.exists()


@pytest.mark.parametrize("shown", ["ls", "touch y", "touch x y", None])
async def test_a_permission_for_another_command_is_none(shown: str | None, tmp_path: Path) -> None:
    """The title may say anything: what was decided on is the input."""
    person = Person()
    given = {"rawInput": {"command": shown}} if shown is not None else {"rawInput": {"thing": 1}}
    await told(
        [
            started("execute", title="touch x", **given),
            permission("execute", "touch x", **given),
            ["terminal/create", {"command": "touch x"}],
        ],
        tmp_path,
        approve=person,
    )
    assert len(person.asked) == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "more",
    [{"env": [{"name": "PATH", "value": "."}]}, {"cwd": "sub"}, {"args": ["-l"]}, {"command": "make -k"}],
)
async def test_the_same_command_in_other_surroundings_is_another(
    more: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    if "cwd" in more:
        more = {"cwd": str(tmp_path / "sub")}
    person = Person()
    given = {"rawInput": {"command": "make"}}
    await told(
        [
            started("execute", **given),
            permission("execute", **given),
            ["terminal/create", {"command": "make", **more}],
        ],
        tmp_path,
        approve=person,
    )
    assert len(person.asked) == 2


async def test_the_same_command_is_not_asked_for_twice(tmp_path: Path) -> None:
    person = Person()
    given = {"rawInput": {"command": "touch x", "description": "make it"}}
    plain = {"env": [{"name": "TERM", "value": "dumb"}]}
    await told(
        [
            started("execute", title="touch x", **given),
            permission("execute", **given),
            ["terminal/create", {"command": "touch", "args": ["x"], **plain}],
            ["terminal/wait_for_exit", {"terminalId": "terminal-1"}],
        ],
        tmp_path,
        approve=person,
    )
    assert len(person.asked) == 1
    assert (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("before", "shown", "written", "asked"),
    [
        (None, "good\n", "good\n", 1),
        (None, "good\n", "evil\n", 2),
        ("a\nb\nc\n", ("b", "B"), "a\nB\nc\n", 1),
        ("a\nb\nc\n", ("b", "B"), "evil\nB\n", 2),
    ],
)
async def test_what_is_written_is_what_was_shown(
    before: str | None, shown: Any, written: str, asked: int, tmp_path: Path
) -> None:
    file, person = tmp_path / "f", Person()
    if before is not None:
        file.write_text(before)
    content = diff(file, *(shown if isinstance(shown, tuple) else (before, shown)))
    await told(
        [
            started("edit", content=content, locations=[{"path": str(file)}]),
            permission("edit", content=content),
            ["fs/write_text_file", {"path": str(file), "content": written}],
        ],
        tmp_path,
        approve=person,
    )
    assert len(person.asked) == asked
    assert (file.exists() and file.read_text()) == (written if asked == 1 else before or False)


async def test_a_yes_is_to_what_was_proposed_when_it_was_asked(tmp_path: Path) -> None:
    """Two changes are asked for at once for one call; the yes to one is none to the other."""
    file, both, asked = tmp_path / "f", anyio.Event(), list[PermissionRequest]()

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        if len(asked) == 2:
            both.set()
        await both.wait()
        return request.id == min((each.id for each in asked), key=int)

    good, evil = (permission("edit", content=diff(file, None, text)) for text in ("good\n", "evil\n"))
    await told(
        [
            started("edit", locations=[{"path": str(file)}]),
            ["together", [good, evil]],
            ["fs/write_text_file", {"path": str(file), "content": "evil\n"}],
        ],
        tmp_path,
        approve=approve,
    )
    assert [request.tool for request in asked][2:] == ["fs/write_text_file"]
    assert not file.exists()


@pytest.mark.parametrize("approve", ["never", "ask", "dangerous"])
async def test_a_secret_is_not_read_for_the_agent(approve: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / ".env")
    orders = [["fs/read_text_file", {"path": str(tmp_path / name)}] for name in (".env", "link", "a.py")]
    answers, _ = await told(orders, tmp_path, approve=approve)
    assert ["content" in answer for answer in answers] == [False, False, True]


async def test_a_rule_that_denies_reading_binds_the_host(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    policy = tmp_path / "p.toml"
    policy.write_text('[[rule]]\nkind = "read"\npath = "*.py"\neffect = "deny"\nmessage = "not this"\n')
    [answer], _ = await told(
        [["fs/read_text_file", {"path": str(tmp_path / "a.py")}]], tmp_path, approve="all", policy=policy
    )
    assert "not this" in answer["message"]


@pytest.mark.parametrize(
    "params",
    [
        {"command": "rm -rf x", "args": []},
        {"command": "rm -rf x"},
        {"command": "rm", "args": ["-rf", "x"]},
        {"command": "/bin/rm", "args": ["x"]},
        {"command": "sh", "args": ["-c", "rm x"]},
        {"command": "env", "args": ["rm", "x"]},
        {"command": "true; rm x"},
    ],
)
async def test_a_command_is_judged_by_what_is_executed(params: dict[str, Any], tmp_path: Path) -> None:
    """One text without arguments is run by a shell, so it is read as a shell reads it."""
    (tmp_path / "x").touch()
    policy = tmp_path / "p.toml"
    policy.write_text('[[rule]]\ncommand = "rm"\neffect = "deny"\n')
    [answer], _ = await told([["terminal/create", params]], tmp_path, approve="all", policy=policy)
    assert "Denied" in answer["message"]
    assert (tmp_path / "x").exists()


async def test_the_variables_of_a_command_are_looked_at(tmp_path: Path) -> None:
    program = tmp_path / "ls"
    program.write_text("#!/bin/sh\ntouch pwned\n")
    program.chmod(0o755)
    env = [{"name": "PATH", "value": str(tmp_path)}]
    orders = [["terminal/create", {"command": "ls", "env": env}], ["terminal/create", {"command": "/bin/ls"}]]
    answers, _ = await told(orders, tmp_path, approve="dangerous")
    assert ["terminalId" in answer for answer in answers] == [False, False]
    [answer], _ = await told([["terminal/create", {"command": "ls"}]], tmp_path, approve="dangerous")
    assert "terminalId" in answer
    assert not (tmp_path / "pwned").exists()
