"""Tools that really run: what they did to the disk, and what we were told of it."""

import pytest

from dragoman import Capability, FileChanged, RunEnded, ToolEnded, ToolStarted, ToolUpdated, TurnEnded
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Gate, Lines, Pinned

pytestmark = pytest.mark.anyio

BEFORE = "one\ntwo\nthree\n"
AFTER = "one\n2\nthree\n"


async def test_read_edit_and_write(claude: Pinned) -> None:
    old, new = claude.cwd / "old.txt", claude.cwd / "new.txt"
    old.write_text(BEFORE)
    script: Lines = [
        tool("Read", file_path=str(old)),
        tool("Edit", file_path=str(old), old_string="two", new_string="2"),
        tool("Write", file_path=str(new), content="fresh\n"),
        "Done.",
    ]
    result = await claude.ask(script, "Change it.", approve="edits")
    assert result.outcome == "completed"
    assert old.read_text() == AFTER
    assert new.read_text() == "fresh\n"
    edited, written = result.changes
    assert (edited.path, edited.change, edited.before) == (str(old), "modified", BEFORE)
    assert "-two\n+2\n" in (edited.diff or "")
    assert (written.path, written.change, written.after) == (str(new), "created", "fresh\n")
    assert "+fresh\n" in (written.diff or "")
    calls = [event for event in result.events if isinstance(event, ToolStarted)]
    assert [(call.name, call.kind) for call in calls] == [
        ("Read", "read"),
        ("Edit", "edit"),
        ("Write", "edit"),
    ]
    assert [change.call_id for change in result.changes] == [call.call_id for call in calls[1:]]
    assert [call.locations[0].path for call in calls] == [str(old), str(old), str(new)]
    ends = [event for event in result.events if isinstance(event, ToolEnded)]
    assert [end.status for end in ends] == ["completed"] * 3
    assert "two" in (ends[0].output or "")


async def test_an_edit_that_fails_changes_nothing(claude: Pinned) -> None:
    file = claude.cwd / "old.txt"
    file.write_text(BEFORE)
    edit = tool("Edit", file_path=str(file), old_string="four", new_string="4")
    result = await claude.ask(
        [tool("Read", file_path=str(file)), edit, "No four."], "Change it.", approve="edits"
    )
    assert file.read_text() == BEFORE
    assert result.changes == []
    [failed] = [event for event in result.events if isinstance(event, FileChanged)]
    assert (failed.phase, failed.path) == ("failed", str(file))


@exercises(Capability.BACKGROUND)
async def test_a_command_in_the_background_outlives_its_turn_and_starts_another(claude: Pinned) -> None:
    gate = Gate(claude.cwd / "gate")
    command = f"{gate.wait} && touch finished"
    script: Lines = [tool("Bash", command=command, run_in_background=True), "It runs.", "It has finished."]
    async with claude.open(script, approve="all") as run:
        first = await run.turn("Start it.")
        assert first.said() == ["It runs."]
        assert first.of(ToolUpdated)
        assert first.of(ToolEnded) == []
        assert not (claude.cwd / "finished").exists()
        await run.until(TurnEnded)
        await gate.open()
        second = await run.until(TurnEnded)
        assert (second.turn, second.outcome, second.text) == (2, "completed", "It has finished.")
    assert (claude.cwd / "finished").exists()
    assert run.events.one(ToolEnded).status == "completed"
    assert run.events.one(RunEnded).outcome == "completed"
