"""Content as the Responses API words it, and what tools answered the model. Pure and total."""

import json
import re
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.content import ContentBlock
from dragoman._wire import fields
from dragoman._wire.content import blocks_of, plain, text_of_content


def content_of(native: Any) -> list[dict[str, Any]]:
    """Content in the words that content blocks are read from: input_text, output_text, Text → text …"""
    items = native if isinstance(native, list) else [native] if native is not None else []
    return [_content_item(item) for item in items]


def _content_item(item: Any) -> dict[str, Any]:
    kind = fields.text(item, "type")
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if kind in ("input_text", "output_text", "summary_text", "reasoning_text", "Text", "text"):
        return {"type": "text", "text": fields.text(item, "text") or ""}
    url = fields.text(item, "image_url", "url", "path")
    if url is not None and kind in ("input_image", "image", "local_image", "localImage"):
        head, _, data = url.partition(";base64,")
        if head.startswith("data:") and data:
            return {"type": "image", "mimeType": head.removeprefix("data:"), "data": data}
        return {"type": "image", "uri": url}
    return item if isinstance(item, dict) else {"type": "unknown", "value": item}


def user_message(native: Any) -> ev.Message:
    """What a user said, with its blocks where text alone does not say everything."""
    content = content_of(native)
    blocks = blocks_of(content)
    return ev.Message(role="user", text=text_of_content(content), blocks=[] if plain(blocks) else blocks)


def joined_text(native: Any) -> str:
    """The text in it, with nothing between its parts: that is how the agent shows it."""
    return "".join(item.get("text", "") for item in content_of(native) if item.get("type") == "text")


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
    """The output of a call as the model reads it. Whether it failed is only in its words."""

    def __init__(self, native: Any) -> None:
        whole = native
        if isinstance(native, dict):
            whole = native.get("content", native.get("output"))
        content = content_of(whole)
        blocks = blocks_of(content)
        words = text_of_content(content)
        self.content: list[ContentBlock] = [] if plain(blocks) else blocks
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
    """Until 2025 the shell answered {"output", "metadata": {"exit_code"}} as text."""
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
