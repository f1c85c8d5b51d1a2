"""What can be answered at the keyboard, and what a line means."""

from typing import Any

import pytest

from dragoman._cli.terminal.keyboard import DENIED, chosen_answer, menu, picks, typed_value
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption, PermissionRequested
from dragoman._policy import rulebook

ALL = frozenset(Capability)
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
    "behavior": "allow",
    "destination": "localSettings",
}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def request(**fields: Any) -> PermissionRequested:
    return PermissionRequested(request_id="r", tool_name="Bash", input={"command": "ls"}, **fields)


def test_yes_and_no() -> None:
    choices = menu(request(), frozenset())
    assert list(choices) == ["y", "s", "r", "n"]
    assert chosen_answer("y\n", choices) == Answer(request="r", decision="allow")
    assert chosen_answer(" Y ", choices) == Answer(request="r", decision="allow")
    assert chosen_answer("n\n", choices) == Answer(request="r", decision="deny", message=DENIED)


def test_a_reason_goes_with_a_no_and_only_with_a_no() -> None:
    choices = menu(request(), ALL)
    assert chosen_answer("n use pytest\n", choices) == Answer(
        request="r", decision="deny", message="use pytest"
    )
    assert chosen_answer("y use pytest\n", choices) is None


@pytest.mark.parametrize("line", ["", "\n", "  ", "x", "yes please", "ny", "1"])
def test_what_is_no_answer_allows_nothing(line: str) -> None:
    assert chosen_answer(line, menu(request(suggestions=[RULE]), ALL)) is None


def test_always_means_the_one_suggestion_that_was_picked() -> None:
    one = menu(request(suggestions=[MODE]), ALL)
    assert chosen_answer("a", one) == Answer(request="r", decision="allow", remember=[MODE])
    assert one["a"].label == "yes, and switch to mode acceptEdits for this session"
    two = menu(request(suggestions=[RULE, MODE]), ALL)
    assert list(two) == ["y", "s", "r", "a1", "a2", "e", "n"]
    assert chosen_answer("a1", two) == Answer(request="r", decision="allow", remember=[RULE])
    assert chosen_answer("a", two) is None
    assert two["a1"].label == "yes, and allow Bash(ls) always in this project"


def test_only_what_the_agent_can_do_is_offered() -> None:
    choices = menu(request(suggestions=[MODE]), frozenset((Capability.PERMISSIONS,)))
    assert list(choices) == ["y", "s", "r", "n"]


def test_what_our_own_policy_remembers_can_always_be_chosen() -> None:
    choices = menu(request(), frozenset())
    assert chosen_answer("s", choices) == Answer(request="r", decision="allow", remember=["session"])
    assert chosen_answer("r", choices) == Answer(request="r", decision="allow", remember=["always"])
    assert str(rulebook.user_file()) in choices["r"].label


def test_nothing_is_remembered_of_what_cannot_be_allowed() -> None:
    options = [PermissionOption(id="o1", name="No", kind="reject_once")]
    assert list(menu(request(options=options), ALL)) == ["n"]


@pytest.mark.parametrize(
    "odd", [None, [], {}, {"type": "addRules"}, {"type": "new"}, {"type": "addDirectories"}]
)
def test_odd_suggestions_can_still_be_shown(odd: Any) -> None:
    assert menu(request(suggestions=[odd]), ALL)["a"].label


def test_the_agents_own_options() -> None:
    options = [
        PermissionOption(id="o1", name="Allow", kind="allow_once"),
        PermissionOption(id="o2", name="Always", kind="allow_always"),
        PermissionOption(id="o3", name="Allow in this folder", kind="allow_always"),
        PermissionOption(id="o4", name="No", kind="reject_once"),
        PermissionOption(id="o5"),
    ]
    choices = menu(request(options=options), ALL)
    assert list(choices) == ["y", "a", "a2", "n", "o", "s", "r"]
    assert chosen_answer("a2", choices) == Answer(request="r", option="o3", decision="allow")
    assert chosen_answer("n later", choices) == Answer(
        request="r", option="o4", decision="deny", message="later"
    )
    assert choices["o"].label == "o5"
    assert chosen_answer("o", choices) == Answer(request="r", option="o5", decision="deny")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1", "Red"),
        ("1, 2", "Red, Blue"),
        ("2 1", "Blue, Red"),
        ("green", "green"),
        ("3", None),
        ("0", None),
        ("", None),
    ],
)
def test_picking_by_number_or_in_words(line: str, answer: str | None) -> None:
    assert picks(line, ["Red", "Blue"]) == answer


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("x", {}, "x"),
        ("7", {"type": "integer"}, 7),
        ("7.5", {"type": "number"}, 7.5),
        ("Yes", {"type": "boolean"}, True),
        ("no", {"type": "boolean"}, False),
        ("a", {"enum": ["a", "b"]}, "a"),
    ],
)
def test_a_forms_field(text: str, field: dict[str, Any], value: Any) -> None:
    assert typed_value(text, field) == value


@pytest.mark.parametrize(
    ("text", "field", "why"),
    [
        ("x", {"type": "integer"}, "an integer, please"),
        ("x", {"type": "number"}, "a number, please"),
        ("perhaps", {"type": "boolean"}, "yes or no"),
        ("c", {"enum": ["a"]}, "one of: a"),
    ],
)
def test_what_does_not_fit_a_field(text: str, field: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        typed_value(text, field)
