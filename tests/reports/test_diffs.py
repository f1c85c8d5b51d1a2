"""Unified diffs, line by line."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model import patches
from dragoman._model.events import FileChanged
from dragoman._reports.diffs import DiffRow, counted, diff_of, diff_of_edit, diff_rows


def test_names_of_files_are_told_from_lines_that_look_so() -> None:
    diff = (
        "diff --git a/q.sql b/q.sql\nindex 1..2 100644\n--- a/q.sql\n+++ b/q.sql\n"
        "@@ -1,3 +1,2 @@ one\n--- a comment\n-- it\n+++ i\n same\n"
        "@@ -9 +8 @@\n-x\n\\ No newline at end of file\n+y\n--- a/r\n+++ b/r\n@@ -0,0 +1 @@\n+z\n"
    )
    rows = diff_rows(diff)
    assert rows == [
        ("@", "@@ -1,3 +1,2 @@ one"), ("-", "-- a comment"), ("-", "- it"), ("+", "++ i"), (" ", "same"),
        ("@", "@@ -9 +8 @@"), ("-", "x"), ("@", "\\ No newline at end of file"), ("+", "y"),
        ("@", "@@ -0,0 +1 @@"), ("+", "z"),
    ]  # fmt: skip
    assert counted(rows) == (3, 3)


def test_what_no_diff_has_is_shown_all_the_same() -> None:
    diff = "new file mode 100755\nBinary files differ\n@@ nonsense @@\n+a\n@@ -1,9 +1,9 @@\n b\n@@ -1 +1 @@\n-c\nodd\n"
    assert diff_rows(diff) == [
        ("@", "new file mode 100755"), ("@", "Binary files differ"), ("@", "@@ nonsense @@"), ("+", "a"),
        ("@", "@@ -1,9 +1,9 @@"), (" ", "b"), ("@", "@@ -1 +1 @@"), ("-", "c"), ("@", "odd"),
    ]  # fmt: skip


def test_without_a_diff_the_texts_tell_where_they_are_known() -> None:
    texts = FileChanged(path="a", change="modified", before="x\n", after="y\n")
    assert counted(diff_rows(diff_of(texts))) == (1, 1)
    assert counted(diff_rows(diff_of(FileChanged(path="a", change="created", after="x\ny\n")))) == (2, 0)
    assert counted(diff_rows(diff_of(FileChanged(path="a", change="deleted", before="x\n")))) == (0, 1)
    assert (
        diff_of(
            FileChanged(path="a", change="modified", after="all of it, of which nobody knows what is new")
        )
        == ""
    )
    assert diff_of(FileChanged(path="a", change="moved")) == ""


texts = st.lists(
    st.sampled_from(["a", "", " ", "-- x", "++ y", "@@ -1 +1 @@", "\\ z", "diff --git", "\ud800"])
).map("\n".join)


def lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@given(texts, texts)
def test_what_it_tells_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    old, new, at = lines(before), list[str](), 0
    for kind, text in diff_rows(patches.from_texts("f", before, after) or ""):
        if kind == "@" and (place := re.match(r"@@ -(\d+)(?:,(\d+))? ", text)) is not None:
            start = int(place[1]) - (place[2] != "0")
            new, at = new + old[at:start], start
        elif kind in " -":
            assert old[at] == text
            at += 1
        if kind in " +":
            new.append(text)
    assert new + old[at:] == lines(after)


@given(st.text(alphabet="+- @\\\n,1dx", max_size=80))
def test_any_text(diff: str) -> None:
    told = [f"{kind}{text}" if kind != "@" else text for kind, text in diff_rows(diff)]
    lines = diff.split("\n")
    rest = iter(lines)
    assert all(line in rest or (line == " " and "" in lines) for line in told)


@pytest.mark.parametrize(
    ("input", "rows"),
    [
        ({"old_string": "a", "new_string": "b"}, [("-", "a"), ("+", "b")]),
        ({"content": "one\ntwo"}, [("+", "one"), ("+", "two")]),
        ({"old_string": "a", "new_string": "a"}, None),
        ({"old_string": 1, "new_string": "b"}, None),
        ({"old_string": "a"}, None),
        ({"command": "ls"}, None),
    ],
)
def test_an_edit_says_what_it_will_change(input: dict[str, Any], rows: list[DiffRow] | None) -> None:
    diff = diff_of_edit(input)
    found = [row for row in diff_rows(diff) if row[0] != "@"] if diff is not None else None
    assert found == rows
