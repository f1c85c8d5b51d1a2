"""What each approve mode lets a real agent do, and what it keeps it from: the files tell."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import PermissionRequest, PermissionResolved, ToolEnded, ToolStarted
from tests.real.driving import Events, Lines, Pinned

pytestmark = pytest.mark.anyio


async def done(actor: Pinned, *acts: Any, **fields: Any) -> Events:
    """All that happens when the model does this and then says that it is done."""
    lines: Lines = [*acts, "Done."]
    result = await actor.ask(lines, "Do it.", **fields)
    events = Events(result.events)
    assert events.ended.outcome == "completed"
    assert events.said()[-1:] == ["Done."]
    return events


def statuses(actor: Pinned, events: Events) -> list[str]:
    """How the calls ended, in their order. Of a version that may tell it after the turn's end, nobody waited for it: what is
    on disk then tells."""
    ends = {end.call_id: end.status for end in events.of(ToolEnded)}
    unheard = "completed" if actor.differs("items_may_end_after_their_turn") else "abandoned"
    told = [ends[call.call_id] for call in events.of(ToolStarted)]
    return [unheard if status == "abandoned" else status for status in told]


async def test_never_changes_no_file_and_runs_no_command(actor: Pinned) -> None:
    events = await done(actor, actor.write("new.txt"), actor.tools.shell("touch here"), approve="never")
    assert actor.files == []
    assert "completed" not in statuses(actor, events)
    resolved = events.of(PermissionResolved)
    assert {(event.outcome, event.by, event.rule) for event in resolved} == {
        ("denied", "policy", "approve=never")
    }


async def test_plan_changes_nothing(actor: Pinned) -> None:
    events = await done(actor, actor.write("new.txt"), actor.tools.shell("touch here"), approve="plan")
    assert actor.files == []
    assert "completed" not in statuses(actor, events)
    assert [event for event in events.of(PermissionResolved) if event.outcome == "allowed"] == []


async def test_edits_writes_files_and_runs_no_command(actor: Pinned) -> None:
    events = await done(actor, actor.write("new.txt"), actor.tools.shell("touch here"), approve="edits")
    assert actor.files == ["new.txt"]
    assert (actor.cwd / "new.txt").read_text() == "fresh\n"
    assert statuses(actor, events) == ["completed", "declined"]
    *edits, command = events.of(PermissionResolved)
    assert (command.outcome, command.by, command.rule) == ("denied", "policy", "no handler")
    assert [(edit.outcome, edit.by) for edit in edits] in ([], [("allowed", "policy")])
    if actor.name == "codex":
        assert len(edits) == 1  # it asks for patches in every mode


async def test_edits_does_not_write_elsewhere(actor: Pinned, tmp_path: Path) -> None:
    """Where the agent works is where it may write."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    events = await done(actor, actor.write(other / "new.txt"), approve="edits")
    assert list(other.iterdir()) == []
    assert "completed" not in statuses(actor, events)


async def test_all_does_both(actor: Pinned) -> None:
    events = await done(actor, actor.write("new.txt"), actor.tools.shell("touch here"), approve="all")
    assert actor.files == ["here", "new.txt"]
    assert statuses(actor, events) == ["completed", "completed"]
    assert {(e.outcome, e.rule) for e in events.of(PermissionResolved)} == {("allowed", "approve=all")}


async def test_dangerous_lets_what_only_looks_pass_and_asks_for_the_rest(actor: Pinned) -> None:
    (actor.cwd / "victim").write_text("dear")
    asked: list[str | None] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request.title)
        return False

    acts = (actor.write("new.txt"), actor.tools.shell("git status"), actor.tools.shell("rm victim"))
    events = await done(actor, *acts, mode="dangerous", approve=approve)
    assert actor.files == ["new.txt", "victim"]
    assert len(asked) == 1
    assert "rm victim" in str(asked[0])
    first, second, third = statuses(actor, events)
    assert (first, third) == ("completed", "declined")
    assert second in ("completed", "failed")  # it ran: there is no repository to look at
    [denied] = events.of(PermissionResolved, outcome="denied")
    assert denied.by == "client"
    if actor.name == "codex":
        edit = events.of(PermissionResolved)[0]
        assert (edit.outcome, edit.by) == ("allowed", "policy")
        assert "editing inside the project" in (edit.rule or "")


async def test_ask_asks_for_all_that_is_not_looking(actor: Pinned) -> None:
    asked: list[str | None] = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request.kind)
        return request.kind == "edit"

    events = await done(actor, actor.write("new.txt"), actor.tools.shell("touch here"), approve=approve)
    assert asked == ["edit", "execute"]
    assert actor.files == ["new.txt"]
    assert statuses(actor, events) == ["completed", "declined"]
    assert [(e.outcome, e.by) for e in events.of(PermissionResolved)] == [
        ("allowed", "client"),
        ("denied", "client"),
    ]
