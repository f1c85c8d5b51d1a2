"""The tables. What is primary is never touched by a rebuild; what is derived is read from the archive by the same
machines, and can be thrown away."""

from hashlib import blake2b
from typing import Final, NamedTuple

SCHEMA: Final = 1
"""Of the primary tables. A library of a newer one is refused."""
DATA: Final = 4
"""Of what is derived. It goes up when machines, digest or tokens give other rows for the same bytes: the library is then
rebuilt."""


class Table(NamedTuple):
    """A table of both databases: `{id}` a number that the database gives, `{big}` `{real}` `{blob}` their types."""

    name: str
    columns: str
    indexes: tuple[str, ...] = ()


_SESSION: Final = (
    "agent TEXT NOT NULL, native_id TEXT NOT NULL, cwd TEXT, title TEXT, prompt TEXT, model TEXT, cli_version TEXT,"
    " created {real}, updated {real}, outcome TEXT, turns {big} NOT NULL, tools {big} NOT NULL,"
    " messages {big} NOT NULL, files {big} NOT NULL, added {big} NOT NULL, removed {big} NOT NULL,"
    " errors {big} NOT NULL, cost {real}, parent TEXT, relation TEXT, flags TEXT NOT NULL"
)
"""What a unit tells of a session, and what all of them tell."""
_CALL: Final = (
    "model TEXT, tier TEXT, input {big}, cache_read {big}, cache_write {big}, cache_write_1h {big}, output {big},"
    " reasoning {big}, cost {real}, flags TEXT NOT NULL"
)
"""What a unit tells of a model call, and what all of them tell."""

PRIMARY: Final = (
    Table("setting", "name TEXT PRIMARY KEY, value TEXT NOT NULL"),
    Table(
        "file",
        # machine, path: where it is or was. unit: the file that it is read together with, itself if it is the first of
        # them. identity, size, modified: what was there when it was last read. generation: how often it was begun anew.
        # state: here | gone | unreadable; kept: a recording of ours that is only in the library now; forgotten: nothing is
        # kept of it, its path is a mark that only who knows it can find, its identity the session; left out: nobody wanted
        # it read.
        "id {id}, machine TEXT NOT NULL, path TEXT NOT NULL, agent TEXT NOT NULL, dialect TEXT NOT NULL, unit {big},"
        " identity TEXT, size {big} NOT NULL, modified {big} NOT NULL, generation {big} NOT NULL, state TEXT NOT NULL,"
        " problem TEXT, first_seen {real} NOT NULL, UNIQUE (machine, path)",
        ("unit",),
    ),
    Table(
        "chunk",
        "file {big} NOT NULL, generation {big} NOT NULL, start {big} NOT NULL, length {big} NOT NULL,"
        " data {blob} NOT NULL, PRIMARY KEY (file, generation, start)",
    ),
    # chosen: the session that a person named, itself or the one that it worked for.
    Table("forgotten", "session TEXT PRIMARY KEY, chosen TEXT NOT NULL, at {real} NOT NULL"),
    # Units that tell of it and of others, and are kept for these.
    Table("forgotten_unit", "session TEXT NOT NULL, unit {big} NOT NULL, PRIMARY KEY (session, unit)"),
    Table("label", "session TEXT PRIMARY KEY, name TEXT, pinned {big} NOT NULL"),
    Table("left_out", "folder TEXT PRIMARY KEY"),
)

DERIVED: Final = (
    Table(
        "unit",
        # One for each run or history that is read by itself: a session file with those of its subagents, a recording.
        # first_said, last_said: the least and the greatest number of its rows of `said`.
        "id {big} PRIMARY KEY, agent TEXT NOT NULL, dialect TEXT NOT NULL, kind TEXT NOT NULL, session TEXT,"
        " events {big} NOT NULL, bytes {big} NOT NULL, problem TEXT, first_said {big}, last_said {big}",
        ("session",),
    ),
    Table(
        "part",
        # What a unit tells of a session: mostly one. Sessions are put together of these; `shown`: its texts, tools and
        # changes are the session's, and not a second telling of them.
        "unit {big} NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, shown {big} NOT NULL,"
        f" {_SESSION}, PRIMARY KEY (unit, session)",
        ("session",),
    ),
    Table(
        "session",
        # `main`: the unit that tells most of it.
        f"id TEXT PRIMARY KEY, main {{big}} NOT NULL, gone {{big}} NOT NULL, {_SESSION}",
        ("updated", "parent", "cwd", "native_id"),
    ),
    Table(
        "turn",
        "unit {big} NOT NULL, session TEXT NOT NULL, n {big} NOT NULL, seq {big} NOT NULL, at {real}, prompt TEXT,"
        " outcome TEXT, duration_ms {real}, ended {real}, cost {real}, PRIMARY KEY (unit, n)",
        ("session",),
    ),
    Table(
        "said",
        # All text that can be found: what was said, what tools were given and gave back. `role`: user assistant thinking
        # system input output. A long text is in several pieces.
        "id {id}, unit {big} NOT NULL, seq {big} NOT NULL, piece {big} NOT NULL, session TEXT NOT NULL,"
        " turn {big} NOT NULL, at {real}, role TEXT NOT NULL, tool TEXT, path TEXT, body TEXT NOT NULL{tokens}",
        ("unit",),
    ),
    Table(
        "tool_call",
        "unit {big} NOT NULL, seq {big} NOT NULL, session TEXT NOT NULL, turn {big} NOT NULL, at {real},"
        " call_id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, title TEXT, parent TEXT, status TEXT,"
        " exit_code {big}, duration_ms {real}, end_seq {big}, PRIMARY KEY (unit, seq)",
        ("session",),
    ),
    Table(
        "file_change",
        "unit {big} NOT NULL, seq {big} NOT NULL, session TEXT NOT NULL, turn {big} NOT NULL, at {real},"
        " path TEXT NOT NULL, change TEXT NOT NULL, move_to TEXT, added {big} NOT NULL, removed {big} NOT NULL,"
        " call_id TEXT, PRIMARY KEY (unit, seq)",
        ("session", "path"),
    ),
    Table(
        "permission",
        "unit {big} NOT NULL, seq {big} NOT NULL, session TEXT NOT NULL, turn {big} NOT NULL, at {real},"
        " call_id TEXT, tool TEXT, kind TEXT, title TEXT, outcome TEXT, decided_by TEXT, rule TEXT,"
        " PRIMARY KEY (unit, seq)",
        ("session",),
    ),
    Table(
        "sighting",
        # A model call, as a unit tells of it. The same call may stand in several.
        "key TEXT NOT NULL, unit {big} NOT NULL, request TEXT, session TEXT NOT NULL, inherited {big} NOT NULL,"
        f" turn {{big}} NOT NULL, at {{real}}, {_CALL}, PRIMARY KEY (key, unit, session)",
        ("unit", "session"),
    ),
    Table(
        "model_call",
        # The whole of usage: one row a call, owned by the session that had it first. cost: what its agent says of it;
        # share: its part of what the agent says of the turn.
        "key TEXT NOT NULL, request TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, project TEXT,"
        f" turn {{big}} NOT NULL, at {{real}}, {_CALL}, share {{real}}, PRIMARY KEY (key, request)",
        ("session", "at"),
    ),
    Table(
        "block",
        # The events of a unit as JSON lines, compressed, so that any window of them is quickly at hand.
        "unit {big} NOT NULL, first {big} NOT NULL, last {big} NOT NULL, first_turn {big} NOT NULL, digest {blob} NOT NULL,"
        " data {blob} NOT NULL, PRIMARY KEY (unit, first)",
    ),
    Table("word", "token TEXT PRIMARY KEY"),
)

TABLES: Final = (*PRIMARY, *DERIVED)

DERIVED_MARK: Final = f"{DATA} {blake2b(repr(DERIVED).encode(), digest_size=8).hexdigest()}"
"""What is derived, and into which columns. Where a library has another, it is rebuilt."""
