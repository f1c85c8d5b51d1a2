import shutil
import subprocess
import unittest.mock
from difflib import unified_diff
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._model import hunks, patches
from dragoman._model.events import FileChanged
from dragoman._model.patches import between, from_hunks, from_texts
from dragoman._wire.event_json import decode, encode

EDIT = [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-one", "+ONE", " two"]}]


def test_hunks_become_a_unified_diff() -> None:
    assert from_hunks("/w/a.txt", EDIT) == "--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"


def test_a_hunk_without_counts_is_counted() -> None:
    assert from_hunks("a", [{"lines": ["+x"]}], created=True) == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize("hunks", [None, [], "x", [1], [{"lines": 3}], [{"lines": []}], [{"lines": [None]}]])
def test_what_is_no_hunk_makes_no_diff(hunks: object) -> None:
    assert from_hunks("a", hunks) is None


def test_texts_become_a_unified_diff() -> None:
    assert from_texts("a", "x\ny", "x\nz\n") == (
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n"
    )


def test_a_file_that_was_not_there() -> None:
    assert from_texts("/a", None, "x\n") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert from_texts("/a", "x\n", None) == "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert from_texts("/a", "x", "x") is None


PATCH = shutil.which("git")
TEXT = st.lists(st.sampled_from(["a", "b", "c\u2028d", "e\x85f", ""]), max_size=8).map("\n".join)


@pytest.mark.skipif(PATCH is None, reason="git applies the diff")
@settings(max_examples=25)
@given(before=TEXT, after=TEXT)
def test_git_can_apply_it(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    diff = from_texts("file", before, after)
    if diff is None:
        assert before == after
        return
    folder: Path = tmp_path_factory.mktemp("patch")
    (folder / "file").write_bytes(before.encode())
    command = [str(PATCH), "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=diff.encode(), cwd=folder, check=True, capture_output=True)
    assert (folder / "file").read_bytes() == after.encode()


def test_huge_texts_are_one_hunk_between_their_common_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunks, "MOST_PAIRS", 10)
    old = [f"{n}\n" for n in range(20)]
    new = [*old[:8], "x\n", "y\n", *old[12:]]
    diff = from_texts("a", "".join(old), "".join(new))
    assert diff == (
        "--- a/a\n+++ b/a\n@@ -6,10 +6,8 @@\n 5\n 6\n 7\n-8\n-9\n-10\n-11\n+x\n+y\n 12\n 13\n 14\n"
    )


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "\n", "last"]), max_size=40)


@given(before=LINES, after=LINES)
def test_hunks_are_those_of_difflib(before: list[str], after: list[str]) -> None:
    assert hunks.hunks(before, after) == list(unified_diff(before, after))[2:]


def test_hunks_of_a_real_edit_are_those_of_difflib() -> None:
    before = Path(unittest.mock.__file__).read_text().splitlines(keepends=True)[:1_900]
    after = [line.upper() if n % 7 == 0 else line for n, line in enumerate(before) if n % 31]
    assert hunks.hunks(before, after) == list(unified_diff(before, after))[2:]


def test_repetitive_texts_are_one_hunk() -> None:
    """Below the bound on their size: every second line is the same, and each search finds one of them."""
    before = "".join(f"same\n{n}\n" for n in range(10_000))
    after = "".join(f"same\nnew {n}\n" for n in range(99))
    diff = from_texts("a", before, after) or ""
    assert diff.count("\n@@ ") == 1
    assert diff.startswith("--- a/a\n+++ b/a\n@@ -1,20000 +1,198 @@\n same\n-0\n-same\n-1\n")


def test_with_too_few_steps_all_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is looked for in the other text: 4 steps, and one that is left in what is left of it."""
    before, after = ["a\n", "b\n"], ["b\n", "a\n"]
    monkeypatch.setattr(hunks, "STEPS_A_LINE", 0)
    monkeypatch.setattr(hunks, "FIRST_STEPS", 6)
    assert hunks.hunks(before, after) == ["@@ -1,2 +1,2 @@\n", "+b\n", " a\n", "-b\n"]
    monkeypatch.setattr(hunks, "FIRST_STEPS", 3)
    assert hunks.hunks(before, after) == ["@@ -1,2 +1,2 @@\n", "-a\n", "-b\n", "+b\n", "+a\n"]
    monkeypatch.setattr(hunks, "STEPS_A_LINE", 1)
    assert hunks.hunks(before, after) == ["@@ -1,2 +1,2 @@\n", "+b\n", " a\n", "-b\n"]


def test_a_diff_is_made_when_it_is_read_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(patches, "from_texts", lambda *texts: made.append(texts[0]) or from_texts(*texts))
    event = FileChanged(path="a", change="modified", diff=between("a", "x\n", "y\n"))
    same = FileChanged(path="a", change="modified", diff=from_texts("a", "x\n", "y\n"))
    assert made == []
    assert event.diff == event.diff == same.diff
    assert made == ["a"]
    assert event == same
    assert between("a", "x", "x") is None


def test_a_diff_that_nobody_read_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(patches, "from_texts", lambda *texts: made.append(texts[0]) or from_texts(*texts))
    event = FileChanged(path="a", change="modified", diff=between("a", "x\n", "y\n"))
    again = decode(encode(event))
    assert isinstance(again, FileChanged)
    assert again.diff == from_texts("a", "x\n", "y\n")
    assert encode(event) == encode(again)
    assert made == ["a"]
