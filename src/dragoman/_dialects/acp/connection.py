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
    """The sessions of one connection, its agreement and its open requests."""

    def __init__(self, ledger: Ledger) -> None:
        self.agreement = Agreement()
        self.peer = Peer(types={m.UPDATE: m.UpdateParams})
        self.sessions: dict[str, Session] = {}
        self.first: str | None = None
        """The session that is meant where none is named."""
        self._ledger = ledger
        self._early: list[tuple[str, m.Update]] = []
        """Updates of sessions whose names are still to come."""

    def enter(self, id: str, *, fresh: bool = False) -> Session:
        """The session with this id, made if it is new; it is the ledger's current session from now on."""
        session = self.sessions.get(id)
        if session is None:
            session = self.sessions[id] = Session(id, self._ledger, self.agreement, fresh=fresh)
        if self.first is None:
            self.first = id
            self._ledger.name_session(id)
        self._ledger.current = id
        return session

    def leave(self) -> None:
        """Make the first session the ledger's current one, for lines that name none."""
        self._ledger.current = self.first

    def nobody(self) -> Session:
        """A session without an id, in place of one that was never opened."""
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

    def update(self, id: str | None, update: m.Update) -> Session | None:
        """Take in a session/update of a session that has not started, or that is not named. While the agent is about
        to name a session, updates of an unknown one are kept. Returns the session, if it is known."""
        id = id or self.first
        if id is None or (id not in self.sessions and self._naming()):
            self._early.append((id or "", update))
            return None
        return self._tell(id, update)

    def deliver(self, id: str | None = None) -> None:
        """Take in the updates that were kept because their session was unknown (copilot sends its commands
        first): those of `id`, and all others if no more sessions are to be named."""
        waiting, self._early = self._early, []
        for owner, update in waiting:
            owner = owner or id or self.first or ""
            if id is not None and owner != id and self._naming():
                self._early.append((owner, update))
            elif owner:
                self._tell(owner, update)

    def _tell(self, id: str, update: m.Update) -> Session:
        session = self.enter(id)
        if not session.started and not self.loading(id):
            session.ensure_started()
        session.update(update)
        return session

    def _naming(self) -> bool:
        """Whether some session is about to be named."""
        return any(call.method in NAMELESS for call in self.peer.in_flight.values())

    def loading(self, id: str) -> bool:
        """Whether a request is open that opens the session `id`."""
        return any(
            call.method in OPENINGS and fields.text(call.params, "sessionId") == id
            for call in self.peer.in_flight.values()
        )
