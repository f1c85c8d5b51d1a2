"""The cost of a line after n of its kind, and after eight times as many."""

import pytest

from dragoman._model.patches import from_texts
from tests.growth import scenarios as s
from tests.growth.counting import kept, peak, steps
from tests.growth.talk import Scenario, Talk

FEW, MANY = 100, 800
LEAST = 2_048
"""Bytes that do not matter: a dict that has to grow, now and then."""
AN_ID = 200
"""Bytes: what a call was called may be kept, to know what comes too late; what it did may not."""

ALL = [value for value in vars(s).values() if isinstance(value, Scenario)]
CALLS = [s.ACP_EDITS, s.ACP_TERMINALS, s.ACP_META_TERMINALS, s.CODEX_ITEMS, s.CLAUDE_TOOLS, s.GEMINI_TOOLS]


def each(scenarios: list[Scenario]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("scenario", scenarios, ids=lambda scenario: scenario.name)


@each(ALL)
def test_steps_do_not_grow(scenario: Scenario) -> None:
    few, many = (steps(Talk(scenario).go_on(number).next()) for number in (FEW, MANY))
    assert many <= few * 1.25


@each(ALL)
def test_nothing_is_copied_that_grows(scenario: Scenario) -> None:
    few, many = (peak(Talk(scenario).go_on(number).next()) for number in (FEW, MANY))
    assert many <= few * 1.5 + LEAST + scenario.told_again * (MANY - FEW)


@each(CALLS)
def test_what_has_ended_is_forgotten(scenario: Scenario) -> None:
    few, many = kept(lambda: Talk(scenario).go_on(FEW)), kept(lambda: Talk(scenario).go_on(MANY))
    assert (many - few) / (MANY - FEW) <= AN_ID


def test_a_long_repetitive_edit_takes_a_few_steps_a_line() -> None:
    """60,000 lines of it blocked the event loop for 14.6 s."""
    old = [("    }\n", "    {\n", "\n")[n % 3] for n in range(7_500)]
    new = [("\n", "    }\n", "    {\n", "    }\n")[n % 4] for n in range(60)]
    steps(lambda: from_texts("a.c", "".join(old), "".join(new)), limit=40 * len(old))
