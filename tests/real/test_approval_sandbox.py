"""What `sandbox` keeps an agent from, where the agent has one; elsewhere it is refused before anything starts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman import Unsupported
from dragoman.testing import ToolCall
from tests.real.agent_tools import outside
from tests.real.capability_marks import by
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio


@by("claude", "gemini")
@pytest.mark.parametrize("sandbox", ["read-only", "workspace"])
async def test_there_is_none(agent: Pinned, sandbox: Any) -> None:
    with pytest.raises(Unsupported, match=f"sandbox={sandbox}"):
        await agent.ask(["Never said."], "Do it.", sandbox=sandbox)


@pytest.mark.parametrize("sandbox", ["none", "full"])
async def test_without_one_nothing_is_in_the_way(actor: Pinned, sandbox: Any, tmp_path: Path) -> None:
    lines: Lines = [actor.tools.shell(f"touch here {tmp_path}/there"), "Done."]
    await actor.ask(lines, "Do it.", approve="all", sandbox=sandbox)
    assert actor.files == ["here"]
    assert (tmp_path / "there").exists()


# --- that of Codex -------------------------------------------------------------------------------------------

NO_TEMP = {"config": {"sandbox_workspace_write": {"exclude_slash_tmp": True, "exclude_tmpdir_env_var": True}}}
"""The tests work below the folder for temporary files, which else belongs to every workspace."""


async def written(
    codex: Pinned, tmp_path: Path, shell: Callable[[str], ToolCall] | None = None, **fields: Any
) -> list[str]:
    """What is there after an attempt to write in four ways."""
    shell = shell or codex.tools.shell
    out = tmp_path / "out"
    out.mkdir()
    acts = [
        shell("touch ran"),
        codex.write("patched"),
        shell(f"touch {out}/ran"),
        codex.write(out / "patched"),
    ]
    result = await codex.ask([*acts, "Done."], "Do it.", native=NO_TEMP, **fields)
    assert result.text == "Done."
    return [*codex.files, *sorted(f"out/{path.name}" for path in out.iterdir())]


@pytest.mark.parametrize(
    ("approve", "sandbox", "there"),
    [
        ("all", "read-only", []),
        ("all", "workspace", ["patched", "ran"]),
        ("all", "full", ["patched", "ran", "out/patched", "out/ran"]),
        ("edits", "read-only", []),
        ("edits", "workspace", ["patched"]),
        ("dangerous", "read-only", []),
        ("dangerous", "workspace", ["patched"]),
        ("plan", "workspace", []),
        ("plan", "full", []),
        ("never", "full", []),
        ("ask", "full", []),
    ],
)
async def test_what_it_lets_through(
    codex: Pinned, tmp_path: Path, approve: Any, sandbox: Any, there: list[str]
) -> None:
    assert await written(codex, tmp_path, approve=approve, sandbox=sandbox) == there


@pytest.mark.parametrize(
    ("approve", "sandbox", "there"),
    [
        ("ask", "none", []),
        ("all", "read-only", []),
        ("all", "workspace", ["patched", "ran"]),
        ("plan", "full", []),
        ("never", "full", []),
    ],
)
async def test_what_it_lets_through_in_one_turn(
    codex: Pinned, tmp_path: Path, approve: Any, sandbox: Any, there: list[str]
) -> None:
    """`codex exec`, which asks nobody."""
    fields = {"dialect": "codex_exec", "approve": approve, "sandbox": sandbox}
    assert await written(codex, tmp_path, **fields) == there


async def test_a_yes_of_a_person_goes_beyond_it(codex: Pinned, tmp_path: Path) -> None:
    """So it is in Codex: what was approved runs outside of the sandbox."""
    there = await written(codex, tmp_path, outside, sandbox="read-only", approve=lambda request: True)
    assert there == ["patched", "ran", "out/patched", "out/ran"]


async def test_a_policy_that_could_not_be_obeyed_is_refused(codex: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\ncommand = "rm"\neffect = "deny"\n')
    with pytest.raises(Unsupported, match="asks nobody"):
        await codex.ask(["Never said."], "Do it.", approve="all", sandbox="workspace", policy=rules)
