"""Image files, as a prompt can carry them."""

import base64
import mimetypes
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dragoman._model.content import ImageBlock
from dragoman._model.errors import UsageError
from dragoman._policy.config_files import bytes_of

LARGEST: Final = 32 << 20
"""Bytes of one image; no model takes more."""


def read(file: str) -> bytes:
    """The content of an image file. Raises UsageError for one that cannot be read, and for a name that is no image's."""
    mime_type(file)
    try:
        return bytes_of(Path(file), LARGEST)
    except OSError as error:
        raise UsageError(f"the image {file} cannot be read: {error.strerror or error}") from None


def blocks(files: Iterable[str]) -> list[ImageBlock]:
    """Image files as blocks of a prompt. Raises UsageError."""
    return [
        ImageBlock(mime_type=mime_type(file), data=base64.b64encode(read(file)).decode()) for file in files
    ]


def mime_type(file: str) -> str:
    """What kind of image a file is, by its name. Raises UsageError if that does not tell it."""
    mime = mimetypes.guess_type(file)[0] or ""
    if not mime.startswith("image/"):
        raise UsageError(f"the name of {file} does not tell what kind of image it is: call it .png, .jpg …")
    return mime
