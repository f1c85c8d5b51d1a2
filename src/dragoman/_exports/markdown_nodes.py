"""Markdown as nodes, for a page that makes elements of them and never reads HTML."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from markdown_it.token import Token

from dragoman._exports.markdown_tokens import tokens

Node = str | list[Any]
"""A text; or [tag, {attributes}, [nodes]]."""

_DEEPEST: Final = 60
"""Nodes that stand in each other; what is deeper stands beside the deepest."""
_ALIGNED: Final = "text-align:"


def nodes(text: str) -> list[Node]:
    """The nodes of a text; one that cannot be shown whole as Markdown is a single `pre`. Links lead only to the web, images are
    named and not fetched. Never raises."""
    found = tokens(text)
    if found is None:
        return [["pre", {}, [text]]]
    into: list[Node] = []
    open_: list[list[Node]] = []
    root = into
    for token in _one_by_one(found):
        if token.nesting > 0:
            open_.append(into)
            if not token.hidden and len(open_) < _DEEPEST:
                inside: list[Node] = []
                into.append([token.tag, _attributes(token), inside])
                into += _title(token)
                into = inside
        elif token.nesting < 0:
            into = open_.pop()
        else:
            into += _LEAVES.get(token.type, _text)(token)
    return root


def _one_by_one(found: list[Token]) -> Iterator[Token]:
    for token in found:
        if token.type == "inline":
            yield from token.children or ()
        else:
            yield token


def _attributes(token: Token) -> dict[str, Any]:
    given = ((name, token.attrs.get(name, "")) for name in ("href", "start"))
    attributes: dict[str, Any] = {name: value for name, value in given if value != ""}
    style = token.attrs.get("style")
    if isinstance(style, str) and style.startswith(_ALIGNED):
        attributes["align"] = style.removeprefix(_ALIGNED)
    return attributes


def _title(token: Token) -> list[Node]:
    """What is said of a link or an image beside it."""
    title = token.attrs.get("title")
    return [f' "{title}"'] if title else []


def _text(token: Token) -> list[Node]:
    return [token.content] if token.content else []


def _code(token: Token) -> list[Node]:
    language = {"lang": token.info.strip()} if token.info.strip() else {}
    return [["pre", {}, [["code", language, [token.content]]]]]


def _image(token: Token) -> list[Node]:
    return ["[image: ", token.content, f" {token.attrs.get('src')}", *_title(token), "]"]


_LEAVES: Final[dict[str, Callable[[Token], list[Node]]]] = {
    "code_inline": lambda token: [["code", {}, [token.content]]],
    "code_block": _code,
    "fence": _code,
    "hardbreak": lambda token: [["br", {}, []]],
    "hr": lambda token: [["hr", {}, []]],
    "image": _image,
    "softbreak": lambda token: ["\n"],
}
