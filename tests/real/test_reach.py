"""What a rule can reach, agent by agent: the cells of the table in docs/approval.md."""

import json
from pathlib import Path

import pytest

from dragoman import PermissionRequest, PermissionRequested, PermissionResolved, ToolEnded
from dragoman.testing import tool
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

NO_ENV = """
[[rule]]
name = "no secrets"
path = ["**/.env", "**/notes.txt"]
effect = "deny"
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(NO_ENV)
    return path


@pytest.mark.parametrize("command", ["cat .env", "head -1 .env", "sed p .env > out"])
@pytest.mark.parametrize("trusted", [True, False])
async def test_codex_asks_for_every_command(codex: Pinned, policy: Path, command: str, trusted: bool) -> None:
    (codex.cwd / ".env").write_text("TOKEN=geheim-4711\n")
    async with codex.open(
        [codex.tools.shell(command), "No."], mode="all", policy=policy, trusted=trusted, redact=False
    ) as run:
        said = await run.turn("Read it.")
        told = json.dumps([request.messages for request in run.model.requests_of("main")])
    if ">" not in command and codex.differs("what_only_looks_is_not_asked_for"):
        assert "geheim" in told
        assert said.of(PermissionRequested) == []
        return
    assert "geheim" not in told
    assert codex.files == [".env"]
    assert said.one(PermissionResolved).outcome == "denied"


@pytest.mark.parametrize("kind", ["read_file", "cat", "head"])
async def test_gemini_asks_for_every_tool(gemini: Pinned, policy: Path, kind: str) -> None:
    """It read files and ran what it takes for harmless without a word."""
    (gemini.cwd / "sub").mkdir()
    (gemini.cwd / "sub" / "notes.txt").write_text("TOKEN=geheim-4711\n")
    call = {
        "read_file": tool("read_file", file_path=str(gemini.cwd / "sub" / "notes.txt")),
        "cat": gemini.tools.shell("cat sub/notes.txt"),
        "head": gemini.tools.shell("head -1 sub/notes.txt"),
    }[kind]
    async with gemini.open(
        [call, "No."], mode="all", policy=policy, model="gemini-2.5-pro", redact=False
    ) as run:
        said = await run.turn("Read it.")
        told = json.dumps([request.messages for request in run.model.requests_of("main")])
    assert "geheim" not in told
    assert said.one(PermissionResolved).outcome == "denied"


async def test_gemini_is_not_asked_about_what_only_looks(gemini: Pinned) -> None:
    (gemini.cwd / "a.txt").write_text("plain\n")
    calls = [tool("read_file", file_path=str(gemini.cwd / "a.txt")), gemini.tools.shell("ls")]
    asked: list[str] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request.tool)
        return False

    async with gemini.open([*calls, "Read."], approve=approve, model="gemini-2.5-pro") as run:
        said = await run.turn("Look.")
    assert asked == []
    assert [done.status for done in said.of(ToolEnded)] == ["completed"] * 2
