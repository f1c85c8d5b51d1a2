"""Further folders of a session: what an agent may do where it works it may do there, and nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import PermissionRequest, Unsupported
from tests.real.capability_marks import by
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

NO_TEMP = {"config": {"sandbox_workspace_write": {"exclude_slash_tmp": True, "exclude_tmpdir_env_var": True}}}
"""The tests work below the folder for temporary files, which else belongs to every workspace of Codex."""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One that is added, and one that is not."""
    for name in ("added", "other"):
        (tmp_path / name).mkdir()
    return tmp_path / "added", tmp_path / "other"


def written(*folders: Path) -> list[str]:
    return sorted(f"{folder.name}/{file.name}" for folder in folders for file in folder.iterdir())


@by("claude", "codex", "gemini", "codex-acp")
async def test_edits_are_allowed_there_as_where_it_works(agent: Pinned, folders: tuple[Path, Path]) -> None:
    asked: list[PermissionRequest] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return False

    added, other = folders
    native = NO_TEMP if agent.name == "codex" else {}
    lines = [agent.tools.write(added / "new", "x\n"), agent.tools.write(other / "new", "x\n"), "Done."]
    await agent.ask(lines, "Write them.", mode="edits", approve=approve, add_dirs=[added], native=native)
    assert written(*folders) == ["added/new"]
    # Gemini CLI does not even ask for what lies outside.
    wanted = [] if agent.name == "gemini" else [str(other / "new")]
    assert [path for request in asked for path in request.paths] == wanted


@pytest.mark.parametrize("dialect", ["codex_app", "codex_exec"])
async def test_the_sandbox_of_codex_lets_it_write_there(
    codex: Pinned, folders: tuple[Path, Path], dialect: Any
) -> None:
    added, _ = folders
    lines = [codex.tools.shell(f"touch {folder}/ran") for folder in folders]
    lines += [codex.tools.write(folder / "patched", "x\n") for folder in folders]
    fields = {"approve": "all", "sandbox": "workspace", "native": NO_TEMP, "dialect": dialect}
    await codex.ask([*lines, "Done."], "Do it.", add_dirs=[added], **fields)
    assert written(*folders) == ["added/patched", "added/ran"]


async def test_gemini_stream_writes_there(gemini: Pinned, folders: tuple[Path, Path]) -> None:
    added, _ = folders
    lines = [gemini.tools.write(folder / "new", "x\n") for folder in folders]
    fields = {"approve": "all", "model": "gemini-2.5-pro", "dialect": "gemini_stream"}
    await gemini.ask([*lines, "Done."], "Do it.", add_dirs=[added], **fields)
    assert written(*folders) == ["added/new"]


@by("opencode")
async def test_an_agent_that_takes_none_says_so(agent: Pinned, folders: tuple[Path, Path]) -> None:
    with pytest.raises(Unsupported, match="add_dirs"):
        async with agent.open(["Never said."], prompt="Go.", add_dirs=[folders[0]]):
            pass
