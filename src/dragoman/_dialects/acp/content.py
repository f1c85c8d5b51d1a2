"""Content blocks in the form of ACP prompts. What ACP agents send is read by _wire/content."""

from typing import Any

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)
from dragoman._model.errors import UsageError


def prompt(text: str, blocks: list[ContentBlock]) -> list[dict[str, Any]]:
    """The `prompt` of session/prompt. Raises UsageError for a block that no prompt can have."""
    native: list[dict[str, Any]] = [{"type": "text", "text": text}] if text or not blocks else []
    return native + [_native(block) for block in blocks]


def _native(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock | AudioBlock) and block.data is not None:
        kind, default = ("image", "image/png") if isinstance(block, ImageBlock) else ("audio", "audio/wav")
        return _sparse(type=kind, mimeType=block.mime_type or default, data=block.data, uri=block.uri)
    if isinstance(block, ResourceLinkBlock):
        return _sparse(
            type="resource_link",
            uri=block.uri,
            name=block.name or block.uri.rsplit("/", 1)[-1] or block.uri,
            title=block.title,
            description=block.description,
            mimeType=block.mime_type,
            size=block.size,
        )
    if isinstance(block, ResourceBlock) and (block.text is not None or block.blob is not None):
        held = {"text": block.text} if block.text is not None else {"blob": block.blob}
        resource = _sparse(uri=block.uri or f"file:///{block.name or 'resource'}", mimeType=block.mime_type)
        return {"type": "resource", "resource": {**resource, **held}}
    raise UsageError(
        f"an ACP prompt takes no content block of type {block.__struct_config__.tag} like this one"
    )


def _sparse(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
