import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    DiffBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TerminalBlock,
    TextBlock,
    ThinkingBlock,
    UnknownBlock,
)
from dragoman._wire.content import READERS, blocks_of, parts_of, plain, text_and_blocks, text_of_content


@pytest.mark.parametrize(
    ("native", "block"),
    [
        ({"type": "text", "text": "x"}, TextBlock(text="x")),
        ({"type": "thinking", "thinking": "x", "signature": "s"}, ThinkingBlock(text="x", signature="s")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}},
            ImageBlock(mime_type="image/png", data="aa"),
        ),
        ({"type": "image", "source": {"type": "url", "url": "http://x"}}, ImageBlock(uri="http://x")),
        (
            {"type": "image", "mimeType": "image/png", "data": "aa"},
            ImageBlock(mime_type="image/png", data="aa"),
        ),
        (
            {"type": "audio", "mimeType": "audio/wav", "data": "aa"},
            AudioBlock(mime_type="audio/wav", data="aa"),
        ),
        (
            {
                "type": "document",
                "title": "t",
                "source": {"type": "text", "media_type": "text/plain", "data": "x"},
            },
            ResourceBlock(name="t", mime_type="text/plain", text="x"),
        ),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aa"}},
            ResourceBlock(mime_type="application/pdf", blob="aa"),
        ),
        ({"type": "resource", "resource": {"uri": "u", "text": "x"}}, ResourceBlock(uri="u", text="x")),
        ({"type": "resource_link", "uri": "u", "size": 3}, ResourceLinkBlock(uri="u", size=3)),
        ({"type": "audio", "uri": "http://x"}, AudioBlock(uri="http://x")),
        ({"type": "content", "content": {"type": "text", "text": "x"}}, TextBlock(text="x")),
        (
            {"type": "diff", "path": "p", "oldText": "a", "newText": "b"},
            DiffBlock(path="p", before="a", after="b"),
        ),
        ({"type": "diff", "patch": {"format": "git", "text": "@@"}}, DiffBlock(patch="@@")),
        ({"type": "terminal", "terminalId": "t"}, TerminalBlock(terminal_id="t")),
        ({"type": "resource", "uri": "u", "contents": "x"}, ResourceBlock(uri="u", text="x")),
        ({"type": "resource", "resource": 3}, UnknownBlock(native={"type": "resource", "resource": 3})),
        ({"type": "image"}, UnknownBlock(native={"type": "image"})),
        ({"type": "text", "text": "\ud83d"}, TextBlock(text="\ufffd")),
        ({"type": "text", "text": 3}, UnknownBlock(native={"type": "text", "text": 3})),
        ({"type": ["text"]}, UnknownBlock(native={"type": ["text"]})),
        ({"type": "tool_reference"}, UnknownBlock(native={"type": "tool_reference"})),
        (None, UnknownBlock(native=None)),
    ],
)
def test_blocks(native: object, block: ContentBlock) -> None:
    assert blocks_of([native]) == [block]


def test_content_is_a_string_a_list_a_block_or_nothing() -> None:
    assert blocks_of("x") == [TextBlock(text="x")] == blocks_of({"type": "text", "text": "x"})
    assert blocks_of(None) == [] == blocks_of([])
    assert text_of_content([{"type": "text", "text": "a"}, {"type": "image"}, "b"]) == "a\nb"
    assert plain(blocks_of(["a", "b"]))
    assert not plain(blocks_of(["a", {"type": "image"}]))


def test_blocks_are_told_where_text_is_not_all() -> None:
    assert text_and_blocks(["a", "b"]) == ("a\nb", [])
    assert text_and_blocks(["a", {"type": "x"}]) == (
        "a",
        [TextBlock(text="a"), UnknownBlock(native={"type": "x"})],
    )
    assert text_and_blocks(None) == ("", [])


def test_deep_wrappings_are_not_followed() -> None:
    native: object = {"type": "text", "text": "x"}
    for _ in range(2000):
        native = {"type": "content", "content": native}
    assert blocks_of(native) == [UnknownBlock(native=native)]


def test_parts_of_content() -> None:
    assert parts_of(None) == []
    assert parts_of(["a", None]) == ["a", None]
    assert parts_of("a") == ["a"]
    assert parts_of({"type": "text"}) == [{"type": "text"}]


def test_a_dialect_may_know_more_types() -> None:
    readers = {**READERS, "said": READERS["text"]}
    native = {"type": "said", "text": "x"}
    assert blocks_of(native, readers) == [TextBlock(text="x")]
    assert blocks_of(native) == [UnknownBlock(native=native)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "source", "data", "resource", "content", "patch", "x"]),
            inner,
            max_size=4,
        )
    ),
)


@given(JSON)
def test_anything_becomes_blocks(value: object) -> None:
    blocks = blocks_of(value)
    assert msgspec.json.decode(msgspec.json.encode(blocks), type=list[ContentBlock]) == blocks
    assert isinstance(text_of_content(value), str)
    text_and_blocks(value)
