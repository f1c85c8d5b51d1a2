"""A library at another address, in the same database or another: what is primary is copied, the rest derived anew."""

from dragoman._library import syncing
from dragoman._library.database import Database
from dragoman._library.schema import PRIMARY
from dragoman._library.syncing import Progress
from dragoman._model.errors import UsageError

_OWN = "setting"
"""What every library says of itself."""


def copy(source: Database, target: Database, progress: Progress) -> None:
    """All of one library into another, which must be empty. It is undone if it does not come to its end."""
    with target.writing(lasting=True):
        tables = [table for table in PRIMARY if table.name != _OWN]
        if any(target.rows(f"SELECT 1 FROM {table.name} LIMIT 1") for table in tables):
            raise UsageError(
                f"there is something in the library {target.name}; name one that is empty or new"
            )
        for table in tables:
            target.fill(table, source.stream(f"SELECT * FROM {table.name}"))
        target.run("UPDATE file SET machine = ? WHERE machine = ?", (target.machine, source.machine))
        syncing.rebuild(target, progress)
