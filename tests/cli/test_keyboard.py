"""What a line means that was typed at the keyboard."""

from typing import Any

import pytest

from dragoman._cli.terminal.keyboard import picks, typed_answer, typed_value
from dragoman._model.commands import Answer
from dragoman._policy.choices import DENIED, Choice

CHOICES = {
    "y": Choice("yes, this once", Answer(request="r", decision="allow")),
    "e": Choice("yes, with another input", Answer(request="r", decision="allow")),
    "n": Choice("no", Answer(request="r", message=DENIED)),
}


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y\n", Answer(request="r", decision="allow")),
        (" Y ", Answer(request="r", decision="allow")),
        ("n\n", Answer(request="r", decision="deny", message=DENIED)),
        ("n  use pytest \n", Answer(request="r", decision="deny", message="use pytest")),
    ],
)
def test_a_key_picks_an_answer_and_what_follows_a_no_is_its_reason(line: str, answer: Answer) -> None:
    assert typed_answer(line, CHOICES) == answer


@pytest.mark.parametrize(
    "line", ["", "\n", "  ", "x", "yes please", "y use pytest", "ny", "1", "e", "e please"]
)
def test_what_is_no_answer_allows_nothing(line: str) -> None:
    assert typed_answer(line, CHOICES) is None


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
