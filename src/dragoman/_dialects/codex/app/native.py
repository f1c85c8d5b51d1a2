"""What several files make of native values in the same way."""

from typing import Any

from dragoman._model.content import ImageBlock


def ext(**values: Any) -> dict[str, Any]:
    """Native values for an event's `ext`, those that say something."""
    return {f"codex.{name}": value for name, value in values.items() if value not in (None, [], {})}


def image_block(uri: str) -> ImageBlock:
    head, comma, data = uri.partition(";base64,")
    if comma and head.startswith("data:"):
        return ImageBlock(mime_type=head.removeprefix("data:"), data=data)
    return ImageBlock(uri=uri)
