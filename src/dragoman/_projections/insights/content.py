"""Content blocks of the two models, both ways. Kinds that the other does not have are kept as unknown ones."""

import msgspec

from dragoman._dialects.insights import messages as m
from dragoman._model import content as c


def shown(blocks: list[c.ContentBlock]) -> list[m.ContentBlock]:
    return [_shown(block) for block in blocks]


def _shown(block: c.ContentBlock) -> m.ContentBlock:
    match block:
        case c.TextBlock():
            return m.TextContent(text=block.text)
        case c.ThinkingBlock():
            return m.ThinkingContent(thinking=block.text, signature=block.signature)
        case c.ImageBlock():
            return m.ImageContent(data=block.data, uri=block.uri, mime_type=block.mime_type)
        case c.AudioBlock():
            return m.AudioContent(data=block.data, mime_type=block.mime_type, uri=block.uri)
        case c.ResourceBlock():
            held = {"mimeType": block.mime_type, "text": block.text, "blob": block.blob}
            contents = {key: value for key, value in held.items() if value is not None}
            return m.ResourceContent(uri=block.uri or "", name=block.name or "", contents=contents or None)
        case c.ResourceLinkBlock():
            return m.ResourceLinkContent(
                uri=block.uri, name=block.name, title=block.title, mime_type=block.mime_type, size=block.size
            )
        case c.DiffBlock():
            return m.DiffContent(
                file_path=block.path or "",
                old_content=block.before,
                new_content=block.after,
                unified_diff=block.patch,
            )
        case c.TerminalBlock():
            return m.TerminalContent(
                output=block.output or "", exit_code=block.exit_code, terminal_id=block.terminal_id
            )
        case c.UnknownBlock():
            return m.UnknownContent(raw=block.native)
        case c.JsonBlock():
            return m.UnknownContent(raw=block.value)


def read(blocks: list[m.ContentBlock]) -> list[c.ContentBlock]:
    return [_read(block) for block in blocks]


def _read(block: m.ContentBlock) -> c.ContentBlock:
    match block:
        case m.TextContent():
            return c.TextBlock(text=block.text)
        case m.ThinkingContent():
            return c.ThinkingBlock(text=block.thinking, signature=block.signature)
        case m.ImageContent():
            return c.ImageBlock(mime_type=block.mime_type, data=block.data, uri=block.uri)
        case m.AudioContent():
            return c.AudioBlock(mime_type=block.mime_type, data=block.data, uri=block.uri)
        case m.ResourceContent():
            return _resource(block)
        case m.ResourceLinkContent():
            return c.ResourceLinkBlock(
                uri=block.uri, name=block.name, title=block.title, mime_type=block.mime_type, size=block.size
            )
        case m.DiffContent():
            return c.DiffBlock(
                path=block.file_path,
                before=block.old_content,
                after=block.new_content,
                patch=block.unified_diff,
            )
        case m.TerminalContent():
            return c.TerminalBlock(
                terminal_id=block.terminal_id, output=block.output, exit_code=block.exit_code
            )
        case m.UnknownContent():
            return c.UnknownBlock(native=block.raw)


def _resource(block: m.ResourceContent) -> c.ContentBlock:
    held = block.contents if isinstance(block.contents, dict) else {}
    known = {key: held.get(key) for key in ("mimeType", "text", "blob")}
    if any(value is not None and not isinstance(value, str) for value in known.values()):
        return c.UnknownBlock(native=msgspec.to_builtins(block))
    return c.ResourceBlock(
        uri=block.uri or None,
        name=block.name or None,
        mime_type=known["mimeType"],
        text=known["text"],
        blob=known["blob"],
    )


def images(blocks: list[c.ContentBlock]) -> list[m.ImageData] | None:
    """The pictures in what a user said."""
    found = [
        m.ImageData(media_type=block.mime_type or "image/png", data=block.data)
        for block in blocks
        if isinstance(block, c.ImageBlock) and block.data is not None
    ]
    return found or None
