"""Content blocks in the form of ACP prompts. What ACP agents send is read by _wire/content."""

from typing import Any

from dragoman._model.content import ContentBlock
from dragoman._model.errors import UsageError
from dragoman._wire.content import native_of


def prompt(text: str, blocks: list[ContentBlock]) -> list[dict[str, Any]]:
    """The `prompt` of session/prompt. Raises UsageError for a block that no prompt can have."""
    native: list[dict[str, Any]] = [{"type": "text", "text": text}] if text or not blocks else []
    return native + [_native(block) for block in blocks]


def _native(block: ContentBlock) -> dict[str, Any]:
    native = native_of(block)
    if native is None:
        raise UsageError(
            f"an ACP prompt takes no content block of type {block.__struct_config__.tag} like this one"
        )
    return native
