"""Restoring: the files of a session as they were archived, written back."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman._library.archive import KEPT
from dragoman._library.database import Database
from dragoman._library.sessions import StoredFile
from dragoman._model.errors import UsageError


def restore(
    db: Database, files: Sequence[StoredFile], folder: Path | None, overwrite: bool = False
) -> list[Path]:
    """Where the files are now. Nothing is written if one of them may not be."""
    if folder is None and any(file.state == KEPT for file in files):
        raise UsageError(
            "no file of its agent is in the library, only what was recorded; name a folder for that"
        )
    places = dict(zip(_places(files, folder), files, strict=True))
    todo = {path: file for path, file in places.items() if not _is_same(db, path, file)}
    for path in todo:
        if path.exists() and not overwrite:
            raise UsageError(
                f"{path} is there, and is not what the library has; name a folder, or say that it is to be overwritten"
            )
    for path, file in todo.items():
        try:
            _write(db, path, file)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror or error}; name another folder"
            ) from error
    return list(places)


def _places(files: Sequence[StoredFile], folder: Path | None) -> Iterator[Path]:
    """Where each goes: to its old place, or below the folder as they stood to each other."""
    paths = [Path(file.path) for file in files]
    if folder is None or not paths:
        yield from paths
        return
    above = os.path.commonpath([path.parent for path in paths])
    yield from (folder / path.relative_to(above) for path in paths)


def _is_same(db: Database, path: Path, file: StoredFile) -> bool:
    try:
        with path.open("rb") as there:
            return all(there.read(len(piece)) == piece for piece in file.content(db)) and not there.read(1)
    except OSError:
        return False


def _write(db: Database, path: Path, file: StoredFile) -> None:
    """Whole or not at all, and for the owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            for piece in file.content(db):
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
