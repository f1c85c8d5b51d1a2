"""Recordings, `dragoman.recording/1`: the traffic of a run, line by line, as it was.

A header, one row per frame, one row for the exit. The rows of one read are handed to the system together, before
anybody hears of them and before a line goes to the agent: a process that is killed loses nothing that it had told or
said. What such a run leaves behind opens with every whole row. `frames.jsonl` of captures is the same without header and numbers, and is read here too.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import chain
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Struct, structs

from dragoman._files.moulds import Alike
from dragoman._files.streamed_text import FrameRedactor
from dragoman._model.errors import RecordingError
from dragoman._model.frames import Direction, Exit, Frame, Launch
from dragoman._wire.jsontext import repaired
from dragoman._wire.redaction import Redactor

FORMAT = "recording/1"

MANY: Final = 16
"""Lines of one mould that are worth a pattern."""


class Row(Struct, omit_defaults=True):
    """Any row. A frame has `dir`, and its bytes as `line` where they are UTF-8, else as `b64`."""

    dragoman: str | None = None
    """The header: the format, beside the fields of Launch."""
    exit: Exit | None = None
    n: int | None = None
    t: float | None = None
    dir: Direction | None = None
    line: str | None = None
    b64: bytes | None = None
    eol: bool = True

    @property
    def known(self) -> bool:
        is_header = self.dragoman is not None and self.dragoman.startswith("recording/")
        is_frame = self.dir is not None and (self.line is not None or self.b64 is not None)
        return is_header or is_frame or self.exit is not None


_row = msgspec.json.Decoder(Row)
_launch = msgspec.json.Decoder(Launch)
_encode_all = msgspec.json.Encoder().encode_lines


def read_row(line: bytes) -> Row | None:
    """The row on this line; None if it is none of a recording's."""
    try:
        row = _row.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return row if row.known else None


# --- writing ---------------------------------------------------------------------------------------------


class RecordingWriter:
    """Writes one run to `path`, without the secrets that `redactor` knows. Traffic is private: only the owner may read
    it. What is there is replaced only if `overwrite` says so; a file of a run that never began is taken away again."""

    def __init__(
        self, path: str | os.PathLike[str], redactor: Redactor | None = None, *, overwrite: bool = False
    ) -> None:
        self.path = os.fspath(path)
        self._redactor = redactor
        self._frames = FrameRedactor(redactor, "") if redactor is not None else None
        self._is_new = not is_passage(self.path)
        self._is_empty = True
        try:
            if self._is_new and overwrite:
                with suppress(FileNotFoundError):
                    os.unlink(self.path)
            self._file = open(self.path, "wb", buffering=0, opener=_opened if self._is_new else _passing)  # noqa: SIM115
        except OSError as error:
            raise self._cannot(error) from error

    def begin(self, launch: Launch) -> None:
        if self._redactor is not None:
            self._frames = FrameRedactor(self._redactor, launch.dialect)
            launch = self._redactor.launch(launch)
        self._write(_encoded({"dragoman": FORMAT, **msgspec.to_builtins(launch)}))

    def frame(self, frame: Frame) -> None:
        self.frames([frame])

    def frames(self, frames: Sequence[Frame]) -> None:
        """Frames that came together, in one write."""
        if self._frames is None:
            self._write(_rows(frames, [frame.line for frame in frames]))
            return
        rows: list[bytes] = []
        at = 0
        for part in self._frames.parts(frames):
            size = len(part.texts) if isinstance(part, Alike) else len(part)
            mine = frames[at : at + size]
            rows.append(_rows_alike(mine, part) if isinstance(part, Alike) else _rows(mine, part))
            at += size
        self._write(b"".join(rows))

    def end(self, exit: Exit) -> None:
        if self._redactor is not None:
            exit = structs.replace(exit, stderr_tail=self._redactor.value(exit.stderr_tail))
        self._write(_encoded({"exit": msgspec.to_builtins(exit)}))

    def close(self) -> None:
        if self._is_new and self._is_empty and not self._file.closed:
            with suppress(OSError):
                os.unlink(self.path)
        self._file.close()

    def __enter__(self) -> "RecordingWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, rows: bytes) -> None:
        rest = memoryview(rows)
        self._is_empty = False
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except (OSError, ValueError) as error:
            raise self._cannot(error) from error

    def _cannot(self, error: Exception) -> RecordingError:
        why = getattr(error, "strerror", None) or str(error)
        return RecordingError(f"cannot write the recording {self.path}: {why}")


class TextRow(Struct, omit_defaults=True, gc=False):
    """The row of a frame that is UTF-8. A type of its own, since there is one for every line: that is written in two
    thirds of the time."""

    n: int | None = None
    t: float | None = None
    dir: Direction | None = None
    line: str | None = None
    eol: bool = True


def _rows(frames: Sequence[Frame], lines: Sequence[bytes]) -> bytes:
    """All in one go where all are UTF-8, without a call for each: in two thirds of the time again."""
    try:
        return _encode_all(
            [
                TextRow(frame.n, frame.t, frame.dir, line.decode(), frame.eol)
                for frame, line in zip(frames, lines, strict=True)
            ]
        )
    except UnicodeDecodeError:
        return _encode_all(list(map(_row_of, frames, lines)))


def _rows_alike(frames: Sequence[Frame], alike: Alike) -> bytes:
    """The same for lines that the agent said and that are of one mould: in less than half the time, since what they have in
    common is written once and copied. What differs in them has no control characters, and is UTF-8."""
    times = {frame.t for frame in frames}
    if len(frames) < MANY or len(times) > 1:
        return _rows(frames, [frame.line for frame in frames])
    try:
        row = _encode_all([TextRow(None, times.pop(), "out", alike.mould.head.decode())])
    except UnicodeDecodeError:
        return _rows(frames, [frame.line for frame in frames])
    pattern = b"".join(
        (
            b'{"n":%d,',
            row.removeprefix(b"{").removesuffix(b'"}\n').replace(b"%", b"%%"),
            b"%b",
            _escaped([alike.mould.tail])[0].replace(b"%", b"%%"),
            b"%b" if alike.ids else b"",
            b'"}\n',
        )
    )
    columns = [[frame.n for frame in frames], *map(_escaped, filter(None, (alike.texts, alike.ids)))]
    return pattern * len(frames) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _escaped(texts: list[bytes]) -> list[bytes]:
    """Texts as they are written within a text of JSON."""
    joined = b"\n".join(texts)
    if b"\\" in joined or b'"' in joined:
        return joined.replace(b"\\", b"\\\\").replace(b'"', b'\\"').split(b"\n")
    return texts


def _row_of(frame: Frame, line: bytes) -> TextRow | Row:
    try:
        return TextRow(frame.n, frame.t, frame.dir, line.decode(), frame.eol)
    except UnicodeDecodeError:
        return Row(n=frame.n, t=frame.t, dir=frame.dir, b64=line, eol=frame.eol)


def _encoded(row: dict[str, Any]) -> bytes:
    try:
        return _encode_all([row])
    except UnicodeEncodeError:  # a file name that is not UTF-8, in argv or cwd
        return _encode_all([repaired(row)])


def is_passage(path: str) -> bool:
    """Whether what is at a path keeps nothing that could be lost, and is opened as it is: a device or a pipe, such as
    /dev/null and /dev/stdout."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _opened(path: str, flags: int) -> int:
    """A file of its own: whoever had the one before open, or a link of his at that place, sees nothing of it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.fchmod(file, 0o600)
    return file


def _passing(path: str, flags: int) -> int:
    """Not blocking: a pipe that nobody reads is an error, no wait."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(file, True)
    return file


# --- reading ---------------------------------------------------------------------------------------------


class Recording(Struct):
    """A run as it was recorded."""

    frames: list[Frame]
    launch: Launch | None = None
    """None in the frames.jsonl of a capture, which has no header."""
    exit: Exit | None = None
    cut: bool = False
    """It ends without saying how the run ended, or in the middle of a row."""


def read_recording(source: str | os.PathLike[str] | BinaryIO) -> Recording:
    """The whole recording. To read one row at a time, use `rows`."""
    recording = Recording([])
    name = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", "recording")
    try:
        with open(source, "rb") if isinstance(source, (str, os.PathLike)) else nullcontext(source) as file:
            for row in rows(file, str(name)):
                if isinstance(row, Frame):
                    recording.frames.append(row)
                elif isinstance(row, Exit):
                    recording.exit = row
                else:
                    recording.launch = row
    except OSError as error:
        raise RecordingError(f"cannot read the recording {name}: {error.strerror or error}") from error
    recording.cut = recording.exit is None
    return recording


def rows(lines: Iterable[bytes], name: str = "recording") -> Iterator[Launch | Frame | Exit]:
    """The rows of a recording as they come. A damaged end is where it was cut; damage before whole rows is an
    error, since nobody could say what is missing there."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        row = read_row(line)
        if row is not None:
            yield meaning(row, line, number, name)
        elif line.strip() and any(read_row(later) for _, later in numbered):
            raise RecordingError(f"line {number} of {name} is damaged: it is no row of a recording")


def meaning(row: Row, line: bytes, number: int, name: str) -> Launch | Frame | Exit:
    """What a row says, which is on line `number`. Raises RecordingError for a header that cannot be read."""
    if row.exit is not None:
        return row.exit
    if row.dir is not None:
        content = row.b64 if row.b64 is not None else (row.line or "").encode()
        return Frame(row.n if row.n is not None else number, row.dir, content, row.t, row.eol)
    if row.dragoman != FORMAT:
        raise RecordingError(f"{name} is {row.dragoman}; this version reads {FORMAT}")
    try:
        return _launch.decode(line)
    except msgspec.MsgspecError as error:
        raise RecordingError(f"the header of {name} cannot be read: {error}") from error
