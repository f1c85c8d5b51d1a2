"""What the library has of sessions, as the page takes it. All of it is read in threads, each with a library of its own."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dragoman._agents import AGENTS
from dragoman._library import exporting, sessions, tellings
from dragoman._library import usage as usages
from dragoman._library.library import Library
from dragoman._library.searching import Hit as StoredHit
from dragoman._library.sessions import Filter, StoredSession
from dragoman._library.snippets import Snippet
from dragoman._library.tellings import Telling
from dragoman._library.usage import By, Sums, UsageReport
from dragoman._model.errors import SessionNotFound, UsageError
from dragoman._model.events import Event
from dragoman._reports.changes import FileChange, changes
from dragoman._reports.deed_entries import DeedsSummary
from dragoman._reports.deeds import Deeds
from dragoman._reports.diffs import counted, diff_of, diff_rows
from dragoman._server import page_events, windows
from dragoman._server.answers import (
    About,
    Diff,
    FileDiff,
    Found,
    FoundIn,
    Hit,
    Piece,
    Row,
    RunInfo,
    Sessions,
    WholeEvent,
    Window,
)
from dragoman._settings import own_prices

TITLE: Final = 200
"""Characters of a title."""
CHILDREN: Final = 200
EACH: Final = 3
"""Hits of one session, so that others are seen too."""
_RUN: Final = re.compile(r"u(\d{1,15})", re.ASCII)


# --- sessions ------------------------------------------------------------------------------------------------


def rows(
    library: Library,
    text: str | None = None,
    agent: str | None = None,
    folder: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> Sessions:
    """Sessions, newest first, those that are pinned before them."""
    wanted = _filter(agent, folder, text=text or None)
    found = library.sessions(wanted, offset + limit)[offset:]
    return Sessions(_rows(library, found), sessions.counted(library.db, wanted))


def row(library: Library, session: StoredSession) -> Row:
    """A session in a list."""
    return _rows(library, [session])[0]


def about(library: Library, id: str) -> About:
    """All that is known of a session. Raises SessionNotFound."""
    session = library.session(id)
    children = tellings.children(library.db, session, CHILDREN)
    above = sessions.some(library.db, [session.parent] if session.parent is not None else [])
    record = AGENTS.get(session.agent)
    return About(
        session=row(library, session),
        runs=[_run(each) for each in tellings.tellings(library.db, session)],
        capabilities=sorted(record.capabilities) if record is not None else [],
        model=session.model,
        children=_rows(library, children),
        parent=next(iter(_rows(library, list(above.values()))), None),
        resume=_resume(session),
    )


def _rows(library: Library, found: list[StoredSession]) -> list[Row]:
    sums = usages.of_sessions(library.db, [session.id for session in found], own_prices.load().prices)
    return [_row(session, sums[session.id]) for session in found]


def _row(session: StoredSession, sums: Sums) -> Row:
    same = {name: getattr(session, name) for name in _SAME}
    return Row(
        **same,
        title=_title(session),
        tokens=sums.input_tokens + sums.output_tokens,
        cost_usd=sums.cost_usd,
        cost_estimated_usd=sums.cost_estimated_usd,
        unpriced_calls=sums.unpriced_calls,
    )


_SAME: Final = tuple(
    name for name in Row.__struct_fields__ if name in StoredSession.__struct_fields__ and name != "title"
)
"""What is called the same in a row and in the library."""


def _title(session: StoredSession) -> str:
    return " ".join((session.name or session.title or session.prompt or "").split())[:TITLE]


def _resume(session: StoredSession) -> str | None:
    """The command that goes on with it. One that its agent gave no id is called by words here."""
    if " " in session.native_id or session.relation == "subagent":
        return None
    return shlex.join(("dragoman", "run", session.agent, "--resume", session.native_id))


def _run(telling: Telling) -> RunInfo:
    return RunInfo(
        run=f"u{telling.unit}",
        kind="recording" if telling.is_recording else "history",
        dialect=telling.dialect,
        events=telling.events,
        shown=telling.shown,
        created=telling.created,
    )


# --- what was said and done in one ---------------------------------------------------------------------------


def window(
    library: Library,
    run: str,
    before: int | None = None,
    after: int | None = None,
    limit: int = 300,
    deltas: bool = False,
) -> Window:
    """Some events of a run that follow each other (see `windows`). Only the blocks that they are in are opened. Raises
    SessionNotFound."""
    unit, total = _unit(library, run)

    def read(first: int, last: int) -> list[Event]:
        return list(sessions.events(library.db, unit, first, last))

    return windows.window(run, total, read, before=before, after=after, limit=limit, deltas=deltas)


def told(library: Library, session: StoredSession) -> Iterator[tuple[str, Event]]:
    """All events of the transcript of a session, each with its run."""
    for each in _shown(library, session):
        for event in sessions.events(library.db, each.unit):
            yield f"u{each.unit}", event


def deeds(library: Library, id: str) -> DeedsSummary:
    """What a session did. Raises SessionNotFound."""
    found = Deeds(own_prices.load().prices)
    for run, event in told(library, library.session(id)):
        found.see(event, run)
    return found.summary()


def diff(library: Library, id: str) -> Diff:
    """What a session did to files. Raises SessionNotFound."""
    return diff_of_changes(changed(library, library.session(id)))


def changed(library: Library, session: StoredSession) -> Iterator[Event]:
    """The changes to files that the transcript of a session tells of."""
    for each in _shown(library, session):
        yield from tellings.changes(library.db, each.unit)


def diff_of_changes(events: Iterable[Event]) -> Diff:
    """What events changed, file by file."""
    return Diff([_file_diff(file) for file in changes(events) if file.change != "none"])


def whole_event(library: Library, run: str, seq: int) -> WholeEvent:
    """An event with the line that it was read from. Raises SessionNotFound."""
    unit, total = _unit(library, run)
    event = next(sessions.events(library.db, unit, seq, seq), None) if seq <= total else None
    if event is None:
        raise SessionNotFound(f"run {run} has no event {seq}; it has {total}")
    frame = tellings.frame(library.db, unit, event.frame) if event.frame is not None else None
    return WholeEvent(
        event=page_events.whole_event(event),
        line=frame.line.decode("utf-8", "replace") if frame is not None else None,
        direction=frame.dir if frame is not None else None,
    )


def export(library: Library, id: str, format: str) -> Iterator[bytes]:
    """A session as one file, without secrets, in pieces. Raises SessionNotFound, and UsageError for a format that there is not."""
    write = exporting.FORMATS.get(format)
    if write is None:
        raise UsageError(f"there is no format {format!r:.40}; there are {', '.join(exporting.FORMATS)}")
    session = library.session(id)
    pieces = write(exporting.about(session), exporting.events_of(library, session, redact=True), True)
    return (piece.encode("utf-8", "replace") for piece in pieces)


def _shown(library: Library, session: StoredSession) -> list[Telling]:
    return [each for each in tellings.tellings(library.db, session) if each.shown]


def _unit(library: Library, run: str) -> tuple[int, int]:
    """The unit that a run is, and the number of its last event. Raises SessionNotFound."""
    named = _RUN.fullmatch(run)
    unit = int(named[1]) if named is not None else 0
    total = tellings.size(library.db, unit)
    if total is None:
        raise SessionNotFound(f"the library has no run {run!r:.40}; read the session anew")
    return unit, total


def _file_diff(file: FileChange) -> FileDiff:
    diffs = [diff for step in file.steps if (diff := diff_of(step))]
    added, removed = counted([row for diff in diffs for row in diff_rows(diff)])
    return FileDiff(file.path, file.change, added, removed, diffs, moved_from=file.moved_from)


# --- in all of them ------------------------------------------------------------------------------------------


def search(
    library: Library,
    text: str,
    agent: str | None = None,
    folder: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    path: str | None = None,
    session: str | None = None,
    limit: int = 20,
    after: str | None = None,
) -> Found:
    """Where something was said: in one session all places, else some of each. Raises UsageError for what cannot be looked for,
    and SessionNotFound."""
    one = library.session(session).id if session is not None else None
    answer = library.search(
        text,
        roles=(role,) if role else (),
        tools=(tool,) if tool else (),
        path=path,
        session=one,
        among=_filter(agent, folder, subagents=True),
        limit=limit,
        each=EACH if one is None else None,
        after=after,
    )
    if answer.problem is not None and not answer.hits:
        raise UsageError(answer.problem)
    return Found([_hit(hit, answer.sessions[hit.session]) for hit in answer.hits], answer.more)


def usage(
    library: Library,
    by: By = "day",
    since: float | None = None,
    until: float | None = None,
    agent: str | None = None,
    folder: str | None = None,
) -> UsageReport:
    """What model calls took and cost."""
    wanted = _filter(agent, folder, since=since, until=until)
    return usages.usage(library.db, wanted, by, own_prices.load().prices)


def _filter(agent: str | None, folder: str | None, **rest: Any) -> Filter:
    return Filter(
        agents=(agent,) if agent else (),
        folder=os.path.abspath(os.path.expanduser(folder)) if folder else None,
        **rest,
    )


def _hit(hit: StoredHit, session: StoredSession) -> Hit:
    return Hit(
        session=FoundIn(session.id, session.agent, _title(session)),
        run=f"u{hit.unit}",
        seq=hit.seq,
        turn=hit.turn,
        role=hit.role,
        snippet=list(_pieces(hit.snippet)),
        tool=hit.tool,
        path=hit.path,
        at=hit.at,
    )


def _pieces(line: Snippet) -> Iterator[Piece]:
    end = 0
    for first, last in line.marks:
        if line.text[end:first]:
            yield Piece(line.text[end:first], match=False)
        yield Piece(line.text[first:last], match=True)
        end = last
    if line.text[end:]:
        yield Piece(line.text[end:], match=False)
