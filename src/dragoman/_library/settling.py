"""What several units tell of one thing, put together anew: sessions of their parts, model calls of their sightings. In
whatever order units came, the same rows come of it."""

from typing import Any, Final, NamedTuple

from dragoman._library.calls import TURN, Sighting
from dragoman._library.database import Database, Row, batches, insert, places, rows_in
from dragoman._library.digest import Part
from dragoman._library.sharing import share

_SUMMED: Final = ("turns", "tools", "messages", "files", "added", "removed", "errors")
PART: Final = Part.__struct_fields__
"""The columns of a part, without its unit."""
CALL: Final = Sighting.__struct_fields__[Sighting.__struct_fields__.index("model") :]
"""The columns that a sighting and a call have in common."""


def settle(db: Database, sessions: set[str], keys: set[str]) -> None:
    """Put these sessions and the calls with these keys together anew."""
    _settle_sessions(db, sessions)
    owners = _settle_calls(db, keys | _turn_keys(db, sessions))
    share(db, sessions | owners)
    _link(db, sessions | owners)


# --- sessions ------------------------------------------------------------------------------------------------


def _settle_sessions(db: Database, sessions: set[str]) -> None:
    columns = ", ".join(f"p.{name}" for name in PART)
    for some in batches(sessions):
        found: dict[str, list[dict[str, Any]]] = {}
        for row in db.rows(
            f"SELECT p.unit, f.state, f.path, {columns} FROM part p JOIN file f ON f.id = p.unit"
            f" WHERE p.session IN ({places(some)})",
            some,
        ):
            part = dict(zip(("unit", "state", "path", *PART), row, strict=True))
            found.setdefault(part["session"], []).append(part)
        db.run(f"DELETE FROM session WHERE id IN ({places(some)})", some)
        shown = []
        for session, parts in found.items():
            units, whole = _together(parts)
            shown += [(1 if part["unit"] in units else 0, part["unit"], session) for part in parts]
            insert(db, "session", tuple(whole), [tuple(whole.values())])
        db.run_many("UPDATE part SET shown = ? WHERE unit = ? AND session = ?", shown)


def _together(parts: list[dict[str, Any]]) -> tuple[set[int], dict[str, Any]]:
    """A session of all that is told of it: the units that are shown, and its row. What its agent keeps is the whole of it,
    and recordings are its runs; of several files that say the same the fullest counts."""

    def fullest(part: dict[str, Any]) -> tuple[Any, ...]:
        return (part["turns"], part["messages"], part["updated"] or 0, part["path"])

    kept = sorted((part for part in parts if part["kind"] == "disk"), key=fullest, reverse=True)
    runs = sorted(
        (part for part in parts if part["kind"] != "disk"), key=lambda p: (p["created"] or 0, p["path"])
    )
    shown = kept[:1] or runs
    main = shown[-1]
    row: dict[str, Any] = {"id": main["session"], "main": main["unit"]}
    row |= {name: main[name] for name in PART if name != "session"}
    del row["kind"]
    for name in ("cwd", "title", "model", "cli_version", "parent", "relation"):
        row[name] = next((part[name] for part in (*shown[::-1], *kept, *runs) if part[name]), None)
    row["prompt"] = next((part["prompt"] for part in (*shown, *runs) if part["prompt"]), None)
    row |= {name: sum(part[name] for part in shown) for name in _SUMMED}
    row["created"] = min((part["created"] for part in parts if part["created"] is not None), default=None)
    row["updated"] = max((part["updated"] for part in parts if part["updated"] is not None), default=None)
    costs = [part["cost"] for part in shown if part["cost"] is not None]
    row["cost"] = sum(costs) if costs else None
    row["gone"] = int(all(part["state"] == "gone" for part in shown))
    return {part["unit"] for part in shown}, row


def _link(db: Database, sessions: set[str]) -> None:
    """Sessions whose files do not say what they are forks of: of the one that the last call belongs to which they copied
    (Claude -p writes no forkedFrom)."""
    found: dict[str, tuple[float, str]] = {}
    for session, at, owner in rows_in(
        db,
        "SELECT s.session, c.at, c.session FROM sighting s JOIN model_call c ON c.key = s.key"
        " WHERE s.inherited = 1 AND c.session <> s.session AND NOT EXISTS"
        " (SELECT 1 FROM part p WHERE p.session = s.session AND p.parent IS NOT NULL) AND s.session IN",
        sessions,
    ):
        found[session] = max(found.get(session, (0.0, "")), (at or 0.0, owner))
    db.run_many(
        "UPDATE session SET parent = ?, relation = 'fork' WHERE id = ?",
        [(owner, session) for session, (_, owner) in sorted(found.items())],
    )


# --- calls ---------------------------------------------------------------------------------------------------


def _settle_calls(db: Database, keys: set[str]) -> set[str]:
    """The sessions that tell of these calls."""
    sessions = set[str]()
    columns = ", ".join(f"s.{name}" for name in CALL)
    for some in batches(keys):
        found: dict[str, list[Seen]] = {}
        for row in db.rows(
            "SELECT s.key, s.request, s.session, s.inherited, s.at, f.modified, p.agent, p.cwd, s.turn,"
            f" {columns} FROM sighting s JOIN file f ON f.id = s.unit JOIN part p ON p.unit = s.unit AND"
            f" p.session = s.session WHERE s.key IN ({places(some)})",
            some,
        ):
            found.setdefault(row[0], []).append(Seen._make((*row[:9], row[9:])))
            sessions.add(row[2])
        told = _told_by_calls(db, {seen.session for all in found.values() for seen in all if seen.is_turn})
        db.run(f"DELETE FROM model_call WHERE key IN ({places(some)})", some)
        insert(
            db,
            "model_call",
            ("key", "request", "session", "agent", "project", "turn", "at", *CALL),
            (
                _owned(request, seen)
                for all in found.values()
                for request, seen in _requests(
                    [one for one in all if not (one.is_turn and one.session in told)]
                )
            ),
        )
    return sessions


def _told_by_calls(db: Database, sessions: set[str]) -> set[str]:
    """Those of which some unit tells the calls: what turns say of them counts no more."""
    sql = "SELECT DISTINCT session FROM sighting WHERE flags <> ? AND session IN"
    return {session for (session,) in rows_in(db, sql, sessions, [TURN])}


def _turn_keys(db: Database, sessions: set[str]) -> set[str]:
    """What turns of these sessions say: it counts or not by what else is told of them."""
    sql = "SELECT key FROM sighting WHERE flags = ? AND session IN"
    return {key for (key,) in rows_in(db, sql, sessions, [TURN])}


class Seen(NamedTuple):
    """A sighting, as calls are put together of them."""

    key: str
    request: str | None
    session: str
    inherited: int
    at: float | None
    modified: int
    """When its file last changed."""
    agent: str
    project: str | None
    turn: int
    counts: Row
    """The columns of CALL."""

    @property
    def is_turn(self) -> bool:
        return bool(self.counts[CALL.index("flags")] == TURN)


def _requests(seen: list[Seen]) -> list[tuple[str, list[Seen]]]:
    """The calls that have one key: one, unless they say that they were several requests. What does not say it is the one of
    its own session, else of them all."""
    if len(seen) == 1:  # mostly
        return [(seen[0].request or "", seen)]
    named = {one.session: one.request for one in seen if one.request is not None}
    calls: dict[str, list[Seen]] = {}
    for one in seen:
        request = one.request or named.get(one.session) or min(named.values(), default="")
        calls.setdefault(request, []).append(one)
    return list(calls.items())


def _owned(request: str, seen: list[Seen]) -> Row:
    """A call that several units tell of: it belongs to the one that had it first, with the numbers that are greatest, and
    with a cost if any of them knows it."""
    if len(seen) == 1:
        [one] = seen
        return (one.key, request, one.session, one.agent, one.project, one.turn, one.at, *one.counts)
    late = float("inf")
    first = min(seen, key=lambda o: (o.inherited, o.at if o.at is not None else late, o.modified, o.session))
    best = max(seen, key=lambda o: (o.counts[_OUTPUT] or 0, o.counts[_COST] is not None, o is first)).counts
    filled = [
        next((one.counts[n] for one in (first, *seen) if one.counts[n] is not None), None)
        if value is None
        else value
        for n, value in enumerate(best)
    ]
    return (first.key, request, first.session, first.agent, first.project, first.turn, first.at, *filled)


_OUTPUT, _COST = CALL.index("output"), CALL.index("cost")
