"""Where the user's own files of Dragoman are, and how a file that anyone may have written is read: within bounds."""

import os
import stat
from pathlib import Path
from typing import Final

LARGEST: Final = 1 << 20
"""Bytes of such a file."""


def config_file(name: str) -> Path:
    """A file of the user's own, below $XDG_CONFIG_HOME or ~/.config."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home) / "dragoman" / name


def text_of(path: Path) -> str:
    """The text of such a file. Raises OSError and UnicodeDecodeError."""
    return bytes_of(path).decode()


def bytes_of(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a regular file of a bearable size: a project's may be a link to a device, or a pipe. Raises
    OSError."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError("it is no regular file")
        data = stream.read(largest + 1)
    if len(data) > largest:
        raise OSError(f"it has more than {largest} bytes")
    return data
