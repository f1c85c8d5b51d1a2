"""The folders that the user trusts: what they cover, and the file they are kept in."""

import os
import stat
from pathlib import Path

import pytest

from dragoman._model.errors import UsageError
from dragoman._policy import trust


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "dragoman" / "trusted.toml"


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_nothing_is_trusted_at_first(tmp_path: Path, file: Path) -> None:
    assert trust.folders(file) == []
    assert not trust.is_trusted(str(tmp_path), file)


def test_a_folder_covers_what_lies_below_and_nothing_above(tmp_path: Path, file: Path) -> None:
    here = tmp_path / "here"
    for folder in (here / "below", tmp_path / "here2"):
        folder.mkdir(parents=True)
    assert trust.add(str(here), file) == os.path.realpath(here)
    assert trust.is_trusted(str(here), file)
    assert trust.is_trusted(str(here / "below"), file)
    assert not trust.is_trusted(str(tmp_path), file)
    assert not trust.is_trusted(str(tmp_path / "here2"), file)
    assert not trust.is_trusted(str(here / ".."), file)


def test_a_part_of_a_repository_is_trusted_with_it_alone(tmp_path: Path, file: Path) -> None:
    """Agents read what stands at the root of a repository too, and its parents may be anybody's."""
    root = repository(tmp_path / "repo")
    (root / "src").mkdir()
    with pytest.raises(UsageError, match="is a part of"):
        trust.add(str(root / "src"), file)
    trust.add(str(root), file)
    assert trust.is_trusted(str(root / "src"), file)


def test_a_folder_that_became_part_of_a_repository_is_not_trusted_any_more(
    tmp_path: Path, file: Path
) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    trust.add(str(inner), file)
    (tmp_path / "outer" / ".git").touch()
    assert not trust.is_trusted(str(inner), file)


def test_links_are_followed(tmp_path: Path, file: Path) -> None:
    """A link in a trusted folder does not make trusted where it leads, nor the other way round."""
    (good := tmp_path / "good").mkdir()
    (bad := tmp_path / "bad").mkdir()
    (good / "link").symlink_to(bad)
    (bad / "link").symlink_to(good)
    trust.add(str(bad / "link"), file)
    assert trust.folders(file) == [os.path.realpath(good)]
    assert not trust.is_trusted(str(good / "link"), file)
    assert trust.is_trusted(str(bad / "link"), file)


def test_it_is_trusted_once_and_can_be_taken_back(tmp_path: Path, file: Path) -> None:
    for name in ("a", "b", "a"):
        (tmp_path / name).mkdir(exist_ok=True)
        trust.add(str(tmp_path / name), file)
    assert [Path(folder).name for folder in trust.folders(file)] == ["b", "a"]
    (tmp_path / "a").rmdir()
    assert trust.remove(str(tmp_path / "a"), file)
    assert not trust.remove(str(tmp_path / "a"), file)
    assert [Path(folder).name for folder in trust.folders(file)] == ["b"]


@pytest.mark.parametrize("name", ['quote"', "new\nline", "\x7f\x1b", "ümläut", "back\\slash"])
def test_odd_names_are_kept(tmp_path: Path, file: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    trust.add(str(tmp_path / name), file)
    assert trust.is_trusted(str(tmp_path / name), file)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path, file: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(odd)
    with pytest.raises(UsageError, match="no text"):
        trust.add(os.fsdecode(odd), file)
    assert trust.folders(file) == []


def test_nobody_else_reads_the_file_and_nothing_else_is_left(tmp_path: Path, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("folders = []\n")
    file.chmod(0o644)
    trust.add(str(tmp_path), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["trusted.toml"]


@pytest.mark.parametrize(
    "text", ["folders = 1", "nothing", "folder = []", "folders = [1]", "a = " + "[" * 5000]
)
def test_a_file_that_is_not_right_is_an_error(file: Path, text: str) -> None:
    """Never an empty list, and never a traceback."""
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(UsageError):
        trust.is_trusted("/", file)


@pytest.mark.parametrize("entry", ["", ".", "work"])
def test_a_name_that_leads_from_anywhere_trusts_nothing(file: Path, entry: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(f'folders = ["{entry}"]')
    assert not trust.is_trusted("/", file)
    assert not trust.is_trusted(os.getcwd(), file)


def test_what_is_no_plain_file_is_not_waited_for(file: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    with pytest.raises(UsageError, match="no regular file"):
        trust.folders(file)
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="no regular file"):
        trust.folders(file)


def test_what_a_project_brings_is_looked_for_up_to_its_root(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "a" / "b").mkdir(parents=True)
    (root / ".mcp.json").symlink_to("nowhere")
    (tmp_path / ".env").touch()
    assert trust.brought(str(root / "a" / "b"), (".mcp.json", ".env", ".claude")) == [".mcp.json"]
