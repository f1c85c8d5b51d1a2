"""Versions against those that were tested."""

import pytest

from dragoman._model.versions import standing

TESTED = ("2.1.197", "2.1.325")


@pytest.mark.parametrize(
    ("version", "where"),
    [
        ("2.1.197", "tested"),
        ("2.1.325", "tested"),
        ("2.1.196", "older"),
        ("2.0.400", "older"),
        ("2.1.300", "between"),
        ("2.1.1000", "newer"),
        ("3", "newer"),
        ("2.1.325 (Claude Code)", "tested"),
        ("2.1.325-beta.1", "between"),
        ("2.1.326-beta.1", "newer"),
        ("2.1.197-beta.1", "older"),
        ("2.1.325+build.7", "between"),
        ("2.1.325.0", "between"),
        ("", None),
        ("unknown", None),
    ],
)
def test_where_a_version_stands(version: str, where: str | None) -> None:
    assert standing(version, TESTED) == where


def test_of_an_agent_that_was_never_tested_nothing_can_be_said() -> None:
    assert standing("1.0", ()) is None


def test_with_a_word_behind_it_comes_before_the_one_without() -> None:
    assert standing("0.62.0-nightly.3", ("0.62.0",)) == "older"
    assert standing("0.62.0", ("0.62.0-nightly.3",)) == "newer"
    assert standing("0.62.0-nightly.10", ("0.62.0-nightly.9",)) == "newer"
    assert standing("1.0", ("1.0.0", "0.9")) == "between"
