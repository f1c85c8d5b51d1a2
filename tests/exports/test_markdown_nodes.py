"""Markdown as nodes: nothing of it vanishes, and nothing of it does anything."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._exports.html import prose
from dragoman._exports.markdown_nodes import Node, nodes
from dragoman._exports.markdown_tokens import MARKDOWN

TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a", "hr",
    "br", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "code": {"lang"}, "th": {"align"}, "td": {"align"}}


def everything(found: list[Node]) -> Iterator[Node]:
    for node in found:
        yield node
        if not isinstance(node, str):
            yield from everything(node[2])


def text_of(found: list[Node]) -> str:
    """What is read, and what stands in attributes."""
    return " ".join(
        node if isinstance(node, str) else " ".join(map(str, node[1].values())) for node in everything(found)
    )


def check(text: str) -> list[Node]:
    """Only what the page knows comes out, as deep as JSON may be and at most a web link."""
    found = nodes(text)
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
    for node in everything(found):
        if isinstance(node, str):
            continue
        tag, attributes, inside = node
        assert tag in TAGS
        assert attributes.keys() <= ATTRIBUTES.get(tag, set())
        assert isinstance(inside, list)
        if "href" in attributes:
            assert re.match(r"https?://|mailto:", attributes["href"], re.IGNORECASE)
        assert attributes.get("align") in (None, "left", "center", "right")
        assert isinstance(attributes.get("start", 0), int)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a **b** *c* ~~d~~ `e`", [["p", {}, ["a ", ["strong", {}, ["b"]], " ", ["em", {}, ["c"]], " ", ["s", {}, ["d"]], " ", ["code", {}, ["e"]]]]]),
        ("# One\n\nTwo\n===", [["h1", {}, ["One"]], ["h1", {}, ["Two"]]]),
        ("one\ntwo  \nthree", [["p", {}, ["one", "\n", "two", ["br", {}, []], "three"]]]),
        ("- a\n- b", [["ul", {}, [["li", {}, ["a"]], ["li", {}, ["b"]]]]]),
        ("7. a\n\n8. b", [["ol", {"start": 7}, [["li", {}, [["p", {}, ["a"]]]], ["li", {}, [["p", {}, ["b"]]]]]]]),
        ("0. a", [["ol", {"start": 0}, [["li", {}, ["a"]]]]]),
        ("> a", [["blockquote", {}, [["p", {}, ["a"]]]]]),
        ("```py\nx\n```", [["pre", {}, [["code", {"lang": "py"}, ["x\n"]]]]]),
        ("    x", [["pre", {}, [["code", {}, ["x\n"]]]]]),
        ("***", [["hr", {}, []]]),
        ("[a](https://e.example/x?y=1)", [["p", {}, [["a", {"href": "https://e.example/x?y=1"}, ["a"]]]]]),
        ("<me@e.example>", [["p", {}, [["a", {"href": "mailto:me@e.example"}, ["me@e.example"]]]]]),
        ("|a|b|\n|:-:|-|\n|1|2|", [["table", {}, [
            ["thead", {}, [["tr", {}, [["th", {"align": "center"}, ["a"]], ["th", {}, ["b"]]]]]],
            ["tbody", {}, [["tr", {}, [["td", {"align": "center"}, ["1"]], ["td", {}, ["2"]]]]]],
        ]]]),
        ("<b onclick=x>bold</b>", [["p", {}, ["<b onclick=x>bold</b>"]]]),
    ],
)  # fmt: skip
def test_what_comes_of_it(text: str, expected: list[Any]) -> None:
    assert check(text) == expected


@pytest.mark.parametrize(
    "link",
    [
        "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](&#106;avascript:alert(1))", "[a](java&Tab;script:alert(1))",
        "[a](<javascript:alert(1)>)", "<javascript:alert(1)>", "[a](data:text/html,x)", "[a](DATA:text/html;base64,eA==)",
        "[a](vbscript:x)", "[a](file:///etc/passwd)", "[a](//e.example)", "[a](/api/sessions)", "[a](#/session/x)", "[a](http:x)",
        "[a]( javascript:x)", "[a](\x01javascript:x)", "[a][b]\n\n[b]: javascript:x", "[a](blob:x)", "[a]()", "![a](javascript:x)",
    ],
)  # fmt: skip
def test_links_lead_only_to_the_web(link: str) -> None:
    found = check(link)
    assert not any("href" in node[1] for node in everything(found) if not isinstance(node, str))
    assert not re.search(r'href="[^"]', prose(link))


def test_images_are_named_and_not_fetched() -> None:
    said = text_of(check("![a beacon](https://evil.example/x.png 'a title')"))
    assert all(word in said for word in ("a beacon", "https://evil.example/x.png", "a title"))


@pytest.mark.parametrize(
    "hidden",
    [
        "|a|\n|-|\n|1|hidden|",
        "> |a|\n> |-|\n> |1|hidden 💥|",
        "[x]: https://e.example 'hidden'",
        "[x](https://e.example 'hidden')",
        "> " * 60 + "hidden",
        "- " * 60 + "hidden",
        "1. " * 60 + "hidden",
        "x" * MARKDOWN + " hidden",
    ],
    ids=lambda text: str(text)[:12],
)
def test_nothing_vanishes(hidden: str) -> None:
    assert "hidden" in text_of(check(hidden))
    assert "hidden" in prose(hidden)


def test_all_that_is_said_of_code_is_kept() -> None:
    assert check("```py title=x\ny\n```") == [["pre", {}, [["code", {"lang": "py title=x"}, ["y\n"]]]]]


def test_what_is_too_long_is_one_text() -> None:
    text = "*a* " * (MARKDOWN // 4) + "."
    assert check(text) == [["pre", {}, [text]]]


@pytest.mark.parametrize(
    "piece",
    [">", "> ", "[", "![", "[a](", "*", "*a ", "**a *", "_a ", "`", "``a`", "~~a", "- ", "1. ", "|", "|a\n|-\n", "\\", "&", "<",
     "<http:", "# a\n", "- a\n  ", "\t", "\0", "](", "a*b*"],
)  # fmt: skip
def test_the_same_over_and_over(piece: str) -> None:
    check(piece * (100_000 // len(piece)))


def test_marks_in_marks_end_somewhere() -> None:
    text = "*a " * 5_000 + "b* " * 5_000
    assert text_of(check(text)).count("a") == 5_000


PIECES = st.sampled_from(
    ["word", "zwei", "три", "四", "💥", " ", "\n", "\n\n", "  \n", "*", "**", "_", "`", "```", "~~", "# ", "- ", "3. ", "> ", "|",
     "\n|-|-|\n", "[", "]", "](", ")", "(", "!", "<", ">", "https://e.example/", "javascript:", "mailto:a@b.c", "data:", "&amp;",
     "\\", "\t", "    ", "===", "'", '"', ":", "&#106;", "\0", "\u202e"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
def test_every_word_is_there(text: str) -> None:
    said = text_of(check(text))
    for word in ("word", "zwei", "три", "四", "💥"):
        assert said.count(word) >= text.count(word)


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    check(text)
