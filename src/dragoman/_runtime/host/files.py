"""Text files that an agent reads and writes through its client: only those under the session's directories.

A path is made real first (links, `..`), then opened step by step from its directory down without following any
link. What was put in its way meanwhile is thus never followed: such a path is refused.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Final

from dragoman._wire.jsonrpc import RESOURCE_NOT_FOUND

LARGEST: Final = 64 << 20
"""Bytes of a file that is read at all."""

_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ENTER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(Exception):
    """The host does not do this, and says why. `code`: what JSON-RPC has for it, if there is something."""

    code: int | None = None


class NotThere(Refused):
    """There is no such file."""

    code: int | None = RESOURCE_NOT_FOUND


class Files:
    """The files under some directories; relative paths start at the first."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._here = os.path.abspath(roots[0])
        self._roots = list(dict.fromkeys(os.path.realpath(root) for root in roots))

    def real(self, path: str) -> str:
        """The path itself, without links. Raises Refused if it leads out."""
        return os.path.join(*self._placed(path))

    def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, or `limit` lines of it from `line` (the first is 1). Raises NotThere or Refused."""
        root, inner = self._placed(path)
        try:
            with ExitStack() as stack:
                data = _content(_open(stack, root, inner, _LOOK))
        except FileNotFoundError:
            raise NotThere(f"Resource not found: {path}") from None
        except OSError as error:
            raise _refusal(path, error) from error
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8 text.") from None
        return text if line is None and limit is None else _lines(text, line, limit)

    def write(self, path: str, content: str) -> None:
        """Make this the text of a file; it and its directories are created if need be."""
        root, inner = self._placed(path)
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise Refused("The content holds half a character.") from None
        try:
            with ExitStack() as stack:
                file = _open(stack, root, inner, _WRITE, create=True)
                _regular(file)
                os.ftruncate(file, 0)
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(file, rest) :]
        except OSError as error:
            raise _refusal(path, error) from error

    def _placed(self, path: str) -> tuple[str, str]:
        """The directory that a path is in, and where in it."""
        try:
            real = os.path.realpath(os.path.join(self._here, path))
        except (OSError, ValueError) as error:
            raise Refused(f"{path!r} is no path: {error}") from error
        for root in self._roots:
            if real == root or real.startswith(os.path.join(root, "")):
                return root, os.path.relpath(real, root)
        raise Refused(f"{path} is outside of the session's directories ({', '.join(self._roots)}).")


def _open(stack: ExitStack, root: str, inner: str, flags: int, *, create: bool = False) -> int:
    """Open a file, every directory on the way from the one before."""
    *folders, name = inner.split(os.sep)
    here = _kept(stack, os.open(root, _ENTER & ~os.O_NOFOLLOW))
    for folder in folders:
        if create:
            with suppress(FileExistsError):
                os.mkdir(folder, dir_fd=here)
        here = _kept(stack, os.open(folder, _ENTER, dir_fd=here))
    return _kept(stack, os.open(name, flags, 0o666, dir_fd=here))


def _kept(stack: ExitStack, fd: int) -> int:
    stack.callback(os.close, fd)
    return fd


def _content(fd: int) -> bytes:
    if _regular(fd) > LARGEST:
        raise OSError(f"it has more than {LARGEST} bytes")
    with os.fdopen(fd, "rb", closefd=False) as file:
        return file.read(LARGEST)


def _regular(fd: int) -> int:
    """Its size; a pipe or a device would have us wait, or worse."""
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        raise OSError("it is no regular file")
    return about.st_size


def _refusal(path: str, error: OSError) -> Refused:
    return Refused(f"{path}: {error.strerror or error}")


def _lines(text: str, line: int | None, limit: int | None) -> str:
    """Only `\\n` ends a line here: U+0085 and U+2028 occur inside lines."""
    lines = text.split("\n")
    first = max((line or 1) - 1, 0)
    last = len(lines) if limit is None else first + limit
    end = "\n" if last < len(lines) and limit else ""
    return "\n".join(lines[first:last]) + end
