"""Content blocks, from ACP and to ACP: what messages, prompts and tool results are made of."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    DiffBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TerminalBlock,
    TextBlock,
    UnknownBlock,
)
from dragoman._model.errors import UsageError
from dragoman._wire import fields
from dragoman._wire.jsontext import repaired_text


def block_of(native: Any) -> ContentBlock:
    """One block. A diff of protocol 1 and a terminal are blocks too: tools have them."""
    if isinstance(native, str):
        return TextBlock(text=native)
    if not isinstance(native, dict):
        return UnknownBlock(native=native)
    make = _READ.get(str(native.get("type")))
    block = make(native) if make is not None else None
    return block if block is not None else UnknownBlock(native=native)


def blocks_of(native: Any) -> list[ContentBlock]:
    """All blocks of what should be a list and is sometimes one block."""
    if native is None:
        return []
    return [block_of(item) for item in (native if isinstance(native, list) else [native])]


def plain(blocks: list[ContentBlock]) -> bool:
    """Whether text says everything."""
    return all(isinstance(block, TextBlock) for block in blocks)


def said(native: Any) -> tuple[str | None, list[ContentBlock]]:
    """The text of a message, and its blocks where text alone does not say everything."""
    blocks = blocks_of(native)
    text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
    return text or None, [] if plain(blocks) else blocks


def _text(native: dict[str, Any]) -> ContentBlock | None:
    text = native.get("text")
    return TextBlock(text=repaired_text(text)) if isinstance(text, str) else None


def _image(native: dict[str, Any]) -> ContentBlock:
    return ImageBlock(
        mime_type=fields.text(native, "mimeType"),
        data=fields.text(native, "data"),
        uri=fields.text(native, "uri"),
    )


def _audio(native: dict[str, Any]) -> ContentBlock:
    return AudioBlock(
        mime_type=fields.text(native, "mimeType"),
        data=fields.text(native, "data"),
        uri=fields.text(native, "uri"),
    )


def _link(native: dict[str, Any]) -> ContentBlock | None:
    uri, size = fields.text(native, "uri"), native.get("size")
    if uri is None:
        return None
    return ResourceLinkBlock(
        uri=uri,
        name=fields.text(native, "name"),
        title=fields.text(native, "title"),
        description=fields.text(native, "description"),
        mime_type=fields.text(native, "mimeType"),
        size=size if type(size) is int else None,
    )


def _resource(native: dict[str, Any]) -> ContentBlock:
    """The content is one level down; an older summary of the protocol has it beside the uri, as `contents`."""
    inner = native.get("resource", native.get("contents"))
    held = inner if isinstance(inner, dict) else native
    return ResourceBlock(
        uri=fields.text(held, "uri") or fields.text(native, "uri"),
        name=fields.text(native, "name"),
        mime_type=fields.text(held, "mimeType"),
        text=inner if isinstance(inner, str) else fields.text(held, "text"),
        blob=fields.text(held, "blob"),
    )


def _diff(native: dict[str, Any]) -> ContentBlock:
    patch = native.get("patch")
    return DiffBlock(
        path=fields.text(native, "path"),
        before=fields.text(native, "oldText"),
        after=fields.text(native, "newText"),
        patch=fields.text(patch, "text") if isinstance(patch, dict) else None,
    )


_READ: Final[dict[str, Callable[[dict[str, Any]], ContentBlock | None]]] = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource_link": _link,
    "resource": _resource,
    "content": lambda native: block_of(native.get("content")),
    "diff": _diff,
    "terminal": lambda native: TerminalBlock(terminal_id=fields.text(native, "terminalId")),
}


# --- out -----------------------------------------------------------------------------------------------------


def prompt(text: str, blocks: list[ContentBlock]) -> list[dict[str, Any]]:
    """What a prompt says. Raises UsageError for a block that no prompt can have."""
    said: list[dict[str, Any]] = [{"type": "text", "text": text}] if text or not blocks else []
    return said + [_native(block) for block in blocks]


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


def _sparse(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
