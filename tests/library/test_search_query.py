"""What a query means for a text, without any database."""

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dragoman._library.query import terms_of
from dragoman._library.snippets import WIDTH, narrowed, snippet, spans
from dragoman._library.tokens import LONGEST, folded, places, tokens

ODD = "aAbBzZ09_ .-()'\\\"*\t\néÉİıßŒﬁ²ǰ日本語がガー々〇한국어\u1112\u1161\u11ab\u0301\u200b\xad😀हि"
TEXTS = st.text(st.sampled_from(ODD) | st.characters(codec="utf-8"), max_size=60)


def stands(query: str, text: str) -> bool:
    """Whether a search finds it: in the index, and then in the text."""
    terms = terms_of(query)
    there = tokens(text)
    indexed = all(
        any(fnmatchcase(token, some) for some in each for token in there)
        for term in terms
        for each in term.tokens
    )
    return bool(terms) and indexed and spans(text, terms) is not None


@given(TEXTS)
@example("HTTPServer2Go parse_message")
@example("日本語test テスト中")
@example("0\u093a0")  # a mark inside a word is no end of it
def test_every_word_of_a_text_is_found(text: str) -> None:
    for word in re.findall(r"[^\W_]+", folded(text)):
        assume(folded(word) and any(char.isalnum() for char in folded(word)))
        assert stands(word, text), word
        assert stands(word.swapcase(), text) or word.swapcase().casefold() != word.casefold(), word


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
def test_a_phrase_cut_from_a_text_is_found(words: list[str], data: st.DataObject) -> None:
    words = [word.replace('"', "'") for word in words]
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    phrase = " ".join(words[start:end])
    assume(terms_of(f'"{phrase}"'))
    assert stands(f'"{phrase}"', " ".join(words))


@given(st.text("abcXYZ019", min_size=2, max_size=LONGEST), st.data())
def test_a_part_of_a_word_is_found(word: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(word) - 2))
    end = data.draw(st.integers(start + 2, len(word)))
    text = f"there is {word}, and more"
    assert stands(f"*{word[start:end]}*", text)
    assert stands(f"{word[:end]}*", text)
    assert stands(f"*{word[start:]}", text)
    assert stands(f"{word[0]}*{word[-1]}", text)


@given(TEXTS)
def test_no_query_reaches_a_database_but_as_letters(text: str) -> None:
    for term in terms_of(text):
        assert term.tokens
        for each in term.tokens:
            for token in each:
                assert re.fullmatch(r"[a-z0-9*]*", "".join(filter(str.isascii, token))), token
                assert not re.search(r"\s", token)


@pytest.mark.parametrize(
    "query", ["parse_message", "parseMessage", "ParseMessage", "PARSE_MESSAGE", "parse-message"]
)
@pytest.mark.parametrize(
    "text",
    [
        "parse_message",
        "def parseMessage(",
        "x.ParseMessage",
        "PARSE_MESSAGE",
        "parse\nmessage",
        "reParseMessageNow",
    ],
)
def test_identifiers_in_any_style(query: str, text: str) -> None:
    assert stands(query, text)


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("parsemessage", "parseMessage", True),
        ("parseMessage", "parsemessage", True),
        ('"in form"', "inform", False),
        ("message", "messages", False),
        ("message parse", "parseMessage", True),
        ('"message parse"', "parseMessage", False),
        ("len(values)", "if len(values) > 3", True),
        ("len(values)", "len(x, values)", False),
        ("HTTPServer", "http_server", True),
        ("server", "HTTPServer", True),
        ("ipv6", "IPv6", True),
        ("IPv6", "ipv6", True),
        ("istanbul", "İSTANBUL", True),
        ("İstanbul", "istanbul", True),
        ("cafe", "café", True),
        ("café", "cafe\u0301", True),
        ("strasse", "Straße", True),
        ("か", "が", False),
        ("が", "か\u3099", True),
        ("日本", "これは日本語です", True),
        ("語", "これは日本語です", True),
        ("日語", "これは日本語です", False),
        ("test", "日本語test中", True),
        ("한국", "\u1112\u1161\u11ab국", True),
        ("a1b2c3*", "commit a1b2c3d4e5", True),
        ("b2c3*", "commit a1b2c3d4e5", False),
        ("src/*.py", "src/dragoman/api.py", True),
        ("v*e", "value", True),
        ("v*e", "v one", False),
        ("naïve", "😀naive😀", True),
    ],
)
def test_what_a_query_means(query: str, text: str, found: bool) -> None:
    assert stands(query, text) is found


def test_a_long_word_is_verified_in_the_text() -> None:
    word = "x" * LONGEST
    assert stands(f"{word}yes", f"a {word}yes b")
    assert not stands(f"{word}yes", f"a {word}no b")
    assert stands(f"{word}y*", f"a {word}yes b")
    assert not stands(word, f"a {word}no b")


@given(TEXTS)
def test_places_are_those_of_the_folded_text(text: str) -> None:
    at = places(text)
    assert len(at) == len(folded(text)) + 1
    assert at == sorted(at)
    assert at[-1] == len(text)


def test_the_line_with_most_terms_is_shown() -> None:
    text = "one is here\n\tone and ÿÉtwo_ and two\nthree"
    found = snippet(text, terms_of("one two"))
    assert found is not None
    assert found.text == "one and ÿÉtwo_ and two"
    assert [found.text[a:b] for a, b in found.marks] == ["one", "two"]


@given(st.text("ab \n", max_size=400), st.text("ab \n", max_size=400), st.integers(1, 300))
def test_the_match_is_in_the_snippet(before: str, after: str, width: int) -> None:
    found = snippet(f"{before} Needle {after}", terms_of("needle"))
    assert found is not None
    assert len(found.text) <= WIDTH + 2
    assert [found.text[a:b] for a, b in found.marks] == ["Needle"]
    short = narrowed(found, width)
    assert len(short.text) <= max(width, 1)
    assert all(0 <= a < b <= len(short.text) for a, b in short.marks)
    if width >= 20:
        assert [short.text[a:b] for a, b in short.marks] == ["Needle"]
