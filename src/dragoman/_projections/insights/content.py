"""Content blocks in the words of this model. Kinds that it does not have are unknown ones."""

from dragoman._dialects.insights import messages as m
from dragoman._model import content as c


def content_of(blocks: list[c.ContentBlock]) -> list[m.ContentBlock]:
    return [_block_of(block) for block in blocks]


def _block_of(block: c.ContentBlock) -> m.ContentBlock:
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


def images(blocks: list[c.ContentBlock]) -> list[m.ImageData] | None:
    """The pictures in what a user said."""
    found = [
        m.ImageData(media_type=block.mime_type or "image/png", data=block.data)
        for block in blocks
        if isinstance(block, c.ImageBlock) and block.data is not None
    ]
    return found or None
