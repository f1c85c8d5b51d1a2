"""What a person can answer to a permission request, and what is said of each answer."""

import json
from collections.abc import Collection
from typing import Any

import pytest

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption, PermissionRequested
from dragoman._policy.choices import DENIED, Choice, chosen, menu, suggested
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
    can: Collection[Capability] = (), covered: str | None = "ls in here", **fields: Any
) -> dict[str, Choice]:
    event = PermissionRequested(request_id="r", tool_name="Bash", input={"command": "ls"}, **fields)
    return menu(PermissionRequest(event), can, covered, "~/my rules")


def test_yes_and_no() -> None:
    choices = choices_for()
    assert list(choices) == ["y", "s", "r", "n"]
    assert [choice.allows for choice in choices.values()] == [True, True, True, False]
    assert [choice.lasts for choice in choices.values()] == ["once", "session", "always", "once"]
    assert chosen(choices, "y") == Answer(request="r", decision="allow")
    assert chosen(choices, "n") == Answer(request="r", decision="deny", message=DENIED)


def test_a_reason_goes_with_a_no_and_only_with_a_no() -> None:
    choices = choices_for(ALL)
    denial = Answer(request="r", decision="deny", message="use pytest")
    assert chosen(choices, "n", reason="use pytest") == denial
    assert chosen(choices, "y", reason="use pytest") is None


def test_an_input_goes_with_the_answer_that_needs_one_and_no_other() -> None:
    choices = choices_for(ALL)
    edited = Answer(request="r", decision="allow", updated_input={"command": "ls -l"})
    assert chosen(choices, "e", input={"command": "ls -l"}) == edited
    assert chosen(choices, "e", input={}) == Answer(request="r", decision="allow", updated_input={})
    assert chosen(choices, "e") is None
    assert chosen(choices, "y", input={"command": "ls -l"}) is None


@pytest.mark.parametrize("key", ["", "x", "Y", "yes", "a"])
def test_what_is_no_key_is_no_answer(key: str) -> None:
    assert chosen(choices_for(ALL), key) is None


def test_always_means_the_one_suggestion_that_was_picked() -> None:
    one = choices_for(ALL, suggestions=[MODE])
    assert chosen(one, "a") == Answer(request="r", decision="allow", remember=[MODE])
    two = choices_for(ALL, suggestions=[RULE, MODE])
    assert list(two) == ["y", "s", "r", "a1", "a2", "e", "n"]
    assert chosen(two, "a1") == Answer(request="r", decision="allow", remember=[RULE])
    assert chosen(two, "a") is None
    assert (two["a1"].lasts, two["a2"].lasts) == ("always", "session")


@pytest.mark.parametrize(
    ("suggestion", "words", "lasts"),
    [
        (RULE, "from now on allow Bash(ls), always in this project, for you", "always"),
        (
            RULE | {"rules": [{"toolName": "Bash"}]},
            "from now on allow every use of Bash, always in this project, for you",
            "always",
        ),
        (
            RULE | {"destination": "userSettings"},
            "from now on allow Bash(ls), always, in all your projects",
            "always",
        ),
        (MODE, "edit files without asking (mode acceptEdits), for this session", "session"),
        (
            MODE | {"mode": "bypassPermissions", "destination": "cliArg"},
            "do anything without asking (mode bypassPermissions), for this session",
            "session",
        ),
        (
            {"type": "addDirectories", "directories": ["/", "/etc"], "destination": "session"},
            "let it work in / and /etc, for this session",
            "session",
        ),
        ("session", "the agent itself does not ask for the like again in this session", "session"),
    ],
)
def test_a_suggestion_is_put_as_what_it_allows(suggestion: Any, words: str, lasts: str) -> None:
    assert suggested(suggestion) == (words, lasts)


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
    assert suggested(odd) == (f"the agent itself remembers: {json.dumps(odd)}", "always")


def test_only_what_the_agent_can_do_is_offered() -> None:
    choices = choices_for(frozenset((Capability.PERMISSIONS,)), suggestions=[MODE])
    assert list(choices) == ["y", "s", "r", "n"]


def test_what_our_own_policy_remembers_can_be_chosen_and_says_for_what() -> None:
    choices = choices_for(covered="`npm test` in src")
    assert chosen(choices, "s") == Answer(request="r", decision="allow", remember=["session"])
    assert chosen(choices, "r") == Answer(request="r", decision="allow", remember=["always"])
    assert choices["s"].label.endswith("for: `npm test` in src")
    assert choices["r"].label.endswith("rule of mine: ~/my rules")


def test_nothing_lasting_is_offered_where_nobody_knows_what_it_would_cover() -> None:
    """The policy says what can be kept; a session-wide yes was offered for anything."""
    assert list(choices_for(covered=None)) == ["y", "n"]


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
    assert chosen(choices, "a2") == Answer(request="r", option="o3", decision="allow")
    denial = Answer(request="r", option="o4", decision="deny", message="later")
    assert chosen(choices, "n", reason="later") == denial
    assert choices["o"].said == "o5"
    assert chosen(choices, "o") == Answer(request="r", option="o5", decision="deny")


@pytest.mark.parametrize(
    ("kind", "words", "allows", "lasts"),
    [
        ("allow_once", "allow once", True, "once"),
        ("allow_always", "allow always", True, "always"),
        ("reject_once", "reject once", False, "once"),
        ("reject_always", "reject always", False, "always"),
        ("allow_for_ever", "the agent does not say what this is", True, "always"),
        (None, "the agent does not say what this is", False, "always"),
    ],
)
def test_an_options_kind_stands_before_what_the_agent_calls_it(
    kind: str | None, words: str, allows: bool, lasts: str
) -> None:
    """An option that allows for ever could be labelled "No, reject", and nothing else was shown of it."""
    options = [PermissionOption(id="o", name="No, reject", kind=kind)]
    [choice] = choices_for(options=options, covered=None).values()
    assert (choice.label, choice.said) == (words, "No, reject")
    assert (choice.allows, choice.lasts) == (allows, lasts)
