"""Sessions in which something runs, as a page sees them: what the library has of one, and the live run that goes on with it."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from dragoman._files.recording import rows
from dragoman._library import sessions
from dragoman._library.library import Library
from dragoman._model.errors import DragomanError, SessionNotFound
from dragoman._model.events import Event
from dragoman._model.frames import Frame
from dragoman._reports.deed_entries import DeedsSummary
from dragoman._reports.deeds import Deeds
from dragoman._server import stored, windows
from dragoman._server.answers import About, Diff, Named, RunInfo, Streamed, WholeEvent, Window
from dragoman._server.asks import asks
from dragoman._server.live import LiveRun
from dragoman._server.page_events import whole_event
from dragoman._settings import own_prices


class Before(NamedTuple):
    """What the library has of a live session."""

    known: About | None = None
    """None if it has nothing."""
    runs: tuple[RunInfo, ...] = ()
    """Those that were before the live one, with only so many events as that does not tell again."""


def before(library: Library, run: LiveRun) -> Before:
    """What there was before a live run."""
    try:
        known = stored.about(library, run.session)
    except SessionNotFound:
        return Before()
    found = (structs.replace(each, events=_events_before(library, each, run)) for each in known.runs)
    return Before(known, tuple(each for each in found if each.events))


def _events_before(library: Library, each: RunInfo, run: LiveRun) -> int:
    """How many events of a run are told by no live one: all, if none of its turns began after that; none, if all did."""
    unit = each.run.removeprefix("u")
    own = library.db.rows("SELECT id FROM file WHERE path = ?", (run.recording or "",))
    if (int(unit),) in own:
        return 0
    [(first, earlier)] = library.db.rows(
        "SELECT MIN(CASE WHEN at >= ? THEN seq END), COUNT(CASE WHEN at < ? THEN 1 END) FROM turn WHERE unit = ?",
        (run.started, run.started, int(unit)),
    )
    if not earlier:
        return 0
    return each.events if first is None else first - 1


def about(run: LiveRun, before: Before) -> About:
    """All that is known of a live session."""
    known = before.known
    session = (
        run.row() if known is None else structs.replace(known.session, live=run.live(), updated=run.updated)
    )
    own = RunInfo(
        run=run.id, kind="live", dialect=run.dialect, events=len(run.log), shown=True, created=run.started
    )
    return About(
        session=session,
        runs=[*before.runs, own],
        capabilities=sorted(run.capabilities),
        modes=[Named(mode.id, mode.name) for mode in run.modes],
        approve=run.approve,
        mode=run.mode,
        models=[Named(model.id, model.name) for model in run.models],
        model=run.model,
        commands=run.commands,
        asks=asks(run),
        open=list(_streamed(run)),
        next=len(run.log),
        children=known.children if known is not None else [],
        parent=known.parent if known is not None else None,
        resume=known.resume if known is not None else None,
    )


def window(run: LiveRun, before: int | None, after: int | None, limit: int, deltas: bool) -> Window:
    """Some events of a live run (see `windows`). A text that is being written is told by `About.open`."""
    read = run.log.read
    return windows.window(run.id, len(run.log), read, before=before, after=after, limit=limit, deltas=deltas)


def deeds(library: Library, run: LiveRun) -> DeedsSummary:
    """What a live session did, so far."""
    earlier = [each for each in before(library, run).runs if each.shown]
    if not earlier:
        return run.deeds.summary()
    found = Deeds(own_prices.load().prices)
    for each in earlier:
        for event in _events(library, each):
            found.see(event, each.run)
    for event in run.log.all():
        found.see(event, run.id)
    return found.summary()


def diff(library: Library, run: LiveRun) -> Diff:
    """What a live session did to files, so far."""
    earlier = (_events(library, each) for each in before(library, run).runs if each.shown)
    return stored.diff_of_changes(chain(chain.from_iterable(earlier), run.log.all()))


def _events(library: Library, each: RunInfo) -> Iterator[Event]:
    return sessions.events(library.db, int(each.run.removeprefix("u")), 1, each.events)


def whole(run: LiveRun, seq: int) -> WholeEvent | None:
    """An event with the line that said it, if that was recorded; None if there is none of this number."""
    found = run.log.read(seq, seq)
    if not found:
        return None
    frame = _recorded(run.recording, found[0].frame)
    return WholeEvent(
        event=whole_event(found[0]),
        line=frame.line.decode("utf-8", "replace") if frame is not None else None,
        direction=frame.dir if frame is not None else None,
    )


def _recorded(path: str | None, number: int | None) -> Frame | None:
    """A frame of a recording that may still be written."""
    if path is None or number is None:
        return None
    try:
        with Path(path).open("rb") as file:
            frames = (row for row in rows(file, path) if isinstance(row, Frame))
            return next((frame for frame in frames if frame.n == number), None)
    except (OSError, DragomanError):
        return None


def _streamed(run: LiveRun) -> Iterator[Streamed]:
    for key, text in run.ledger.growing() if run.ledger is not None else ():
        yield Streamed(key.kind, text, message_id=key.message_id, block=key.block, parent=key.parent)
