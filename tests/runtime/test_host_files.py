"""Files that an agent reads and writes through its client, and those that it does not."""

import os
from pathlib import Path

import pytest

from dragoman._runtime.host import files as host_files
from dragoman._runtime.host.files import Files, NotThere, Refused


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "secret").write_text("out of bounds")
    return tmp_path / "home"


@pytest.fixture
def files(home: Path) -> Files:
    return Files([str(home)])


def test_what_is_written_is_read(files: Files, home: Path) -> None:
    files.write(str(home / "new" / "deep" / "file.txt"), "one\r\ntwo\u2028 and\x85 three\n")
    assert (home / "new/deep/file.txt").read_bytes() == "one\r\ntwo\u2028 and\x85 three\n".encode()
    assert files.read(str(home / "new/deep/file.txt")) == "one\r\ntwo\u2028 and\x85 three\n"
    files.write("new/deep/file.txt", "short")
    assert files.read("new/deep/file.txt") == "short"


@pytest.mark.parametrize(
    ("line", "limit", "text"),
    [
        (None, None, "1\n2\n3\n"),
        (2, None, "2\n3\n"),
        (0, 1, "1\n"),
        (1, 2, "1\n2\n"),
        (2, 1, "2\n"),
        (3, 1, "3\n"),
        (3, 9, "3\n"),
        (None, 0, ""),
        (9, None, ""),
        (9, 9, ""),
    ],
)
def test_some_lines_of_a_file(
    files: Files, home: Path, line: int | None, limit: int | None, text: str
) -> None:
    (home / "numbers").write_text("1\n2\n3\n")
    assert files.read(str(home / "numbers"), line, limit) == text


def test_a_file_that_is_not_there_is_refused_as_such(files: Files, home: Path) -> None:
    for name in ("nowhere", "nowhere/at all"):
        with pytest.raises(NotThere, match=f"Resource not found: {name}") as refusal:
            files.read(name)
        assert refusal.value.code == -32002
    assert list(home.iterdir()) == []


def test_a_file_keeps_its_mode_and_its_other_names(files: Files, home: Path) -> None:
    (home / "run.sh").write_text("#!/bin/sh\n")
    (home / "run.sh").chmod(0o750)
    os.link(home / "run.sh", home / "same.sh")
    files.write("run.sh", "#!/bin/sh\ntrue\n")
    assert (home / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (home / "same.sh").read_text() == "#!/bin/sh\ntrue\n"


def test_links_within_the_directories_are_followed(tmp_path: Path, home: Path) -> None:
    (tmp_path / "lib").mkdir()
    (home / "vendor").symlink_to(tmp_path / "lib")
    both = Files([str(home), str(tmp_path / "lib")])
    both.write(str(home / "vendor" / "a.txt"), "a")
    assert (tmp_path / "lib" / "a.txt").read_text() == "a"
    (tmp_path / "house").symlink_to(home)
    (home / "x").write_text("x")
    assert Files([str(tmp_path / "house")]).read(str(tmp_path / "house" / ".." / "home" / "x")) == "x"


def test_the_root_of_all_is_a_root_too(home: Path) -> None:
    (home / "file").write_text("text")
    assert Files(["/"]).read(str(home / "file")) == "text"


def leave(home: Path, way: str) -> str:
    """A path that leads out."""
    secret = home.parent / "secret"
    if way == "absolute":
        return str(secret)
    if way == "dots":
        return str(home / "sub" / ".." / ".." / "secret")
    if way == "relative":
        return "../secret"
    if way == "sibling":
        (home.parent / "home2").mkdir()
        (home.parent / "home2" / "file").write_text("out of bounds")
        return str(home.parent / "home2" / "file")
    if way == "link":
        (home / "link").symlink_to(secret)
        return str(home / "link")
    if way == "linked directory":
        (home / "up").symlink_to("..")
        return str(home / "up" / "secret")
    if way == "chain":
        (home / "b").symlink_to("..")
        (home / "a").symlink_to("b")
        return str(home / "a" / "secret")
    (home / "dangling").symlink_to(home.parent / "not there yet")
    return str(home / "dangling")


WAYS = ("absolute", "dots", "relative", "sibling", "link", "linked directory", "chain", "dangling link")


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_out(files: Files, home: Path, way: str) -> None:
    path = leave(home, way)
    with pytest.raises(Refused, match="outside of the session's directories"):
        files.read(path)
    with pytest.raises(Refused, match="outside of the session's directories"):
        files.write(path, "pwned")
    assert (home.parent / "secret").read_text() == "out of bounds"
    assert not (home.parent / "not there yet").exists()


@pytest.mark.parametrize("late", ["file", "directory"])
def test_a_link_put_in_the_way_after_the_look_is_not_followed(
    files: Files, home: Path, late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race: the path was harmless when it was looked at, and is a link when it is opened."""
    (home / "sub").mkdir()
    (home / "sub" / "secret").write_text("harmless")
    path = str(home / "sub" / "secret")
    look = Files._placed

    def look_then_swap(self: Files, path: str) -> tuple[str, str]:
        placed = look(self, path)
        if late == "file":
            (home / "sub" / "secret").unlink(missing_ok=True)
            (home / "sub" / "secret").symlink_to(home.parent / "secret")
        elif not (home / "sub").is_symlink():
            (home / "sub").rename(home / "moved")
            (home / "sub").symlink_to("..")
        return placed

    monkeypatch.setattr(Files, "_placed", look_then_swap)
    with pytest.raises(Refused):
        files.write(path, "pwned")
    with pytest.raises(Refused):
        files.read(path)
    assert (home.parent / "secret").read_text() == "out of bounds"


@pytest.mark.parametrize("path", ["nul\0byte", "half \ud83d", "loop"])
def test_what_is_no_path_is_refused(files: Files, home: Path, path: str) -> None:
    (home / "loop").symlink_to("loop")
    with pytest.raises(Refused):
        files.read(path)
    with pytest.raises(Refused):
        files.write(path, "text")


def test_only_regular_files_of_text(files: Files, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(home / "pipe")
    (home / "binary").write_bytes(b"\xff\xfe")
    for path in ("pipe", ".", "binary"):
        with pytest.raises(Refused):
            files.read(path)
    for path in ("pipe", "."):
        with pytest.raises(Refused):
            files.write(path, "text")
    with pytest.raises(Refused, match="half a character"):
        files.write("half", "\ud83d")
    monkeypatch.setattr(host_files, "LARGEST", 1)
    with pytest.raises(Refused, match="more than 1 bytes"):
        files.read("binary")
    assert not (home / "half").exists()


def test_no_descriptor_stays_open(files: Files, home: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    files.write("a/b/c", "text")
    files.read("a/b/c")
    for path in ("a", "a/b/c/d", "../secret"):
        with pytest.raises(Refused):
            files.write(path, "text")
    assert len(os.listdir("/proc/self/fd")) == before
