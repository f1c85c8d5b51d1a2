"""Tools that really run: what they did to the disk, and what we were told of it."""

import json
from typing import Any

import pytest

from dragoman import (
    Delta,
    FileChanged,
    PermissionRequested,
    PlanUpdated,
    RunEnded,
    ToolEnded,
    ToolStarted,
    ToolUpdated,
    TurnEnded,
)
from dragoman.testing import tool
from tests.real.driving import Gate, Lines, Pinned

pytestmark = pytest.mark.anyio

UNASKED = {"mode": "all", "sandbox": "workspace"}
"""To keep its sandbox, Codex asks nobody then."""

PATCH = """\
*** Begin Patch
*** Add File: new.txt
+fresh
*** Update File: old.txt
@@
 one
-two
+2
 three
*** Delete File: gone.txt
*** Update File: from.txt
*** Move to: sub/to.txt
@@
-here
+there
 same
*** End Patch
"""


def output_told(run: Any, request: int) -> str:
    """What the model was told of a call, in its next request."""
    said = run.model.requests_of("main")[request].messages[-1]
    assert said["type"] in ("function_call_output", "custom_tool_call_output")
    return json.dumps(said["output"])


@pytest.mark.parametrize("asked", [True, False])
async def test_a_command_with_a_long_output(codex: Pinned, asked: bool) -> None:
    """Codex tells the output also in pieces; of a command that was asked for mostly only when it has ended."""
    gate = Gate(codex.cwd / "gate")
    call = tool("exec_command", cmd=f"{gate.wait}; seq 1 40000", yield_time_ms=30_000)
    who: dict[str, Any] = {"approve": lambda request: True}
    async with codex.open([call, "Long."], **(who if asked else UNASKED)) as run:
        stream = run.session.prompt("Count.")
        await run.until(ToolStarted)
        await gate.open()
        said = await run.whole(stream)
    whole = "".join(f"{number}\n" for number in range(1, 40001))
    pieces = "".join(piece.text for piece in said.of(Delta, kind="tool_output"))
    done = said.one(ToolEnded)
    assert (done.status, done.exit_code) == ("completed", 0)
    if not (asked and codex.differs("an_output_may_be_missing") and done.output is None):
        assert done.output == whole
    assert pieces or asked
    assert whole.endswith(pieces)
    assert len(said.of(PermissionRequested)) == asked


async def test_a_command_that_goes_on_after_its_turn(codex: Pinned) -> None:
    gate = Gate(codex.cwd / "gate")
    slow = tool("exec_command", cmd=f"{gate.wait} && echo over && touch finished", yield_time_ms=250)
    async with codex.open([slow, "It runs."], approve="all") as run:
        first = await run.turn("Start it.", leaves_running=True)
        assert first.said() == ["It runs."]
        assert first.of(ToolEnded) == []
        assert not (codex.cwd / "finished").exists()
        await run.until(TurnEnded)
        await gate.open()
        done = await run.until(ToolEnded)
    assert (codex.cwd / "finished").exists()
    assert (done.call_id, done.status, done.output) == (
        first.one(ToolStarted).call_id,
        "completed",
        "over\n",
    )
    assert run.events.one(RunEnded).outcome == "completed"


async def test_words_typed_into_a_command(codex: Pinned) -> None:
    def type_into_it(request: Any) -> Any:
        """The number of the command's terminal is in what the model was told of it."""
        told = request.messages[-1]["output"]
        number = int(told.partition("session ID ")[2].split()[0])
        return tool("write_stdin", session_id=number, chars="Ann\n", yield_time_ms=30_000)

    start = tool("exec_command", cmd="read name; echo Hello, $name", yield_time_ms=250, tty=True)
    async with codex.open([start, type_into_it, "Greeted."], approve="all") as run:
        said = await run.turn("Greet Ann.")
        assert "Hello, Ann" in output_told(run, 2)
    done = said.one(ToolEnded)
    assert done.status == "completed"
    assert "Hello, Ann" in (done.output or "")
    [typed] = [update for update in said.of(ToolUpdated) if update.ext]
    assert typed.ext == {"codex.stdin": "Ann\n"}


async def test_a_patch_adds_changes_deletes_and_moves(codex: Pinned) -> None:
    before = {"old.txt": "one\ntwo\nthree\n", "gone.txt": "bye\n", "from.txt": "here\nsame\n"}
    for name, content in before.items():
        (codex.cwd / name).write_text(content)
    lines: Lines = [tool("apply_patch", input=PATCH), "Done."]
    async with codex.open(lines, approve="all") as run:
        said = await run.turn("Change it.")
        assert "Success" in output_told(run, 1)
    files = [path for path in codex.cwd.rglob("*") if path.is_file()]
    assert {str(path.relative_to(codex.cwd)): path.read_text() for path in files} == {
        "new.txt": "fresh\n",
        "old.txt": "one\n2\nthree\n",
        "sub/to.txt": "there\nsame\n",
    }
    call = said.one(ToolStarted)
    assert (call.name, call.kind) == ("apply_patch", "edit")
    for phase in ("proposed", "applied"):
        changes = {change.path: change for change in said.of(FileChanged, phase=phase)}
        new, old, gone, moved = (
            changes.pop(str(codex.cwd / name)) for name in ("new.txt", "old.txt", "gone.txt", "from.txt")
        )
        assert changes == {}
        assert (new.change, new.after, old.change) == ("created", "fresh\n", "modified")
        assert (gone.change, gone.before) == ("deleted", "bye\n")
        assert (moved.change, moved.move_to) == ("moved", str(codex.cwd / "sub" / "to.txt"))
        assert [change.diff.split("\n", 2)[2] for change in (new, old, gone, moved) if change.diff] == [
            "@@ -0,0 +1 @@\n+fresh\n",
            "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
            "@@ -1 +0,0 @@\n-bye\n",
            "@@ -1,2 +1,2 @@\n-here\n+there\n same\n",
        ]
        assert {change.call_id for change in (new, old, gone, moved)} == {call.call_id}
    assert said.one(ToolEnded).status == "completed"
    places = {location.path for location in call.locations}
    assert places == {
        str(codex.cwd / name) for name in ("new.txt", "old.txt", "gone.txt", "from.txt", "sub/to.txt")
    }


async def test_ask_lists_what_was_changed(codex: Pinned) -> None:
    patch = "*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n"
    result = await codex.ask([tool("apply_patch", input=patch), "Done."], "Write it.", approve="edits")
    assert (codex.cwd / "new.txt").read_text() == "fresh\n"
    [change] = result.changes
    assert (change.path, change.change, change.after) == (str(codex.cwd / "new.txt"), "created", "fresh\n")


async def test_a_patch_that_does_not_fit_changes_nothing(codex: Pinned) -> None:
    old = codex.cwd / "old.txt"
    old.write_text("one\ntwo\n")
    patch = "*** Begin Patch\n*** Update File: old.txt\n@@\n-four\n+4\n*** End Patch\n"
    async with codex.open([tool("apply_patch", input=patch), "No four."], approve="all") as run:
        said = await run.turn("Change it.")
        assert "four" in output_told(run, 1)
    assert old.read_text() == "one\ntwo\n"
    assert said.of(FileChanged, phase="applied") == []
    assert said.said() == ["No four."]


async def test_plan(codex: Pinned) -> None:
    steps = [
        {"step": "Look", "status": "completed"},
        {"step": "Leap", "status": "in_progress"},
        {"step": "Land", "status": "pending"},
    ]
    lines: Lines = [tool("update_plan", explanation="As ever.", plan=steps), "Planned."]
    async with codex.open(lines, native={"config": {"tools.update_plan.enabled": True}}) as run:
        said = await run.turn("Make a plan.")
    plan = said.one(PlanUpdated)
    assert [(entry.text, entry.status) for entry in plan.entries] == [
        (step["step"], step["status"]) for step in steps
    ]
    assert plan.ext["codex.explanation"] == "As ever."
