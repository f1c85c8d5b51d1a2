"""Content blocks of messages and tool results, as the Anthropic API, MCP and ACP write them: nearly one shape.

Content is a string, a block or a list of both; a block is an object whose `type` says what it is. Pure and total:
what is not of the expected form is kept as an unknown block. Where an agent has block types of its own, its dialect
reads with a larger table (see codex/shared/content).
"""

from collections.abc import Callable, Mapping
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
    ThinkingBlock,
    UnknownBlock,
    text_of,
)
from dragoman._wire import fields
from dragoman._wire.jsontext import repaired_text

Readers = Mapping[str, Callable[[dict[str, Any]], ContentBlock | None]]
"""By a block's `type`: the function that reads such a block, None where it lacks what makes it one."""


def parts_of(content: Any) -> list[Any]:
    """The native parts of content: a list as it is, null as none, anything else as the only part."""
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def block_of(native: Any, readers: Readers | None = None) -> ContentBlock:
    """The block that one native part is; a string is text."""
    if isinstance(native, str):
        return TextBlock(text=repaired_text(native))
    kind = native.get("type") if isinstance(native, dict) else None
    read = (readers or READERS).get(kind) if isinstance(kind, str) else None
    block = read(native) if read is not None else None
    return block if block is not None else UnknownBlock(native=native)


def blocks_of(content: Any, readers: Readers | None = None) -> list[ContentBlock]:
    """The blocks of a message or of a tool result."""
    return [block_of(part, readers) for part in parts_of(content)]


def plain(blocks: list[ContentBlock]) -> bool:
    """Whether all blocks are text."""
    return all(isinstance(block, TextBlock) for block in blocks)


def text_and_blocks(content: Any, readers: Readers | None = None) -> tuple[str, list[ContentBlock]]:
    """The text in content, one block after the other; and all blocks, if some are not text, else none."""
    if type(content) is str:  # most of it is
        return content if content.isascii() else repaired_text(content), []
    blocks = blocks_of(content, readers)
    if len(blocks) == 1 and type(blocks[0]) is TextBlock:
        return blocks[0].text, []
    return text_of(blocks), [] if plain(blocks) else blocks


def text_of_content(content: Any) -> str:
    """The text in content, one block after the other."""
    return text_of(blocks_of(content))


# --- one function for each type ----------------------------------------------------------------------------


def _text(native: dict[str, Any]) -> ContentBlock | None:
    text = native.get("text")
    return TextBlock(text=repaired_text(text)) if isinstance(text, str) else None


def _thinking(native: dict[str, Any]) -> ContentBlock | None:
    text = fields.text(native, "thinking")
    return None if text is None else ThinkingBlock(text=text, signature=fields.text(native, "signature"))


def _source(native: dict[str, Any]) -> dict[str, Any]:
    """The object with a block's data: `source` in the Anthropic API, the block itself in MCP and ACP."""
    source = native.get("source")
    return source if isinstance(source, dict) else native


def _media(make: type[ImageBlock | AudioBlock]) -> Callable[[dict[str, Any]], ContentBlock | None]:
    """The reader of images or of sounds."""

    def read(native: dict[str, Any]) -> ContentBlock | None:
        source = _source(native)
        data, uri = fields.text(source, "data"), fields.text(source, "url", "uri")
        if data is None and uri is None:
            return None
        return make(mime_type=fields.text(source, "media_type", "mimeType"), data=data, uri=uri)

    return read


def _document(native: dict[str, Any]) -> ContentBlock | None:
    source = _source(native)
    data, uri = fields.text(source, "data"), fields.text(source, "url")
    if data is None and uri is None:
        return None
    is_text = source.get("type") == "text"
    return ResourceBlock(
        name=fields.text(native, "title"),
        uri=uri,
        mime_type=fields.text(source, "media_type"),
        text=data if is_text else None,
        blob=None if is_text else data,
    )


def _resource(native: dict[str, Any]) -> ContentBlock | None:
    """The content is one level down, as `resource`; an older summary of ACP has it beside the uri, as `contents`."""
    inner = native.get("resource", native.get("contents"))
    held = inner if isinstance(inner, dict) else native
    block = ResourceBlock(
        uri=fields.text(held, "uri") or fields.text(native, "uri"),
        name=fields.text(held, "name") or fields.text(native, "name"),
        mime_type=fields.text(held, "mimeType"),
        text=inner if isinstance(inner, str) else fields.text(held, "text"),
        blob=fields.text(held, "blob"),
    )
    return None if block.uri is None and block.text is None and block.blob is None else block


def _resource_link(native: dict[str, Any]) -> ContentBlock | None:
    uri = fields.text(native, "uri")
    if uri is None:
        return None
    return ResourceLinkBlock(
        uri=uri,
        name=fields.text(native, "name"),
        title=fields.text(native, "title"),
        description=fields.text(native, "description"),
        mime_type=fields.text(native, "mimeType"),
        size=fields.integer(native, "size"),
    )


def _wrapped(native: dict[str, Any]) -> ContentBlock | None:
    """The block in the `content` of an ACP tool's content. One level only: depth is the sender's choice."""
    inner = native.get("content")
    return None if fields.text(inner, "type") == "content" else block_of(inner)


def _diff(native: dict[str, Any]) -> ContentBlock:
    """A diff of ACP: texts in protocol 1, a `patch` in protocol 2."""
    path, before, after = native.get("path"), native.get("oldText"), native.get("newText")
    return DiffBlock(
        path=path if isinstance(path, str) else None,
        before=before if isinstance(before, str) else None,
        after=after if isinstance(after, str) else None,
        patch=fields.text(native["patch"], "text") if "patch" in native else None,
    )


READERS: Final[Readers] = {
    "text": _text,
    "thinking": _thinking,
    "image": _media(ImageBlock),
    "audio": _media(AudioBlock),
    "document": _document,
    "resource": _resource,
    "resource_link": _resource_link,
    "content": _wrapped,
    "diff": _diff,
    "terminal": lambda native: TerminalBlock(terminal_id=fields.text(native, "terminalId")),
}


# --- the other way -------------------------------------------------------------------------------------------


def native_of(block: ContentBlock) -> dict[str, Any] | None:
    """A block as MCP and ACP write it; None for one that they have no word for."""
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
    return None


def _sparse(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
