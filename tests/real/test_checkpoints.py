"""Files as they were before: what Claude Code keeps of them for its client, and what Gemini CLI keeps for its terminal."""

import json
import subprocess
from typing import Any

import pytest

from dragoman import AgentFailed, Capability, CommandEnded, Unsupported
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, Lines, Pinned
from tests.real.test_gemini_stream import settle

pytestmark = pytest.mark.anyio

KEPT: dict[str, Any] = {"native": {"file_checkpoints": True}, "approve": "all"}


def prompt_of(turn: Events) -> str:
    """The id of the message that began a turn."""
    [message] = turn.ended.message_ids
    return message


# --- Claude Code ---------------------------------------------------------------------------------------------


def edits(claude: Pinned) -> Lines:
    """Two turns: a file is made, then changed, with another beside it by a command."""
    notes = claude.cwd / "notes"
    second = [claude.tools.edit(notes, "fresh", "stale"), claude.tools.shell("touch by_command"), "Two."]
    return [claude.write("notes"), "One.", *second, "Three."]


@exercises(Capability.REWIND_FILES)
async def test_files_are_as_they_were_before_a_message(claude: Pinned) -> None:
    notes = claude.cwd / "notes"
    async with claude.open(edits(claude), **KEPT) as run:
        first, second = await run.turn("One."), await run.turn("Two.")
        assert notes.read_text() == "stale\n"
        assert await run.session.rewind_files(prompt_of(second), dry_run=True) == [str(notes)]
        assert notes.read_text() == "stale\n"
        assert await run.session.rewind_files(prompt_of(second)) == [str(notes)]
        assert notes.read_text() == "fresh\n"
        assert await run.session.rewind_files(prompt_of(first)) == [str(notes)]
        assert claude.files == ["by_command"]
        await run.turn("Three.")
        said = json.dumps(run.model.requests_of("main")[-1].messages)
    assert all(word in said for word in ("One.", "Two."))
    ended = [event.ok for event in run.events.of(CommandEnded, command="rewind_files")]
    assert ended == [True] * 5


async def test_in_a_session_that_goes_on(claude: Pinned) -> None:
    async with claude.open([claude.write("notes"), "One."], **KEPT) as run:
        first = await run.turn("One.")
    async with claude.open(["Two."], resume=run.session.id, **KEPT) as again:
        await again.turn("Two.")
        assert await again.session.rewind_files(prompt_of(first)) == [str(claude.cwd / "notes")]
    assert claude.files == []


async def test_a_message_that_there_was_not(claude: Pinned) -> None:
    async with claude.open(["Hi."], **KEPT) as run:
        await run.turn("Hi.")
        for dry_run in (True, False):
            with pytest.raises(AgentFailed, match="does not rewind to nothing: No file checkpoint found"):
                await run.session.rewind_files("nothing", dry_run=dry_run)


@by("claude", "codex", "opencode")
async def test_where_nothing_is_kept(agent: Pinned) -> None:
    async with agent.open(["Hi."]) as run:
        await run.turn("Hi.")
        with pytest.raises(Unsupported, match="file_checkpoints"):
            await run.session.rewind_files("nothing")


# --- Gemini CLI ----------------------------------------------------------------------------------------------


def snapshot(gemini: Pinned, name: str) -> None:
    """A checkpoint as the CLI's own terminal writes one: a commit of its shadow repository, and a file that names it."""
    shadow = gemini.home / ".gemini" / "history" / gemini.cwd.name / ".git"
    git = ["git", "--git-dir", str(shadow), "--work-tree", str(gemini.cwd)]
    who = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, *who, "commit", "--quiet", "--message", name], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    call = {"name": "replace", "args": {"file_path": str(gemini.cwd / "notes")}}
    kept = {"history": [], "clientHistory": [], "toolCall": call, "commitHash": commit.strip()}
    folder = gemini.home / ".gemini" / "tmp" / gemini.cwd.name / "checkpoints"
    (folder / f"{name}.json").write_text(json.dumps(kept))


async def test_gemini_makes_none_over_acp_and_restores_those_of_its_terminal(gemini: Pinned) -> None:
    settle(gemini, general={"checkpointing": {"enabled": True}})
    notes = gemini.cwd / "notes"
    notes.write_text("old\n")
    lines: Lines = [gemini.tools.edit(notes, "old", "new"), "Done."]
    async with gemini.open(lines, approve="all", model="gemini-2.5-pro") as run:
        await run.turn("Change it.")
        assert notes.read_text() == "new\n"
        assert (await run.turn("/restore")).said() == ["No checkpoints found."]
        snapshot(gemini, "mine")
        notes.write_text("newer\n")
        [said] = (await run.turn("/restore mine")).said()
        assert said is not None
        assert "Restored project" in said
    assert notes.read_text() == "new\n"


async def test_gemini_makes_none_in_one_turn_and_restores_none(gemini: Pinned) -> None:
    settle(gemini, general={"checkpointing": {"enabled": True}})
    fields: dict[str, Any] = {"dialect": "gemini_stream", "model": "gemini-2.5-pro", "approve": "all"}
    await gemini.ask([gemini.write("notes"), "Done."], "Write it.", **fields)
    assert list(gemini.home.rglob("checkpoints/*")) == []
    result = await gemini.ask([], "/restore", **fields)
    assert result.error is not None
    assert "not supported in non-interactive mode" in result.error.message
