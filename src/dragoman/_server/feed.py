"""The one stream of a tab: the state of all live runs, and every event of those that it watches, in the framing of server-sent
events.

Nothing is queued for a tab. It says how far it has read each run, and is given what comes after that, when it can take
it: so one that is slow, that slept or was cut off gets each event once, and holds up nobody.
"""

from collections.abc import AsyncIterator, Iterator
from time import monotonic
from typing import Final

import anyio
import msgspec

from dragoman._server.answers import Answer, Asked, Board, Ended, Said, Stopped, UnknownRun
from dragoman._server.asks import asks
from dragoman._server.hub import SOON, Hub
from dragoman._server.live import LiveRun
from dragoman._server.page_events import page_event

AT_ONCE: Final = 200
"""Events of a run in one message."""
PAUSE: Final = 0.03
"""Seconds between two looks: what happens meanwhile goes together."""
BOARD_PAUSE: Final = 0.25
"""Seconds between two messages about the state of runs."""
SILENCE: Final = 15.0
"""Seconds after which something is said, so that a connection that is gone is noticed."""
MOST_WATCHED: Final = 50

MESSAGES: Final[dict[str, type[Answer]]] = {
    "board": Board,
    "events": Said,
    "asks": Asked,
    "ended": Ended,
    "unknown": UnknownRun,
    "stopped": Stopped,
}
"""What is said in the feed, by name."""
_NAMES: Final = {kind: name for name, kind in MESSAGES.items()}


def cursor_of(text: str) -> dict[str, int]:
    """Where a tab stands, run by run, as it said in Last-Event-ID; what is no place is left out."""
    found: dict[str, int] = {}
    for part in text.split(",")[:MOST_WATCHED]:
        run, _, number = part.strip().partition(":")
        if run and number.isdecimal() and len(number) < 16:
            found[run] = int(number)
    return found


class Feed:
    """What a tab is told. `places` says up to where it has read each run that it watches."""

    def __init__(self, hub: Hub, places: dict[str, int]) -> None:
        self._hub = hub
        self._places = places
        self._began = monotonic()
        self._ended: set[str] = set()
        """Runs of which the tab knows that they are over."""
        self._asks: dict[str, bytes] = {}
        self._rows: dict[str, bytes] | None = None
        """What the tab was told of each live run; None before it was told anything."""
        self._stored = -1
        self._stands = -1
        """How all of them stood then, and how the library did."""
        self._versions: dict[str, int] = {}
        """How each run stood when it was last looked at."""
        self._board_told = 0.0

    async def messages(self) -> AsyncIterator[bytes]:
        """Without end, until the server stops; then what was said last."""
        hub = self._hub
        hub.watchers += 1
        try:
            while True:
                last, said = hub.stopped, False
                for message in self._messages(all=last):
                    said = True
                    yield message
                if last and not said:
                    yield _message(Stopped())
                    return
                if not said:
                    due = self._has_to_look_again()
                    with anyio.move_on_after(BOARD_PAUSE if due else SILENCE) as scope:
                        await hub.bell.wait()
                    if scope.cancelled_caught and not due:
                        yield b": still here\n\n"
                await anyio.sleep(PAUSE)
        finally:
            hub.watchers -= 1
            hub.bell.ring()

    def _has_to_look_again(self) -> bool:
        """Whether there will be something to say, also if nothing happens."""
        return monotonic() - self._board_told < BOARD_PAUSE or any(
            run not in self._hub.runs for run in self._places
        )

    def _messages(self, *, all: bool) -> Iterator[bytes]:
        for run in list(self._places):
            yield from self._of_run(run)
        if all or self._rows is None or monotonic() - self._board_told >= BOARD_PAUSE:
            yield from self._of_board()

    # --- a run that is watched ----------------------------------------------------------------------------

    def _of_run(self, id: str) -> Iterator[bytes]:
        run = self._hub.runs.get(id)
        if run is None:
            if monotonic() - self._began < SOON:
                return
            del self._places[id]
            yield _message(UnknownRun(run=id))
            return
        if self._versions.get(id) == run.version:
            return
        version, at = run.version, self._places[id]
        if at < len(run.log):
            last = min(at + AT_ONCE, len(run.log))
            events = [page_event(event) for event in run.log.read(at + 1, last)]
            self._places[id] = last
            yield _message(Said(run=id, events=events), self._cursor())
            if last < len(run.log):
                return  # there is more, and others have their turn first
        yield from self._of_asks(run)
        if run.taken_as is not None and id not in self._ended:
            self._ended.add(id)
            yield _message(Ended(run=id, session=run.taken_as))
        self._versions[id] = version

    def _of_asks(self, run: LiveRun) -> Iterator[bytes]:
        asked = Asked(run=run.id, asks=asks(run))
        message = _message(asked)
        if self._asks.get(run.id) != message:
            self._asks[run.id] = message
            yield message

    def _cursor(self) -> str:
        return ",".join(f"{run}:{at}" for run, at in self._places.items())

    # --- all that are live --------------------------------------------------------------------------------

    def _of_board(self) -> Iterator[bytes]:
        """What has changed since the tab was last told."""
        told = self._rows
        if told is not None and self._hub.version == self._stands:
            return
        self._stands, self._board_told = self._hub.version, monotonic()
        rows = {run.id: run.row() for run in self._hub.runs.values()}
        now = {id: msgspec.json.encode(row) for id, row in rows.items()}
        board = Board(
            all=told is None,
            rows=[rows[id] for id, data in now.items() if told is None or told.get(id) != data],
            gone=[id for id in told or () if id not in now],
            stored=self._hub.stored,
        )
        self._rows = now
        if board.all or board.rows or board.gone or board.stored != self._stored:
            self._stored = board.stored
            yield _message(board)


def _message(data: Answer, id: str | None = None) -> bytes:
    """A message in the framing of server-sent events. JSON has no line breaks of its own."""
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: {_NAMES[type(data)]}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"
