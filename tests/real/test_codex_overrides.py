"""What is said of the turns of Codex: its own word for when it asks, and settings that change from one turn to the next, as
its session file has them."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman import PermissionRequest, PermissionResolved, Unsupported, UsageError
from tests.real.agent_tools import outside
from tests.real.driving import Events, Lines, Pinned
from tests.real.test_trust import Hostile

pytestmark = pytest.mark.anyio


def contexts(codex: Pinned) -> list[dict[str, Any]]:
    """What each turn was told to work with."""
    [rollout] = codex.home.rglob("rollout-*.jsonl")
    rows = map(json.loads, rollout.read_text("utf-8").splitlines())
    return [row["payload"] for row in rows if row["type"] == "turn_context"]


# --- its own word for when it asks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "asked", "there"),
    [
        ("untrusted", ["touch ran", "touch let_out"], []),
        ("on-request", ["touch let_out"], ["ran"]),
        ("never", [], ["ran"]),
    ],
)
async def test_when_it_asks(codex: Pinned, word: str, asked: list[str], there: list[str]) -> None:
    """Whatever it asks for, the policy judges; with a looser word it asks for less."""
    if word == "untrusted" and codex.differs("nothing_may_be_asked_to_run_outside"):
        asked = ["touch ran"]
    seen: list[str] = []

    def approve(request: PermissionRequest) -> bool:
        seen.append(str(request.input["command"]))
        return False

    lines: Lines = [codex.tools.shell("touch ran"), outside("touch let_out"), "Done."]
    result = await codex.ask(lines, "Do it.", approve=approve, native={"approval_policy": word})
    assert [line for line in asked if any(line in each for each in seen)] == asked
    assert len(seen) == len(asked)
    assert codex.files == there
    assert contexts(codex)[0]["approval_policy"] == word
    assert {answer.outcome for answer in Events(result.events).of(PermissionResolved)} <= {"denied"}


@pytest.mark.parametrize(
    ("fields", "error", "why"),
    [
        ({"native": {"approval_policy": "on-failure"}}, UsageError, "must be one of untrusted, on-request"),
        ({"native": {"approval_policy": ["never"]}}, UsageError, "must be one of"),
        ({"approve": "plan"}, Unsupported, "with approve=plan"),
        ({"approve": "all", "sandbox": "workspace"}, Unsupported, "with sandbox=workspace"),
        ({"policy": "rules.toml"}, Unsupported, "whatever a rule says"),
        ({"dialect": "codex_exec"}, Unsupported, "Use the dialect codex_app"),
    ],
)
async def test_where_it_cannot_be(codex: Pinned, fields: dict[str, Any], error: Any, why: str) -> None:
    with pytest.raises(error, match=why):
        await codex.ask(["Never."], "Do it.", **{"native": {"approval_policy": "on-request"}, **fields})


async def test_codex_has_no_on_failure_any_more(codex: Pinned) -> None:
    """004 §4.2 names it; the app-server of 0.166.0 does not know it."""
    async with codex.open(["Hi."]) as run:
        await run.turn("Hi.")
        ended = await run.session.set_option("approvalPolicy", "on-failure")
        assert ended is not None
        if codex.differs("on_failure_is_a_word"):
            assert ended.ok
            return
        assert ended.error is not None
        assert "unknown variant `on-failure`" in ended.error.message


# --- from one turn to the next -------------------------------------------------------------------------------


async def test_what_is_set_between_turns_holds_from_the_next_one_on(codex: Pinned, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lines: Lines = ["One.", codex.tools.shell("touch here"), "Two.", "Three."]
    async with codex.open(lines, mode="all", native={"effort": "low"}) as run:
        session = run.session
        await run.turn("One.")
        await session.set_model("gpt-5.4")
        await session.set_option("cwd", str(elsewhere))
        await session.set_option("effort", "high")
        await session.set_option("approvalPolicy", "on-request")
        await run.turn("Two.")
        await session.set_mode("never")
        await run.turn("Three.")
        models = [request.model for request in run.model.requests_of("main")]
    first, second, third = contexts(codex)
    keys = ("cwd", "model", "effort", "approval_policy")
    assert [first[key] for key in keys] == [str(codex.cwd), "gpt-5.5", "low", "untrusted"]
    assert [second[key] for key in keys] == [str(elsewhere), "gpt-5.4", "high", "on-request"]
    assert [third[key] for key in keys] == [str(elsewhere), "gpt-5.4", "high", "never"]
    assert third["sandbox_policy"]["type"] == "read-only"
    assert models == ["gpt-5.5", "gpt-5.4", "gpt-5.4", "gpt-5.4"]
    assert (elsewhere / "here").exists()


async def test_what_lies_in_the_next_folder_does_not_run(codex: Pinned, tmp_path: Path) -> None:
    (tmp_path / "hostile").mkdir()
    hostile = Hostile(tmp_path / "hostile", tmp_path / "marks")
    lines: Lines = ["One.", codex.tools.shell("touch here"), "Two."]
    async with codex.open(lines, approve="all") as run:
        await run.turn("One.")
        await run.session.set_option("cwd", str(hostile.cwd))
        await run.turn("Two.")
    assert (hostile.cwd / "here").exists()
    assert hostile.ran == set()
