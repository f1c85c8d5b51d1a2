"""The archive: the bytes of every file that was seen, compressed, as they were. They are the truth; all else is read from
them again.

A file that grows has its new bytes added. One that was cut or rewritten is begun anew, as another generation, and what it
was stays; but of a file that is one JSON document, and is written whole each time, only the last. Bytes go through in
pieces, and are never all in memory.
"""

import io
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Final

from backports import zstd
from msgspec import Struct, field

from dragoman._library.database import Database

CHUNK: Final = 1 << 22
"""Bytes of a chunk, at most."""
SMALL: Final = 1 << 19
"""A last chunk below this is written again, with what came after it."""
COMPARED: Final = 1 << 12
"""Bytes at the beginning and at the end of what is archived that must still be there, for a longer file to have grown."""
LEVEL: Final = 3

HERE: Final = "here"
GONE: Final = "gone"
UNREADABLE: Final = "unreadable"
KEPT: Final = "kept"
FORGOTTEN: Final = "forgotten"
LEFT_OUT: Final = "left out"


class Known(Struct):
    """What the library knows of a file: the row of `file` that is needed to see whether it has changed."""

    id: int
    identity: str | None
    size: int
    modified: int
    generation: int
    state: str = HERE
    unit: int | None = None


class Chunk(Struct):
    start: int
    length: int
    data: bytes


class FileRead(Struct):
    """A file that was new or had changed, as it was found."""

    path: str
    known: Known | None
    """What was known of it when it was read: if it is not so any more, somebody else has read it meanwhile."""
    identity: str | None = None
    size: int = 0
    modified: int = 0
    generation: int = 0
    chunks: list[Chunk] = field(default_factory=list)
    """To be added; one that begins where another one did takes its place."""
    drops: int | None = None
    """A generation of which nothing has to be kept."""
    state: str = HERE
    problem: str | None = None
    """Why it could not be read."""


def stands(path: str) -> tuple[str, int, int]:
    """The identity, size and time of change of a regular file. Raises OSError."""
    return _standing(os.stat(path))


def _standing(status: os.stat_result) -> tuple[str, int, int]:
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no regular file")
    return f"{status.st_dev}:{status.st_ino}", status.st_size, status.st_mtime_ns


class OpenFile:
    """A file, and what is archived of it. `came` is whole once `pieces` came to their end. Never raises for what cannot be
    read: then `came` has a problem, and there is what is archived."""

    def __init__(self, db: Database, path: str, known: Known | None) -> None:
        self._db, self._known = db, known
        self._file: io.FileIO | None = None
        self._kept: list[tuple[int, int]] = []
        """Where the chunks begin that are archived, and their lengths."""
        self._size = 0
        self.is_changed = False
        """Whether there is anything that is not archived."""
        self.came = FileRead(path, known)
        if known is not None:
            self.came.identity, self.came.modified = known.identity, known.modified
            self.came.size, self.came.generation = known.size, known.generation
            self._kept = _extents(db, known.id, known.generation)
        try:
            self._file = open(path, "rb", buffering=0, opener=_opener)  # noqa: SIM115
            self._begin()
        except OSError as error:
            self.close()
            self._file = None
            self._fail(error)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def pieces(self) -> Iterator[bytes]:
        """All of its content: what is archived, then what is new."""
        came, known = self.came, self._known
        kept, rest, at = list(self._kept), b"", came.size
        if kept and kept[-1][1] < SMALL:
            at = kept.pop()[0]
        for start, _ in kept:
            yield self._chunk(start)
        if at < came.size:
            rest = self._chunk(at)
        while piece := self._read(CHUNK - len(rest)):
            came.size += len(piece)
            piece = rest + piece if rest else piece
            came.chunks.append(Chunk(at, len(piece), zstd.compress(piece, LEVEL)))
            yield piece
            at, rest = at + len(piece), b""
        if rest:
            yield rest
        if known is not None and came.generation != known.generation and came.path.endswith(".json"):
            came.drops = known.generation if came.size >= known.size else None

    def _begin(self) -> None:
        assert self._file is not None
        came, known = self.came, self._known
        came.identity, self._size, came.modified = _standing(os.fstat(self._file.fileno()))
        if known is None:
            self.is_changed = True
        elif self._goes_on(known):
            self._file.seek(known.size)
            self.is_changed = self._size > known.size
        else:
            self._file.seek(0)
            self._kept, self.is_changed = [], True
            came.size, came.generation = 0, known.generation + 1

    def _goes_on(self, known: Known) -> bool:
        """Whether what is archived is still the beginning of the file. Of one that grew where it was, the ends tell."""
        if self._size < known.size or sum(length for _, length in self._kept) != known.size:
            return False
        if self._size > known.size and self.came.identity == known.identity and self._kept:
            head, tail = self._chunk(0)[:COMPARED], self._chunk(self._kept[-1][0])[-COMPARED:]
            return self._is_at(0, head) and self._is_at(known.size - len(tail), tail)
        return all(self._is_at(start, self._chunk(start)) for start, _ in self._kept)

    def _is_at(self, start: int, content: bytes) -> bool:
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(len(content)) == content

    def _chunk(self, start: int) -> bytes:
        assert self._known is not None
        return _chunk(self._db, self._known.id, self._known.generation, start)

    def _read(self, most: int) -> bytes:
        """New bytes, up to where the file ended when it was opened: one that is written on may never end."""
        left = self._size - self.came.size
        if self._file is None or left <= 0:
            return b""
        try:
            return self._file.read(min(most, left)) or b""
        except OSError as error:
            self._fail(error)
            return b""

    def _fail(self, error: OSError) -> None:
        self.came.state = GONE if is_absence(error) else UNREADABLE
        self.came.problem = error.strerror or str(error)


def is_absence(error: OSError) -> bool:
    """Whether it says that there is no such file, rather than that it cannot be read."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def _extents(db: Database, file: int, generation: int) -> list[tuple[int, int]]:
    rows = db.rows(
        "SELECT start, length FROM chunk WHERE file = ? AND generation = ? ORDER BY start", (file, generation)
    )
    return [(start, length) for start, length in rows]


def _chunk(db: Database, file: int, generation: int, start: int) -> bytes:
    rows = db.rows(
        "SELECT data FROM chunk WHERE file = ? AND generation = ? AND start = ?", (file, generation, start)
    )
    return b"".join(zstd.decompress(bytes(data)) for (data,) in rows)


def content(db: Database, file: int, generation: int) -> Iterator[bytes]:
    """The bytes of a file as they were archived, in pieces."""
    for start, _ in _extents(db, file, generation):
        yield _chunk(db, file, generation, start)


def lines(name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file's content; a file whose name ends with .zst is unpacked. What cannot be unpacked ends it."""
    whole = io.BufferedReader(_Joined(pieces), CHUNK)
    if not name.endswith(".zst"):
        yield from whole
        return
    try:
        with zstd.open(whole, "rb") as unpacked:
            yield from unpacked
    except (zstd.ZstdError, EOFError):
        return


class _Joined(io.RawIOBase):
    """Pieces, as a file."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._piece = memoryview(piece)
        size = min(len(into), len(self._piece))
        into[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
