"""Runs are kept: recorded as they happen, where others can watch them (`dragoman web`), and in the library when they are
over. Nothing that goes wrong with that stops a run, or changes how it ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs

from dragoman._cli.terminal import telling
from dragoman._model.config import SessionConfig


@contextmanager
def kept(config: SessionConfig, wanted: bool, *, quiet: bool) -> Iterator[SessionConfig]:
    """The configuration of a run that is recorded, if that is `wanted`; the library has it when the run is over, however
    that ended, and says under which id unless it shall be `quiet`."""
    path = _path(config) if wanted else None
    if path is None:
        yield _shared(config)
        return
    try:
        yield _shared(structs.replace(config, record=str(path)))
    finally:
        if path.exists():  # it may never have begun
            _take(path, quiet)


def _shared(config: SessionConfig) -> SessionConfig:
    """What is recorded in a file can be watched."""
    from dragoman._files.recording import is_passage

    return structs.replace(config, share=config.record is not None and not is_passage(config.record))


def _path(config: SessionConfig) -> Path | None:
    """Where the run is recorded: in the file that was named, else in one of our own."""
    from dragoman._library.opening import recording_path

    if config.record is not None:
        return Path(config.record)
    try:
        return recording_path(config.agent)
    except OSError as error:
        telling.tell(
            f"this run is not kept: {error.filename}: {error.strerror}; --no-record if it need not be"
        )
        return None


def _take(path: Path, quiet: bool) -> None:
    from dragoman._library.library import Library
    from dragoman._library.sessions import SHORT

    try:
        with Library() as library:
            sessions = library.take(path)
    except Exception as error:  # the recording is there, and the next sync will try again
        why = " ".join(str(getattr(error, "message", None) or error).split())
        telling.tell(f"the run is recorded in {path}, and not in the library: {why}")
        return
    if sessions and not quiet:
        telling.tell(f"kept as {sessions[0][:SHORT]}: dragoman show {sessions[0][:SHORT]}")
