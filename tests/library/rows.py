"""What a library has derived, in a form that can be compared: without the numbers that depend on the order of coming."""

from typing import Any

from dragoman._library.library import Library
from dragoman._library.schema import DERIVED

_NUMBERS = {("said", "id"), ("unit", "first_said"), ("unit", "last_said")}
"""Those of texts, which depend on the order of coming."""

Rows = dict[str, list[tuple[Any, ...]]]


def derived(library: Library) -> Rows:
    """All rows of all derived tables, units by their paths, and the words of the index."""
    db = library.db
    paths = dict(db.rows("SELECT id, path FROM file"))
    out: Rows = {}
    for table in DERIVED:
        names = [column.split()[0] for column in table.columns.partition(", PRIMARY KEY (")[0].split(", ")]
        rows = (
            dict(zip(names, row, strict=True))
            for row in db.rows(f"SELECT {', '.join(names)} FROM {table.name}")
        )
        numbers = ("unit", {"unit": "id", "session": "main"}.get(table.name))
        out[table.name] = sorted(
            (
                tuple(
                    paths[value]
                    if name in numbers
                    else bytes(value)
                    if isinstance(value, memoryview)
                    else value
                    for name, value in row.items()
                    if (table.name, name) not in _NUMBERS
                )
                for row in rows
            ),
            key=repr,
        )
    out["index"] = _index(library)
    return out


def totals(library: Library) -> list[tuple[Any, ...]]:
    """Sessions and model calls as they are counted."""
    got = derived(library)
    return [*got["session"], *got["model_call"]]


def _index(library: Library) -> list[tuple[Any, ...]]:
    db = library.db
    if library.address.startswith("postgresql:"):
        return sorted(db.rows("SELECT word, ndoc FROM ts_stat('SELECT tokens FROM said')"))
    db.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'said_index', 'row')")
    return sorted(db.rows("SELECT term, doc FROM vocabulary"))
