"""Content as the Responses API and app-server word it, and what tools answered the model. Pure and total."""

import json
import re
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.content import AudioBlock, ContentBlock, ImageBlock, TextBlock
from dragoman._wire import content, fields
from dragoman._wire.content import Readers, text_and_blocks


def _text(native: dict[str, Any]) -> ContentBlock:
    return content.READERS["text"](native) or TextBlock(text="")


def _image(native: dict[str, Any]) -> ContentBlock | None:
    uri = fields.text(native, "image_url", "imageUrl", "url", "path")
    return image_at(uri) if uri is not None else content.READERS["image"](native)


def image_at(uri: str) -> ImageBlock:
    """The image behind a uri, or in it: `data:<mime type>;base64,<data>`."""
    head, _, data = uri.partition(";base64,")
    if head.startswith("data:") and data:
        return ImageBlock(mime_type=head.removeprefix("data:"), data=data)
    return ImageBlock(uri=uri)


def _audio(native: dict[str, Any]) -> ContentBlock | None:
    uri = fields.text(native, "audioUrl", "url", "path")
    return AudioBlock(uri=uri) if uri is not None else content.READERS["audio"](native)


_READERS: Final[Readers] = {
    **content.READERS,
    **dict.fromkeys(
        ("text", "Text", "input_text", "output_text", "summary_text", "reasoning_text", "inputText"), _text
    ),
    **dict.fromkeys(("image", "input_image", "local_image", "localImage", "inputImage"), _image),
    **dict.fromkeys(("audio", "localAudio", "inputAudio"), _audio),
}


def read(native: Any) -> tuple[str, list[ContentBlock]]:
    """The text in content; and all blocks, if some are not text, else none."""
    text = only_text(native)
    return text_and_blocks(native, _READERS) if text is None else (text, [])


def only_text(native: Any) -> str | None:
    """The text of content that is a single block of it, as nearly all content is: one call instead of eleven. None for
    anything else."""
    if type(native) is not list or len(native) != 1:
        return None
    block = native[0]
    if type(block) is not dict or block.get("type") != "text":
        return None
    text = block.get("text")
    return text if type(text) is str and text.isascii() else None


def user_message(native: Any, message_id: str | None = None) -> ev.Message:
    """A user's input as a message; one without any text has blocks alone."""
    text, blocks = read(native)
    return ev.Message(
        role="user", text=text or (None if blocks else ""), blocks=blocks, message_id=message_id
    )


def joined_text(native: Any) -> str:
    """The text in content, with nothing between its parts: that is how the agent shows it."""
    blocks = content.blocks_of(native, _READERS)
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


# --- what a tool answered the model ------------------------------------------------------------------------

_EXITED: Final = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_RUNNING: Final = re.compile(r"^Process running with session ID ", re.MULTILINE)
_FAILED: Final = re.compile(
    r"(?:unsupported call|failed to |unable to |\w+ failed\b|apply_patch verification failed|Script failed|tool call error)"
    r"|.* is unavailable"
)
_REJECTED: Final = re.compile(
    r'.*(?:rejected by user|reject command|\bRejected\("(?!approval request failed))'
)
_ABORTED: Final = re.compile(r"(?:Wall time: [\d.]+ seconds\n)?aborted by user")


class Answer:
    """The output of a call as the model reads it. Whether the call failed is in its text alone."""

    def __init__(self, native: Any) -> None:
        whole = native.get("content", native.get("output")) if isinstance(native, dict) else native
        words, self.content = read(whole)
        exited = _EXITED.search(words)
        self.exit_code = int(exited[1]) if exited and words.startswith(_HEADS) else None
        self.runs_on = words.startswith(_HEADS) and _RUNNING.search(words) is not None
        head, found, body = words.partition("\nOutput:\n")
        self.output = body if found and head.startswith(_HEADS) else words
        if (old := _old_shell(words)) is not None:
            self.output, self.exit_code = old
        self.status = self._status(words, native)

    def _status(self, words: str, native: Any) -> ev.ToolStatus:
        if _ABORTED.match(words):
            return "cancelled"
        if _REJECTED.match(words):
            return "declined"
        if self.exit_code is not None:
            return "completed" if self.exit_code == 0 else "failed"
        refused = fields.value(native, "success") is False
        return "failed" if refused or _FAILED.match(words) else "completed"


_HEADS: Final = ("Chunk ID:", "Wall time:", "Exit code:")


def _old_shell(words: str) -> tuple[str, int | None] | None:
    """Output and exit code of a shell's answer until 2025, {"output", "metadata": {"exit_code"}} as text;
    None for any other text."""
    if not words.startswith("{"):
        return None
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        return None
    output, metadata = fields.text(value, "output"), fields.mapping(value, "metadata")
    if output is None or not metadata:
        return None
    return output, fields.integer(metadata, "exit_code")
