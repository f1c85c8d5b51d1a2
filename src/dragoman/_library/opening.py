"""Libraries by their address: a file, or `postgresql://…`."""

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from dragoman._library.database import Database
from dragoman._library.schema import DATA, DERIVED_MARK, SCHEMA
from dragoman._model.errors import UsageError
from dragoman._settings import settings


def recordings() -> Path:
    """Where runs are recorded before they are brought in."""
    return settings.data_folder() / "recordings"


def recording_path(agent: str) -> Path:
    """Where a new run of an agent is recorded; its folder is there. Raises OSError if it cannot be."""
    now = datetime.now(UTC)
    folder = recordings() / f"{now:%Y-%m}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / f"{now:%Y%m%dT%H%M%S.%f}-{agent}-{os.getpid()}.jsonl"


def address_of(given: str | None = None) -> str:
    """The library that is meant: the one that was named, else the one of the settings."""
    return given or str(settings.load()["library"])


def opened(address: str) -> Database:
    """The library at an address, made if it is not there. Raises UsageError."""
    db = _database(address)
    try:
        if not db.has("setting"):
            _make(db)
        _check(db)
    except BaseException:
        db.close()
        raise
    return db


@cache
def shared(address: str) -> Database:
    """The one of this process, for those who only read."""
    return _database(address)


def is_old(db: Database) -> bool:
    """Whether what is derived is not what this version derives."""
    return _setting(db, "derived") != DERIVED_MARK


def has_old_tables(db: Database) -> bool:
    """Whether what is derived is in other columns than this version's."""
    return (_setting(db, "derived") or "").partition(" ")[2] != DERIVED_MARK.partition(" ")[2]


def renew(db: Database) -> None:
    """What is derived is this version's now."""
    db.run("UPDATE setting SET value = ? WHERE name = 'derived'", (DERIVED_MARK,))


def _database(address: str) -> Database:
    if address.startswith(("postgresql://", "postgres://")):
        from dragoman._library.postgres import Postgres

        return Postgres(address)
    from dragoman._library.sqlite import Sqlite

    return Sqlite(address)


def _make(db: Database) -> None:
    with db.writing():
        db.create()
        db.run_many(
            "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [("schema", str(SCHEMA)), ("derived", DERIVED_MARK)],
        )


def _check(db: Database) -> None:
    schema, data = _setting(db, "schema") or "0", (_setting(db, "derived") or "0").partition(" ")[0]
    if int(schema) > SCHEMA or int(data) > DATA:
        raise UsageError(
            f"the library {db.name} was written by a newer Dragoman; use that one, or name another with --library"
        )


def _setting(db: Database, name: str) -> str | None:
    for (value,) in db.rows("SELECT value FROM setting WHERE name = ?", (name,)):
        return str(value)
    return None
