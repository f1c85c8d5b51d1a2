"""What each approve mode lets a real agent do, and what it keeps it from: the files tell."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import HostCalled, PermissionRequested, PermissionResolved, Session, ToolEnded
from dragoman._runtime.standing import Request
from tests.real.acting import Actor
from tests.real.driving import Events, Lines

pytestmark = pytest.mark.anyio


async def done(actor: Actor, *acts: Any, **fields: Any) -> Events:
    """All that happens when the model does this and then says that it is done."""
    lines: Lines = [*acts, "Done."]
    result = await actor.pinned.ask(lines, "Do it.", **{**actor.fields, **fields})
    events = Events(result.events)
    assert events.ended.outcome == "completed"
    assert events.said()[-1:] == ["Done."]
    return events


def statuses(events: Events) -> list[str]:
    return [event.status for event in events.of(ToolEnded)]


async def test_never_changes_no_file_and_runs_no_command(actor: Actor) -> None:
    events = await done(actor, actor.write("new.txt"), actor.run("touch here"), approve="never")
    assert actor.files == []
    assert "completed" not in statuses(events)
    resolved = events.of(PermissionResolved)
    assert {(event.outcome, event.by, event.rule) for event in resolved} == {
        ("denied", "policy", "approve=never")
    }


async def test_plan_changes_nothing(actor: Actor) -> None:
    events = await done(actor, actor.write("new.txt"), actor.run("touch here"), approve="plan")
    assert actor.files == []
    assert "completed" not in statuses(events)
    assert [event for event in events.of(PermissionResolved) if event.outcome == "allowed"] == []


async def test_edits_writes_files_and_runs_no_command(actor: Actor) -> None:
    events = await done(actor, actor.write("new.txt"), actor.run("touch here"), approve="edits")
    assert actor.files == ["new.txt"]
    assert (actor.cwd / "new.txt").read_text() == "fresh\n"
    assert statuses(events) == ["completed", "declined"]
    command = events.of(PermissionResolved)[-1]
    assert (command.outcome, command.by, command.rule) == ("denied", "policy", "no handler")


async def test_edits_does_not_write_elsewhere(actor: Actor, tmp_path: Path) -> None:
    """Where the agent works is where it may write."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    events = await done(actor, actor.write(other / "new.txt"), approve="edits")
    assert list(other.iterdir()) == []
    assert "completed" not in statuses(events)


async def test_all_does_both(actor: Actor) -> None:
    events = await done(actor, actor.write("new.txt"), actor.run("touch here"), approve="all")
    assert actor.files == ["here", "new.txt"]
    assert statuses(events) == ["completed", "completed"]
    assert {(e.outcome, e.rule) for e in events.of(PermissionResolved)} == {("allowed", "approve=all")}


async def test_dangerous_lets_what_only_looks_pass_and_asks_for_the_rest(actor: Actor) -> None:
    (actor.cwd / "victim").write_text("dear")
    asked: list[str | None] = []

    def handler(request: Request, session: Session) -> bool:
        if isinstance(request, HostCalled):
            return True  # no opinion of its own: what it asks for has been settled
        assert isinstance(request, PermissionRequested)
        asked.append(request.title)
        return False

    acts = (actor.write("new.txt"), actor.run("git status"), actor.run("rm victim"))
    events = await done(actor, *acts, approve="dangerous", handler=handler)
    assert actor.files == ["new.txt", "victim"]
    assert len(asked) == 1
    assert "rm victim" in str(asked[0])
    first, second, third = statuses(events)
    assert (first, third) == ("completed", "declined")
    assert second in ("completed", "failed")  # it ran: there is no repository to look at
    [denied] = events.of(PermissionResolved, outcome="denied")
    assert denied.by == "client"


async def test_ask_asks_for_all_that_is_not_looking(actor: Actor) -> None:
    asked: list[str | None] = []

    async def handler(request: Request, session: Session) -> bool:
        if isinstance(request, HostCalled):
            return True
        assert isinstance(request, PermissionRequested)
        asked.append(request.kind)
        return request.kind == "edit"

    events = await done(actor, actor.write("new.txt"), actor.run("touch here"), handler=handler)
    assert asked == ["edit", "execute"]
    assert actor.files == ["new.txt"]
    assert statuses(events) == ["completed", "declined"]
    assert [(e.outcome, e.by) for e in events.of(PermissionResolved)] == [
        ("allowed", "client"),
        ("denied", "client"),
    ]
