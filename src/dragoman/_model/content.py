"""Content blocks: what a message or a tool result is made of when plain text is not enough."""

from typing import Any

from msgspec import Struct


class Block(Struct, omit_defaults=True, kw_only=True, tag_field="type", gc=False):
    """One piece of content."""


class TextBlock(Block, tag="text"):
    """Plain text."""

    text: str


class ThinkingBlock(Block, tag="thinking"):
    """What the model thought, with the signature that its API wants back."""

    text: str
    signature: str | None = None


class ImageBlock(Block, tag="image"):
    """An image, as base64 `data` or behind a `uri`."""

    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None


class AudioBlock(Block, tag="audio"):
    """A sound, as base64 `data` or behind a `uri`."""

    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None


class ResourceBlock(Block, tag="resource"):
    """A resource with its content: `text`, or `blob` in base64."""

    uri: str | None = None
    name: str | None = None
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class ResourceLinkBlock(Block, tag="resource_link"):
    """A resource by its `uri`, without its content."""

    uri: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class DiffBlock(Block, tag="diff"):
    """A change to a file: whole texts, or a patch, or both."""

    path: str | None = None
    before: str | None = None
    after: str | None = None
    patch: str | None = None


class TerminalBlock(Block, tag="terminal"):
    """A terminal of the client, by its id, with its output where that is told."""

    terminal_id: str | None = None
    output: str | None = None
    exit_code: int | None = None


class JsonBlock(Block, tag="json"):
    """A JSON value."""

    value: Any


class UnknownBlock(Block, tag="unknown"):
    """A block of a kind this version does not know, verbatim."""

    native: Any


ContentBlock = (
    TextBlock
    | ThinkingBlock
    | ImageBlock
    | AudioBlock
    | ResourceBlock
    | ResourceLinkBlock
    | DiffBlock
    | TerminalBlock
    | JsonBlock
    | UnknownBlock
)


def text_of(blocks: list[ContentBlock]) -> str:
    """The plain text in `blocks`, one block after the other."""
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
