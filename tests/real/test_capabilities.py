"""What an agent declares that it can do is exercised by some test on the real agent, and nothing else is."""

from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from dragoman import Capability
from dragoman._agents import AGENTS
from tests.real.capability_marks import exercised
from tests.real.pins import pins

HERE = Path(__file__).parent
TESTED = sorted({pin.agent for pin in pins()})


def exercising(agent: str) -> dict[Capability, list[str]]:
    """The tests that run on an agent, by the capability that they exercise."""
    found: dict[Capability, list[str]] = defaultdict(list)
    for path in sorted(HERE.glob("test_*.py")):
        for name, test in vars(import_module(f"{__package__}.{path.stem}")).items():
            if name.startswith("test_"):
                for capability in exercised(test, agent):
                    found[capability].append(f"{path.name}::{name}")
    return found


@pytest.mark.parametrize("agent_name", TESTED)
def test_every_declared_capability_is_exercised_and_no_other(agent_name: str) -> None:
    declared, tests = AGENTS[agent_name].capabilities, exercising(agent_name)
    assert sorted(declared - tests.keys()) == [], f"{agent_name} declares what no test exercises"
    assert {c: tests[c] for c in sorted(tests.keys() - declared)} == {}, (
        f"{agent_name} does not declare what is tested"
    )
