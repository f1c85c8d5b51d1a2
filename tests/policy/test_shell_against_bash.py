"""Generated lines, read and then run by bash in a jail; `make test-shell` has a hundred thousand of them."""

import shutil
from collections.abc import Callable

import pytest

from dragoman._policy import shell, shell_tree
from tests.policy.shell_check import check

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def test_no_generated_line_gets_around_a_rule() -> None:
    figures = check(seed=1, count=2_000)
    assert figures.bypasses == []
    assert figures.allowed > 80
    assert figures.compared > 80
    assert figures.neither > 150
    assert figures.sampled_touched > 5


def without_the_second_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "_agreed", lambda text, reading: [])


def without_the_checks_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree as it comes: no look at what stands between its leaves, or at words that cannot be words."""
    honest = shell_tree.tree

    def trusting(text: bytes) -> shell_tree.Tree:
        found = honest(text)
        found.odd = False
        return found

    monkeypatch.setattr(shell_tree, "tree", trusting)


@pytest.mark.parametrize(
    "weaknesses",
    [
        [without_the_second_reader, without_the_checks_of_the_tree],
        [without_the_checks_of_the_tree],
    ],
)
def test_the_lines_find_the_holes_of_a_weaker_reader(
    weaknesses: list[Callable[[pytest.MonkeyPatch], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else they would say nothing of the reader that we have."""
    for weaken in weaknesses:
        weaken(monkeypatch)
    assert check(seed=1, count=600, read=shell.read.__wrapped__, sample=1_000).bypasses
