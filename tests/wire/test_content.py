import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    ThinkingBlock,
    UnknownBlock,
)
from dragoman._model.usage import Usage
from dragoman._wire.content import blocks_of, plain, text_of_content, usage_of


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


def test_input_tokens_include_the_cache() -> None:
    native = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 50,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    assert usage_of(native) == Usage(
        input_tokens=160, cache_read_tokens=50, cache_write_tokens=10, output_tokens=20, reasoning_tokens=5
    )


def test_unknown_counts_are_absent() -> None:
    assert usage_of({"output_tokens": 0, "output_tokens_details": None}) == Usage(output_tokens=0)
    assert usage_of({"input_tokens": "7", "service_tier": None}) is None
    assert usage_of(None) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "source", "data", "resource", "x"]), inner, max_size=4
        )
    ),
)


@given(JSON)
def test_anything_becomes_blocks(value: object) -> None:
    blocks = blocks_of(value)
    assert msgspec.json.decode(msgspec.json.encode(blocks), type=list[ContentBlock]) == blocks
    assert isinstance(text_of_content(value), str)
    usage_of(value)
