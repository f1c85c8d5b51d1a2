"""What Gemini's content is made of, in Google's API and in the files of its CLI and of those who come from it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from dragoman._model import patches
from dragoman._model.content import AudioBlock, ContentBlock, ImageBlock, ResourceBlock, UnknownBlock
from dragoman._model.events import FileChanged
from dragoman._wire import fields
from dragoman._wire.content import parts_of as native_parts


class Part(NamedTuple):
    """A piece of an entry's content."""

    kind: str
    """text, thought, call, answer or block."""
    value: Any


def parts_of(content: Any) -> Iterator[Part]:
    """The parts of content: of a text, one part, or a list of both."""
    for item in native_parts(content):
        if isinstance(item, str):
            yield Part("text", item)
        elif not isinstance(item, dict):
            continue
        elif isinstance(text := item.get("text"), str):
            yield Part("thought" if fields.flag(item, "thought") else "text", text)
        elif isinstance(call := item.get("functionCall"), dict):
            yield Part("call", call)
        elif isinstance(answer := item.get("functionResponse"), dict):
            yield Part("answer", answer)
        else:
            yield Part("block", _block(item))


def _block(item: dict[str, Any]) -> ContentBlock:
    data, file = item.get("inlineData"), item.get("fileData")
    if isinstance(data, dict):
        mime = fields.text(data, "mimeType")
        kind = AudioBlock if (mime or "").startswith("audio/") else ImageBlock
        return kind(mime_type=mime, data=fields.text(data, "data"))
    if (uri := fields.text(file, "fileUri")) is not None:
        return ResourceBlock(uri=uri, mime_type=fields.text(file, "mimeType"))
    return UnknownBlock(native=item)


def text_of(content: Any) -> str:
    return "".join(part.value for part in parts_of(content) if part.kind == "text")


def blocks_of(content: Any) -> list[ContentBlock]:
    """The blocks of content that are no text."""
    return [part.value for part in parts_of(content) if part.kind == "block"]


def is_answer(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)


def shown_change(display: Any, call_id: str, *, applied: bool, new: bool = False) -> FileChanged | None:
    """The file change in `resultDisplay` of an edit; None if there is none. `new`: the file was not there, which the display
    may say itself."""
    path = fields.text(display, "filePath") or fields.text(display, "fileName")
    if not isinstance(display, dict) or "fileDiff" not in display or path is None:
        return None
    before, after = fields.text(display, "originalContent"), fields.text(display, "newContent")
    created = new or fields.flag(display, "isNewFile") or before is None
    before = None if created else before
    return FileChanged(
        path=path,
        change="created" if created else "modified",
        diff=patches.between(path, before, after) if after is not None else fields.text(display, "fileDiff"),
        before=before,
        after=after,
        call_id=call_id,
        phase="applied" if applied else "failed",
    )
