"""What a run did to files."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.events import FileChanged, Notice
from dragoman._reports.changes import changes


def step(change: Any, path: str = "a", **fields: Any) -> FileChanged:
    return FileChanged(path=path, change=change, **fields)


def test_steps_of_a_file_are_kept_in_order() -> None:
    first = step("modified", before="1", after="2", diff="d1")
    second = step("modified", before="2", after="3", diff="d2")
    (file,) = changes([first, Notice(), second])
    assert (file.path, file.change, file.before, file.after) == ("a", "modified", "1", "3")
    assert file.steps == [first, second]


def test_files_come_in_the_order_in_which_they_were_touched() -> None:
    assert [file.path for file in changes([step("modified", "b"), step("created", "a"), step("deleted", "b")])] == [
        "b",
        "a",
    ]  # fmt: skip


def test_only_what_was_applied_counts() -> None:
    assert (
        changes(
            [step("created", phase="proposed"), step("created", phase="failed"), step("created", replay=True)]
        )
        == []
    )


@pytest.mark.parametrize(
    ("steps", "came"),
    [
        (("created",), "created"),
        (("created", "modified"), "created"),
        (("created", "deleted"), "none"),
        (("created", "deleted", "created"), "created"),
        (("modified", "deleted"), "deleted"),
        (("deleted", "created"), "modified"),
        (("moved", "modified"), "moved"),
        (("moved", "deleted"), "deleted"),
    ],
)
def test_what_steps_come_to(steps: tuple[str, ...], came: str) -> None:
    (file,) = changes([step(change) for change in steps])
    assert file.change == came


def test_a_moved_file_is_followed() -> None:
    (file,) = changes(
        [step("moved", "a", move_to="b"), step("modified", "b", after="x"), step("moved", "b", move_to="c")]
    )
    assert (file.path, file.moved_from, file.change, file.after) == ("c", "a", "moved", None)
    assert len(file.steps) == 3


def test_a_new_file_that_moves_is_new_under_its_last_name() -> None:
    (file,) = changes([step("created", "a"), step("moved", "a", move_to="b")])
    assert (file.path, file.moved_from, file.change) == ("b", None, "created")


def test_the_old_name_can_be_taken_anew() -> None:
    moved, fresh = changes([step("moved", "a", move_to="b"), step("created", "a")])
    assert (moved.path, fresh.path, fresh.change) == ("b", "a", "created")


def test_a_file_that_is_overwritten_by_a_move_keeps_its_own_story() -> None:
    over, moved = changes(
        [step("modified", "b"), step("moved", "a", move_to="b"), step("modified", "b", diff="d")]
    )
    assert (over.path, len(over.steps)) == ("b", 1)
    assert (moved.path, moved.steps[-1].diff) == ("b", "d")


paths = st.sampled_from("abc")
steps = st.builds(
    step, st.sampled_from(("created", "modified", "deleted", "moved")), paths, move_to=st.none() | paths
)


@given(st.lists(steps))
def test_no_step_is_lost(given_steps: list[FileChanged]) -> None:
    told = [id(step) for file in changes(given_steps) for step in file.steps]
    assert sorted(told) == sorted(id(step) for step in given_steps)
