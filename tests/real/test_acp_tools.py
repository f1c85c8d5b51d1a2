"""Files that agents write over ACP: through their client or by themselves, and what we are told of it."""

import pytest

from dragoman import (
    Capability,
    FileChanged,
    HostAnswered,
    HostCalled,
    PermissionRequest,
    PermissionRequested,
    Reply,
    ToolEnded,
    ToolStarted,
)
from tests.real.capability_marks import ACP_AGENTS, by, exercises
from tests.real.driving import Events, Lines, Pinned

pytestmark = pytest.mark.anyio

THROUGH_US = {
    "gemini": {"fs/read_text_file", "fs/write_text_file"},
    "opencode": {"fs/write_text_file"},
    "codex-acp": set[str](),
}
"""What they have their client do."""


def change(said: Events, phase: str, call_id: str) -> FileChanged:
    return said.one(FileChanged, phase=phase, call_id=call_id)


@exercises(Capability.HOST_CALLS, of=("gemini", "opencode"))
@by(*ACP_AGENTS)
async def test_write_and_edit(agent: Pinned) -> None:
    """Those that ask their client to write are asked for the permission once; codex-acp tells of it in patches."""
    asked: list[PermissionRequest] = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    path = agent.cwd / "new.txt"
    lines: Lines = [agent.tools.write(path, "one\ntwo\n"), agent.tools.edit(path, "one", "1"), "Done."]
    async with agent.open(lines, approve=approve) as run:
        said = await run.turn("Write it.")
    assert path.read_text() == "1\ntwo\n"
    assert [request.event for request in asked] == said.of(PermissionRequested)
    assert len(asked) == 2
    assert said.ended.outcome == "completed"
    write, edit = said.of(ToolStarted)
    assert (write.kind, edit.kind) == ("edit", "edit")
    assert [done.status for done in said.of(ToolEnded)] == ["completed", "completed"]
    for phase in ("proposed", "applied"):
        new, old = change(said, phase, write.call_id), change(said, phase, edit.call_id)
        assert (new.path, new.change) == (str(path), "created")
        assert (old.path, old.change) == (str(path), "modified")
        assert (old.diff or "").endswith("@@ -1,2 +1,2 @@\n-one\n+1\n two\n")
        if THROUGH_US[agent.name]:
            assert (new.before, new.after) == (None, "one\ntwo\n")
            assert (old.before, old.after) == ("one\ntwo\n", "1\ntwo\n")
        else:
            assert (new.diff or "").endswith("@@ -0,0 +1,2 @@\n+one\n+two\n")
    assert {call.method for call in said.of(HostCalled)} == THROUGH_US[agent.name]
    assert [answer for answer in said.of(HostAnswered) if answer.error is not None] == []
    if THROUGH_US[agent.name]:
        writes = said.of(HostCalled, method="fs/write_text_file")
        assert [call.params["content"] for call in writes] == ["one\ntwo\n", "1\ntwo\n"]
        assert [call.call_id for call in writes] == [write.call_id, edit.call_id]


@by("gemini")
async def test_a_client_that_refuses_to_write(agent: Pinned) -> None:
    def serve(call: HostCalled) -> Reply | None:
        return Reply(error="the disk is full") if call.method == "fs/write_text_file" else None

    path = agent.cwd / "new.txt"
    lines: Lines = [agent.tools.write(path, "one\n"), "Done."]
    async with agent.open(lines, approve=lambda request: True, serve=serve) as run:
        said = await run.turn("Write it.")
    assert not path.exists()
    assert [answer.error.message for answer in said.of(HostAnswered) if answer.error] == ["the disk is full"]
    assert said.of(FileChanged, phase="applied") == []


@by("gemini")
async def test_why_a_file_that_is_not_there_is_empty_to_gemini(agent: Pinned) -> None:
    """It looks before it creates one. An error, also the protocol's own for it, ends its call before it asks."""
    asked: list[PermissionRequest] = []

    def serve(call: HostCalled) -> Reply | None:
        reads = call.method == "fs/read_text_file"
        return Reply(error="Resource not found", code=-32002) if reads else None

    path = agent.cwd / "new.txt"
    lines: Lines = [agent.tools.write(path, "one\n"), "Done."]
    async with agent.open(lines, approve=lambda request: asked.append(request) is None, serve=serve) as run:
        said = await run.turn("Write it.")
    assert {answer.error.code for answer in said.of(HostAnswered) if answer.error} == {"-32002"}
    assert (asked, path.exists()) == ([], False)
    assert said.one(ToolEnded).status == "failed"
