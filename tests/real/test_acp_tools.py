"""Tools of agents that speak ACP, which really run: what they did to the disk, and what we were told of it."""

import json
import sys
from pathlib import Path

import pytest

from dragoman import (
    Capability,
    FileChanged,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    SessionStarted,
    ToolEnded,
    ToolStarted,
)
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, Lines
from tests.real.tongues import AcpAgent

pytestmark = pytest.mark.anyio

SERVER = {"command": sys.executable, "args": ["-I", str(Path(__file__).parent / "peers" / "mcp_server.py")]}

EXIT_CODES = {"gemini": None, "opencode": 3, "codex-acp": 3}
"""What is said of a command that exits with 3. Only Codex thinks that it failed."""


async def test_shell(acp: AcpAgent) -> None:
    command = "echo 42 | tee answer; exit 3"
    async with acp.open([acp.tongue.shell(command), "It is 42."], approve="all") as run:
        said = await run.turn("What is six times seven?")
        assert "42" in json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert (acp.cwd / "answer").read_text() == "42\n"
    call = said.one(ToolStarted)
    assert (call.name, call.kind) == (acp.tongue.shell_name, "execute")
    done = said.one(ToolEnded)
    assert (done.call_id, (done.output or "").strip(), done.exit_code) == (
        call.call_id,
        "42",
        EXIT_CODES[acp.agent],
    )
    assert done.status == ("failed" if acp.agent == "codex-acp" else "completed")
    assert said.said() == ["It is 42."]


def change(said: Events, phase: str, call_id: str) -> FileChanged:
    return said.one(FileChanged, phase=phase, call_id=call_id)


@exercises(Capability.HOST_CALLS)
@by("gemini", "opencode")
async def test_write_and_edit_through_the_client(acp: AcpAgent) -> None:
    """They ask their client to write; we do, within the directory of the session."""
    path = acp.cwd / "new.txt"
    lines: Lines = [acp.tongue.write(path, "one\ntwo\n"), acp.tongue.edit(path, "one", "1"), "Done."]
    async with acp.open(lines, approve=lambda request, session: True) as run:
        said = await run.turn("Write it.")
    assert path.read_text() == "1\ntwo\n"
    write, edit = said.of(ToolStarted)
    assert (write.kind, edit.kind) == ("edit", "edit")
    assert [done.status for done in said.of(ToolEnded)] == ["completed", "completed"]
    for phase in ("proposed", "applied"):
        new, old = change(said, phase, write.call_id), change(said, phase, edit.call_id)
        assert (new.path, new.change, new.before, new.after) == (str(path), "created", None, "one\ntwo\n")
        assert (old.path, old.change, old.before, old.after) == (
            str(path),
            "modified",
            "one\ntwo\n",
            "1\ntwo\n",
        )
        assert (old.diff or "").endswith("@@ -1,2 +1,2 @@\n-one\n+1\n two\n")
    writes = said.of(HostCalled, method="fs/write_text_file")
    assert [call.params["content"] for call in writes] == ["one\ntwo\n", "1\ntwo\n"]
    assert [call.call_id for call in writes] == [write.call_id, edit.call_id]
    assert {answer.error for answer in said.of(HostAnswered)} == {None}


@by("codex-acp")
async def test_write_and_edit(acp: AcpAgent) -> None:
    """It writes itself, and tells of it in patches."""
    path = acp.cwd / "new.txt"
    lines: Lines = [acp.tongue.write(path, "one\ntwo\n"), acp.tongue.edit(path, "one", "1"), "Done."]
    async with acp.open(lines, approve=lambda request, session: True) as run:
        said = await run.turn("Write it.")
    assert path.read_text() == "1\ntwo\n"
    write, edit = said.of(ToolStarted)
    for phase in ("proposed", "applied"):
        new, old = change(said, phase, write.call_id), change(said, phase, edit.call_id)
        assert (new.path, new.change, old.change) == (str(path), "created", "modified")
        assert (new.diff or "").endswith("@@ -0,0 +1,2 @@\n+one\n+two\n")
        assert (old.diff or "").endswith("@@ -1,2 +1,2 @@\n-one\n+1\n two\n")
    assert said.of(HostCalled) == []


@by("gemini")
async def test_edits_need_no_question(acp: AcpAgent) -> None:
    async with acp.open(
        [acp.tongue.write(acp.cwd / "new.txt", "one\n"), acp.tongue.shell("touch here"), "Done."],
        approve="edits",
    ) as run:
        await run.turn("Write it.")
    assert (acp.cwd / "new.txt").read_text() == "one\n"
    assert not (acp.cwd / "here").exists()


@exercises(Capability.MCP)
async def test_a_tool_of_an_mcp_server(acp: AcpAgent) -> None:
    # codex-acp 2.6.0 asks for these without a title, finds that it may not, and takes that for a denial.
    native = {"mode": "agent-full-access"} if acp.agent == "codex-acp" else {}
    async with acp.open(
        [acp.tongue.shout("hey"), "Shouted."],
        mcp_servers={"small": SERVER},
        native=native,
        approve=lambda request, session: True,
    ) as run:
        said = await run.turn("Shout.")
        assert "HEY!" in json.dumps(run.model.requests_of("main")[1].messages[-1])
    [server] = run.events.one(SessionStarted).mcp_servers
    assert server.name == "small"
    call = said.one(ToolStarted)
    assert (call.name, call.server, call.kind) == ("shout", "small", "mcp")
    done = said.one(ToolEnded)
    assert (done.status, done.output) == ("completed", "HEY!")
    if acp.agent == "gemini":
        assert said.one(PermissionRequested).kind == "mcp"
    assert said.said() == ["Shouted."]
