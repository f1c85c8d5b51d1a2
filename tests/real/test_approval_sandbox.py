"""What `sandbox` keeps an agent from, where the agent has one; elsewhere it is refused before anything starts."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import ToolEnded, Unsupported
from dragoman.testing import Scenario, ScriptedModel
from real.acting import Actor
from real.driving import Events, Lines

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sandbox", ["read-only", "workspace"])
async def test_an_agent_without_one_says_so(actor: Actor, sandbox: Any) -> None:
    if actor.name == "codex":
        pytest.skip("it has one: the tests below")
    with pytest.raises(Unsupported, match=f"sandbox={sandbox}"):
        await actor.pinned.ask(["Never said."], "Do it.", sandbox=sandbox, **actor.fields)


@pytest.mark.parametrize("sandbox", ["none", "full"])
async def test_without_one_nothing_is_in_the_way(actor: Actor, sandbox: Any, tmp_path: Path) -> None:
    lines: Lines = [actor.run(f"touch here {tmp_path}/there"), "Done."]
    await actor.pinned.ask(lines, "Do it.", approve="all", sandbox=sandbox, **actor.fields)
    assert actor.files == ["here"]
    assert (tmp_path / "there").exists()
