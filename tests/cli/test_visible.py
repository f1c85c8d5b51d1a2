"""Nothing that a terminal would obey and nothing that an eye would miss; and nothing is dropped."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._cli.terminal.visible import prose, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("naïve 日本 🎉", "naïve 日本 🎉"),
        ("\x1b[2J\x1b[1;1Hgone", r"\x1b[2J\x1b[1;1Hgone"),
        ("echo hi \x1b] ; rm -rf ~", r"echo hi \x1b] ; rm -rf ~"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\\x1b]8;;http://evil\\x1b\\link\\x1b]8;;\\x1b\\"),
        ("\x1bP+q\x1b_x\x1b^y\x1bXz", r"\x1bP+q\x1b_x\x1b^y\x1bXz"),
        ("bell\x07 back\x08space\x7f", r"bell\x07 back\x08space\x7f"),
        ("\x9b31mred\x85", r"\x9b31mred\x85"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("rm \u202etxt.exe\u2066\u200f\u061c", r"rm \u202etxt.exe\u2066\u200f\u061c"),
        ("a\u200bb\u200cc\u200dd\u2060e\ufefff", r"a\u200bb\u200cc\u200dd\u2060e\ufefff"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\U000e0001\U000e0061\U000e007f", r"\U000e0001\U000e0061\U000e007f"),
        ("a\ufe0f\ufe0e\U000e0100", r"a\ufe0f\ufe0e\U000e0100"),
        ("so\xadft\u034f\ufff9\ufffa\ufffb\ufffc", r"so\xadft\u034f\ufff9\ufffa\ufffb\ufffc"),
        ("\u3164\u115f\u1160\uffa0\u2800\u17b4\u180e", r"\u3164\u115f\u1160\uffa0\u2800\u17b4\u180e"),
        ("rm\xa0-rf\u3000~\u2003\u202f", r"rm\xa0-rf\u3000~\u2003\u202f"),
        ("\ud800\ue000\U0010ffff\u0378", r"\ud800\ue000\U0010ffff\u0378"),
        ("e\u0301", "e\u0301"),
        ("e\u0336s\u20dd", r"e\u0336s\u20dd"),
        ("'\u0301;\u0338", r"'\u0301;\u0338"),
        ("a" + "\u0300" * 5, "a\u0300\u0300\u0300" + r"\u0300\u0300"),
    ],
)
def test_to_the_letter(text: str, shown: str) -> None:
    """What can be taken for something else is an escape. Escape sequences were dropped with all that they held, and
    many characters that are not seen were let through."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n\ttwo\r\nthree", "one\n\ttwo\nthree"),
        ("10%\r20%", r"10%\r20%"),
        ("👨\u200d👩\u200d👧 ⚠\ufe0f 1\ufe0f\u20e3 👍🏽", "👨\u200d👩\u200d👧 ⚠\ufe0f 1\ufe0f\u20e3 👍🏽"),
        ("می\u200cخواهم क\u094d\u200dष", "می\u200cخواهم क\u094d\u200dष"),
        ("l'été\u202f!\xa0日本\u3000語", "l'été\u202f!\xa0日本\u3000語"),
        ("pass\u200cword a\u200db 👍\u200d", r"pass\u200cword a\u200db 👍\u200d"),
        ("a\ufe0f ⚠\ufe0f\ufe0f \ufe01", r"a\ufe0f ⚠" + "\ufe0f" + r"\ufe0f \ufe01"),
        ("\u202eevil \u200f\u200b\U000e0041", r"\u202eevil \u200f\u200b\U000e0041"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("z" + "\u0300" * 9, "z\u0300\u0300\u0300" + r"\u0300" * 6),
    ],
)
def test_what_is_only_read_keeps_what_honest_writing_needs(text: str, shown: str) -> None:
    assert prose(text) == shown


@given(st.text())
def test_what_is_shown_is_seen(text: str) -> None:
    for char in visible(text):
        assert unicodedata.category(char)[0] not in "CZ" or char == " "
    for char in prose(text):
        assert unicodedata.category(char) not in ("Cc", "Cs", "Co", "Zl", "Zp") or char in "\n\t"


@given(st.text())
def test_nothing_is_dropped(text: str) -> None:
    """With the escapes read back the text is there again, for all texts that have no backslash of their own."""
    text = text.replace("\\", "")
    assert _read_back(visible(text)) == text


@given(st.text(), st.text())
def test_a_sequence_that_is_cut_in_two_is_as_harmless(one: str, two: str) -> None:
    for char in prose(one) + prose(two):
        assert unicodedata.category(char) != "Cc" or char in "\n\t"


def _read_back(shown: str) -> str:
    named = {"n": "\n", "t": "\t", "r": "\r"}

    def char(match: re.Match[str]) -> str:
        return named.get(match[1]) or chr(int(match[1][1:], 16))

    return re.sub(r"\\(n|t|r|x..|u....|U........)", char, shown)
