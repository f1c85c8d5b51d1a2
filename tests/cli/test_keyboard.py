"""What can be answered at the keyboard, and what a line means."""

import json
from collections.abc import Collection
from typing import Any

import pytest

from dragoman._cli.terminal.formatting import short_path
from dragoman._cli.terminal.keyboard import picks, typed_value
from dragoman._cli.terminal.permission_menu import DENIED, Choice, chosen_answer, menu, suggestion_text
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption, PermissionRequested
from dragoman._policy import rulebook
from dragoman._policy.permission import PermissionRequest

ALL = frozenset(Capability)
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
    "behavior": "allow",
    "destination": "localSettings",
}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def choices_for(
    can: Collection[Capability] = (), lasting: str | None = "ls in here", **fields: Any
) -> dict[str, Choice]:
    event = PermissionRequested(request_id="r", tool_name="Bash", input={"command": "ls"}, **fields)
    return menu(PermissionRequest(event), can, lambda _: lasting)


def test_yes_and_no() -> None:
    choices = choices_for()
    assert list(choices) == ["y", "s", "r", "n"]
    assert chosen_answer("y\n", choices) == Answer(request="r", decision="allow")
    assert chosen_answer(" Y ", choices) == Answer(request="r", decision="allow")
    assert chosen_answer("n\n", choices) == Answer(request="r", decision="deny", message=DENIED)


def test_a_reason_goes_with_a_no_and_only_with_a_no() -> None:
    choices = choices_for(ALL)
    assert chosen_answer("n use pytest\n", choices) == Answer(
        request="r", decision="deny", message="use pytest"
    )
    assert chosen_answer("y use pytest\n", choices) is None


@pytest.mark.parametrize("line", ["", "\n", "  ", "x", "yes please", "ny", "1"])
def test_what_is_no_answer_allows_nothing(line: str) -> None:
    assert chosen_answer(line, choices_for(ALL, suggestions=[RULE])) is None


def test_always_means_the_one_suggestion_that_was_picked() -> None:
    one = choices_for(ALL, suggestions=[MODE])
    assert chosen_answer("a", one) == Answer(request="r", decision="allow", remember=[MODE])
    two = choices_for(ALL, suggestions=[RULE, MODE])
    assert list(two) == ["y", "s", "r", "a1", "a2", "e", "n"]
    assert chosen_answer("a1", two) == Answer(request="r", decision="allow", remember=[RULE])
    assert chosen_answer("a", two) is None


@pytest.mark.parametrize(
    ("suggestion", "words"),
    [
        (RULE, "from now on allow Bash(ls), always in this project, for you"),
        (RULE | {"rules": [{"toolName": "Bash"}]}, "from now on allow every use of Bash, always in this project, for you"),
        (RULE | {"destination": "userSettings"}, "from now on allow Bash(ls), always, in all your projects"),
        (MODE, "edit files without asking (mode acceptEdits), for this session"),
        (MODE | {"mode": "bypassPermissions"}, "do anything without asking (mode bypassPermissions), for this session"),
        (
            {"type": "addDirectories", "directories": ["/", "/etc"], "destination": "session"},
            "let it work in / and /etc, for this session",
        ),
        ("session", "the agent itself does not ask for the like again in this session"),
    ],
)  # fmt: skip
def test_a_suggestion_is_put_as_what_it_allows(suggestion: Any, words: str) -> None:
    assert suggestion_text(suggestion) == words


@pytest.mark.parametrize(
    "odd",
    [
        None, 5, [], {}, "x", {"type": "new"}, {"type": ["a"]}, {"type": "addDirectories"},
        RULE | {"rules": [{"toolName": "Bash", "ruleContent": "ls", "also": "rm"}]}, RULE | {"rules": ["Bash"]},
        RULE | {"directories": ["/"]}, RULE | {"destination": "everywhere"}, RULE | {"rules": []},
        MODE | {"mode": "yolo"}, {"type": "addDirectories", "directories": "/etc", "destination": "session"},
    ],
)  # fmt: skip
def test_of_a_suggestion_that_nobody_knows_nothing_is_left_out(odd: Any) -> None:
    """A rule that was not understood was passed over in silence, and so was a field."""
    assert suggestion_text(odd) == f"the agent itself remembers: {json.dumps(odd)}"


def test_only_what_the_agent_can_do_is_offered() -> None:
    choices = choices_for(frozenset((Capability.PERMISSIONS,)), suggestions=[MODE])
    assert list(choices) == ["y", "s", "r", "n"]


def test_what_our_own_policy_remembers_can_be_chosen_and_says_for_what() -> None:
    choices = choices_for(lasting="`npm test` in src")
    assert chosen_answer("s", choices) == Answer(request="r", decision="allow", remember=["session"])
    assert chosen_answer("r", choices) == Answer(request="r", decision="allow", remember=["always"])
    assert choices["s"].label.endswith("for: `npm test` in src")
    assert short_path(str(rulebook.user_file())) in choices["r"].label


def test_nothing_lasting_is_offered_where_nobody_knows_what_it_would_cover() -> None:
    """The policy says what can be kept; a session-wide yes was offered for anything."""
    assert list(choices_for(lasting=None)) == ["y", "n"]


@pytest.mark.parametrize("kind", ["reject_once", "allow_always"])
def test_nothing_of_ours_is_remembered_where_it_cannot_be_allowed_once(kind: str) -> None:
    options = [PermissionOption(id="o1", name="No", kind=kind)]
    assert not {"s", "r"} & choices_for(ALL, options=options).keys()


def test_the_agents_own_options() -> None:
    options = [
        PermissionOption(id="o1", name="Allow", kind="allow_once"),
        PermissionOption(id="o2", name="Always", kind="allow_always"),
        PermissionOption(id="o3", name="Allow in this folder", kind="allow_always"),
        PermissionOption(id="o4", name="No", kind="reject_once"),
        PermissionOption(id="o5"),
    ]
    choices = choices_for(ALL, options=options)
    assert list(choices) == ["y", "a", "a2", "n", "o", "s", "r"]
    assert chosen_answer("a2", choices) == Answer(request="r", option="o3", decision="allow")
    assert chosen_answer("n later", choices) == Answer(
        request="r", option="o4", decision="deny", message="later"
    )
    assert choices["o"].said == "o5"
    assert chosen_answer("o", choices) == Answer(request="r", option="o5", decision="deny")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("allow_once", "allow once"),
        ("allow_always", "allow always"),
        ("reject_once", "reject once"),
        ("reject_always", "reject always"),
        ("allow_for_ever", "the agent does not say what this is"),
        (None, "the agent does not say what this is"),
    ],
)
def test_an_options_kind_stands_before_what_the_agent_calls_it(kind: str | None, words: str) -> None:
    """An option that allows for ever could be labelled "No, reject", and nothing else was shown of it."""
    [choice] = choices_for(
        options=[PermissionOption(id="o", name="No, reject", kind=kind)], lasting=None
    ).values()
    assert (choice.label, choice.said) == (words, "No, reject")


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
