"""Files of a run's own: nobody else reads them, and none is left."""

import os
import stat
from pathlib import Path

import pytest

from dragoman._model.errors import SpawnFailed
from dragoman._runtime import own_files
from tests.runtime.toy_dialect import alone, toy_plan


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Path(own_files.new_folder())


def left_in(folder: Path) -> list[str]:
    return os.listdir(folder)


def test_only_the_owner_reads_them(folder: Path) -> None:
    assert not folder.exists()
    files = {str(folder / "a"): b"one", str(folder / "b"): b"two"}
    own_files.write(files)
    assert (folder / "a").read_bytes() == b"one"
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, *files)] == [0o700, 0o600, 0o600]
    own_files.remove(files)
    assert not folder.exists()


def test_what_is_there_already_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "a").write_text("somebody else's")
    with pytest.raises(FileExistsError):
        own_files.write({str(folder / "a"): b"ours"})
    assert (folder / "a").read_text() == "somebody else's"


def test_half_of_them_is_none(folder: Path) -> None:
    with pytest.raises(OSError, match="too long"):
        own_files.write({str(folder / "a"): b"x", str(folder / ("b" * 300)): b"y"})
    assert not folder.exists()


@pytest.mark.anyio
@pytest.mark.parametrize("program", ["/no/such/program", None])
async def test_they_go_with_the_run(program: str | None, folder: Path) -> None:
    plan = toy_plan()
    plan.files = {str(folder / "a"): b"x"}
    if program is not None:
        plan.argv = [program]
        with pytest.raises(SpawnFailed):
            async with alone(plan):
                pass
    else:
        async with alone(plan):
            assert left_in(folder.parent) == [folder.name]
    assert left_in(folder.parent) == []


@pytest.mark.anyio
async def test_no_place_for_them_is_said(folder: Path) -> None:
    plan = toy_plan()
    plan.files = {str(folder / "missing" / "a"): b"x"}
    with pytest.raises(SpawnFailed, match="a file for it cannot be written"):
        async with alone(plan):
            pass
