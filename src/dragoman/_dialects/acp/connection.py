"""The sessions of one connection: which line is about which, and what waits until its session is known."""

from typing import Final

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp.sessions import Agreement, Session
from dragoman._model.errors import SessionNotFound
from dragoman._wire import fields
from dragoman._wire.jsonrpc import Peer
from dragoman._wire.ledger import Ledger

OPENINGS: Final = ("session/new", "session/load", "session/resume", "session/fork")
NAMELESS: Final = ("session/new", "session/fork")
"""The answer to these names the session; the others name it themselves."""


class Connection:
    """What both sides know of each other."""

    def __init__(self, ledger: Ledger) -> None:
        self.agreement = Agreement()
        self.peer = Peer()
        self.sessions: dict[str, Session] = {}
        self.first: str | None = None
        """The session that is meant where none is named."""
        self._ledger = ledger
        self._early: list[tuple[str, m.Update]] = []
        """Updates of sessions whose names are still to come."""

    def enter(self, id: str, *, fresh: bool = False) -> Session:
        """The session that the line at hand is about."""
        session = self.sessions.get(id)
        if session is None:
            session = self.sessions[id] = Session(id, self._ledger, self.agreement, fresh=fresh)
        if self.first is None:
            self.first = id
            self._ledger.name_session(id)
        self._ledger.current = id
        return session

    def leave(self) -> None:
        """What is said next is about no session in particular."""
        self._ledger.current = self.first

    def nobody(self) -> Session:
        """In place of a session that there never was."""
        return Session("", self._ledger, self.agreement)

    def session(self, id: str | None) -> Session:
        """The session that a command is for. Raises SessionNotFound."""
        id = id or self.first
        session = self.sessions.get(id) if id is not None else None
        if session is None:
            raise SessionNotFound(
                f"no session is called {id!r}" if id is not None else "there is no session yet"
            )
        return session

    # --- updates -----------------------------------------------------------------------------------------

    def update(self, id: str | None, update: m.Update) -> None:
        """Something happened in a session. While one is about to be named, an unknown one may be that."""
        id = id or self.first
        if id is None or (id not in self.sessions and self._naming()):
            self._early.append((id or "", update))
        else:
            self._tell(id, update)

    def deliver(self, id: str | None = None) -> None:
        """Updates that came before their session was known (copilot sends its commands first): those of `id`, and
        the others if no more sessions are to come."""
        waiting, self._early = self._early, []
        for owner, update in waiting:
            owner = owner or id or self.first or ""
            if id is not None and owner != id and self._naming():
                self._early.append((owner, update))
            elif owner:
                self._tell(owner, update)

    def _tell(self, id: str, update: m.Update) -> None:
        session = self.enter(id)
        if not session.started and not self.loading(id):
            session.appear()
        session.update(update)

    def _naming(self) -> bool:
        """Whether some session is about to be named."""
        return any(call.method in NAMELESS for call in self.peer.in_flight.values())

    def loading(self, id: str) -> bool:
        """Whether this session was asked for and is not there yet."""
        return any(
            call.method in OPENINGS and fields.text(call.params, "sessionId") == id
            for call in self.peer.in_flight.values()
        )
