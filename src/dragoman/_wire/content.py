"""Content and usage as the Anthropic API writes them, shared by the dialects that carry its messages.

Content is a string or a list of blocks; tool results of MCP servers bring MCP's own blocks along. Pure and
total: whatever is not of the expected form is kept as an unknown block.
"""

from collections.abc import Callable
from typing import Any, Final

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    ThinkingBlock,
    UnknownBlock,
    text_of,
)
from dragoman._model.usage import Usage


def blocks_of(content: Any) -> list[ContentBlock]:
    """The blocks of a message or of a tool result."""
    if content is None:
        return []
    return [_block(item) for item in content] if isinstance(content, list) else [_block(content)]


def text_of_content(content: Any) -> str:
    """The plain text in it, one block after the other."""
    return content if isinstance(content, str) else text_of(blocks_of(content))


def plain(blocks: list[ContentBlock]) -> bool:
    """Whether the text alone says everything."""
    return all(isinstance(block, TextBlock) for block in blocks)


def usage_of(native: Any) -> Usage | None:
    """Token counts of one API call; None if nothing is said. The API counts cached input apart from the rest."""
    if not isinstance(native, dict):
        return None
    details = native.get("output_tokens_details")
    read, written = _count(native, "cache_read_input_tokens"), _count(native, "cache_creation_input_tokens")
    fresh = _count(native, "input_tokens")
    usage = Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=_count(native, "output_tokens"),
        reasoning_tokens=_count(details, "thinking_tokens") if isinstance(details, dict) else None,
        total_tokens=_count(native, "total_tokens"),
    )
    return usage if usage else None


def _count(native: dict[str, Any], key: str) -> int | None:
    value = native.get(key)
    return value if type(value) is int else None


def _block(native: Any) -> ContentBlock:
    if isinstance(native, str):
        return TextBlock(text=native)
    if isinstance(native, dict):
        read = _READERS.get(native.get("type") or "") if isinstance(native.get("type"), str) else None
        block = read(native) if read is not None else None
        if block is not None:
            return block
    return UnknownBlock(native=native)


def _text(native: dict[str, Any]) -> ContentBlock | None:
    text = _str(native, "text")
    return None if text is None else TextBlock(text=text)


def _thinking(native: dict[str, Any]) -> ContentBlock | None:
    text = _str(native, "thinking")
    return None if text is None else ThinkingBlock(text=text, signature=_str(native, "signature"))


def _image(native: dict[str, Any]) -> ContentBlock | None:
    source = _source(native)
    mime, data = _str(source, "media_type", "mimeType"), _str(source, "data")
    uri = _str(source, "url", "uri")
    return None if data is None and uri is None else ImageBlock(mime_type=mime, data=data, uri=uri)


def _audio(native: dict[str, Any]) -> ContentBlock | None:
    source = _source(native)
    data = _str(source, "data")
    return None if data is None else AudioBlock(mime_type=_str(source, "media_type", "mimeType"), data=data)


def _document(native: dict[str, Any]) -> ContentBlock | None:
    source = _source(native)
    data, uri = _str(source, "data"), _str(source, "url")
    if data is None and uri is None:
        return None
    is_text = source.get("type") == "text"
    return ResourceBlock(
        name=_str(native, "title"),
        uri=uri,
        mime_type=_str(source, "media_type"),
        text=data if is_text else None,
        blob=None if is_text else data,
    )


def _resource(native: dict[str, Any]) -> ContentBlock | None:
    inner = native.get("resource")
    if not isinstance(inner, dict):
        return None
    return ResourceBlock(
        uri=_str(inner, "uri"),
        name=_str(inner, "name"),
        mime_type=_str(inner, "mimeType"),
        text=_str(inner, "text"),
        blob=_str(inner, "blob"),
    )


def _resource_link(native: dict[str, Any]) -> ContentBlock | None:
    uri = _str(native, "uri")
    if uri is None:
        return None
    return ResourceLinkBlock(
        uri=uri,
        name=_str(native, "name"),
        title=_str(native, "title"),
        description=_str(native, "description"),
        mime_type=_str(native, "mimeType"),
        size=_count(native, "size"),
    )


_READERS: Final[dict[str, Callable[[dict[str, Any]], ContentBlock | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "image": _image,
    "audio": _audio,
    "document": _document,
    "resource": _resource,
    "resource_link": _resource_link,
}


def _source(native: dict[str, Any]) -> dict[str, Any]:
    """Where the API puts a block's data; MCP puts it in the block itself."""
    source = native.get("source")
    return source if isinstance(source, dict) else native


def _str(native: dict[str, Any], *keys: str) -> str | None:
    return next((native[key] for key in keys if isinstance(native.get(key), str)), None)
