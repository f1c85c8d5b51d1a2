"""What we ask of an agent, as lines. What it cannot do is said before anything is sent."""

from typing import Any, Final

from msgspec import structs

from dragoman._dialects.acp import content, opening
from dragoman._dialects.acp.connection import OPENINGS, Connection
from dragoman._dialects.acp.opening import Opening
from dragoman._dialects.acp.requests import Requests
from dragoman._dialects.acp.sessions import Session
from dragoman._model import commands as c
from dragoman._model.capabilities import Capability
from dragoman._model.errors import Unsupported

_STORED: Final = {c.ListSessions: "list", c.DeleteSession: "delete"}
"""What is asked about sessions that need not be open, and what the agent's capabilities call it."""


class Commands:
    """Makes the lines that carry commands to the agent."""

    def __init__(self, connection: Connection, requests: Requests, agent: str) -> None:
        self._connection = connection
        self._requests = requests
        self._agent = agent or "acp"
        self.opening = Opening()
        """What every session is opened with, beside what its own command says."""

    def check(self, command: c.Command) -> None:
        """Raise Unsupported or UsageError for a command that the agent cannot carry out. Called before a
        command is held back, because its sender cannot be told later."""
        if isinstance(command, c.Prompt):
            content.prompt(command.text, command.blocks)
        elif isinstance(command, c.Compact):
            known = self._connection.session(command.session).commands
            if all(offered.name != "compact" for offered in known):
                raise self._unsupported(command.needs, "It has no /compact command")
        elif isinstance(command, c.OpenSession) and command.resume is not None:
            agreement = self._connection.agreement
            if agreement.settled and not opening.can_resume(agreement):
                raise self._unsupported(Capability.RESUME)
        elif isinstance(command, (c.ListSessions, c.DeleteSession)):
            agreement, method = self._connection.agreement, _STORED[type(command)]
            if agreement.settled and not opening.can(agreement, method):
                raise self._unsupported(command.needs, f"Its initialize does not offer session/{method}")

    def lines(self, command: c.Command) -> list[bytes]:
        if isinstance(command, c.Answer):
            return self._answer(command)
        if isinstance(command, c.AnswerQuestion):
            return [self._requests.question_line(command)]
        if isinstance(command, c.Reply):
            return [self._requests.reply_line(command)]
        if isinstance(command, c.Interrupt):
            return self._interrupt(command)
        if isinstance(command, c.Close):
            return self._close(command)
        return [self._request(self._ask(command), command)]

    def late_lines(self, command: c.Command) -> list[bytes]:
        """The lines of a command that was held back until its session was open. Nothing is refused here:
        whoever sent the command no longer waits for an exception, so a bad mode, model or option goes to the
        agent, whose error is the answer. Without any session they name none, for the same reason."""
        connection = self._connection
        session = connection.sessions.get(connection.first or "") or connection.nobody()
        version = connection.agreement.version
        if isinstance(command, c.SetMode):
            mode = opening.fitting_mode(session, command.mode, self.opening.words) or command.mode
            return [self._request(opening.set_mode(session, mode, version), command)]
        if isinstance(command, c.SetModel):
            return [self._request(opening.set_model(session, command.model, version), command)]
        if isinstance(command, c.SetOption):
            ask = opening.set_option(session, command.option, command.value, version)
            return [self._request(ask, command)]
        if isinstance(command, c.Fork):
            return [self._request(self._copy(session), command)]
        return self.lines(command)

    def _request(self, ask: opening.Ask, command: c.Command) -> bytes:
        method, params = ask
        return self._connection.peer.request(method, params, command.id)

    def _copy(self, session: Session) -> opening.Ask:
        wanted = Opening(cwd=session.cwd, resume=session.id, fork=True)
        return opening.session(wanted, self._connection.agreement)

    def _ask(self, command: c.Command) -> opening.Ask:
        """Method and params of the request that a command becomes."""
        agreement = self._connection.agreement
        if isinstance(command, c.ListSessions):
            asked = {"cwd": command.cwd, "cursor": command.cursor}
            return "session/list", {name: value for name, value in asked.items() if value is not None}
        if isinstance(command, c.DeleteSession):
            return "session/delete", {"sessionId": command.session}
        if isinstance(command, c.OpenSession):
            servers = {**self.opening.mcp_servers, **command.mcp_servers}
            wanted = structs.replace(
                self.opening, cwd=command.cwd, resume=command.resume, fork=False, mcp_servers=servers
            )
            return opening.session(wanted, agreement)
        session = self._connection.session(command.session)
        if isinstance(command, c.Prompt):
            return self._prompt(session, command.text, command.blocks)
        if isinstance(command, c.Compact):
            return self._prompt(session, f"/compact {command.instructions or ''}".rstrip(), [])
        if isinstance(command, c.SetMode):
            return opening.set_mode(
                session, opening.known_mode(session, command.mode, self.opening.words), agreement.version
            )
        if isinstance(command, c.SetModel):
            if not session.choices.models:
                raise self._unsupported(command.needs, "It names no models")
            return opening.set_model(session, command.model, agreement.version)
        if isinstance(command, c.SetOption):
            option = opening.known_option(session, command.option)
            return opening.set_option(session, option, command.value, agreement.version)
        if isinstance(command, c.Fork) and opening.can(agreement, "fork"):
            return self._copy(session)
        raise self._unsupported(command.needs)

    def _prompt(self, session: Session, text: str, blocks: list[Any]) -> opening.Ask:
        return "session/prompt", {"sessionId": session.id, "prompt": content.prompt(text, blocks)}

    def _answer(self, command: c.Answer) -> list[bytes]:
        session = self._requests.session_of(command.request)
        line = self._requests.permission_line(command)
        if command.interrupt and session is not None:
            return [line, self._cancel(session)]
        return [line]

    def _interrupt(self, command: c.Interrupt) -> list[bytes]:
        """session/cancel, and an answer `cancelled` to every request of that turn. Before a session is open:
        a cancellation of the request that opens it."""
        connection = self._connection
        if command.session is None and connection.first is None:
            return [
                connection.peer.notify("$/cancel_request", {"requestId": id})
                for id, call in connection.peer.in_flight.items()
                if call.method in OPENINGS
            ]
        session = connection.session(command.session)
        return [self._cancel(session), *self._requests.cancel_lines(session)]

    def _cancel(self, session: Session) -> bytes:
        return self._connection.peer.notify("session/cancel", {"sessionId": session.id})

    def _close(self, command: c.Close) -> list[bytes]:
        """session/close for the session of the command, or for all sessions."""
        connection = self._connection
        if not opening.can(connection.agreement, "close"):
            return []
        sessions = [session for session in connection.sessions.values() if session.started]
        wanted = [session.id for session in sessions if command.session in (None, session.id)]
        return [
            connection.peer.request("session/close", {"sessionId": id}, f"{command.id or 'close'}-{number}")
            for number, id in enumerate(wanted, 1)
        ]

    def _unsupported(self, capability: Capability, hint: str = "") -> Unsupported:
        return Unsupported(self._agent, capability, hint)
