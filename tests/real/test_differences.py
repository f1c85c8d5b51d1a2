"""What differs between versions is written down once, is about versions that are pinned, and is looked at by a test."""

import re
from pathlib import Path

import pytest

from tests.real.pins import differences, spread

ASKED = {
    name
    for path in Path(__file__).parent.glob("*.py")
    for name in re.findall(r"""differs\(\s*"(\w+)"\s*\)""", path.read_text("utf-8"))
}


@pytest.mark.parametrize("agent_name", spread())
def test_each_is_of_an_older_version_that_is_pinned(agent_name: str) -> None:
    *older, newest = spread()[agent_name]
    for name, difference in differences(agent_name).items():
        assert any(difference.holds_in(pin.version) for pin in older), name
        assert not difference.holds_in(newest.version), name


def test_each_is_asked_for() -> None:
    assert {name for agent in spread() for name in differences(agent)} == ASKED
