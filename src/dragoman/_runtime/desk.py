"""The desk of a shared run: a socket at which other programs of the same user say what its agent shall be told, and hear
what is asked of which the recording does not tell.

Who sits there can do what a handler or the program itself could, and no more: answers go the same way, and a mode takes
the policy along. docs/sessions.md says what goes over the line.
"""

import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream
from msgspec import Raw, structs

from dragoman._model.commands import Command, Response, SetMode, SetModel
from dragoman._model.errors import AgentFailed, DragomanError, UsageError
from dragoman._model.events import AnyEvent, CommandEnded, PermissionRequested, QuestionAsked
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.beacons import OwnBeacon
from dragoman._runtime.desk_caller import Caller
from dragoman._runtime.desk_lines import GONE, Asked, Failure, Order, Said, written
from dragoman._runtime.log import log
from dragoman._runtime.process.ancestry import is_of_an_agent
from dragoman._runtime.requests import LATER, Later
from dragoman._runtime.session import Session
from dragoman._runtime.streams import EventStream
from dragoman._wire import event_json

if TYPE_CHECKING:
    from dragoman._runtime.connection import Connection

MOST_CALLERS: Final = 64
"""Programs that may be connected at the same time."""
LONGEST_NAME: Final = 80
"""Characters by which somebody may be called."""

_PEER: Final = Layout("3i")
"""A process, its user and its group, as Linux tells them of whoever is connected."""


# --- what is done --------------------------------------------------------------------------------------------

_DOES: Final[Mapping[type[Command], Callable[[Session, Any], Awaitable[CommandEnded | None]]]] = {
    SetMode: lambda session, command: session.set_mode(command.mode),
    SetModel: lambda session, command: session.set_model(command.model),
}
"""What is more than to send the command."""


async def carry_out(session: Session, command: Command, who: str) -> Any:
    """Do what somebody else asks of a session, and say with an answer who that is; what the agent says to it. Raises
    DragomanError: UsageError for an answer to what is not asked any more, AgentFailed if the agent refuses."""
    plain = structs.replace(command, id=None, session=None)
    if isinstance(plain, Response):
        given = structs.replace(plain, by="client", rule=None, who=_name(who))
        if not session._connection._requests.respond(given):
            raise UsageError("this is not asked any more: it was answered, or the agent took it back")
        return None
    ended = await _DOES.get(type(plain), Session.send)(session, plain)
    if ended is None or ended.ok:
        return ended.result if ended is not None else None
    what = str(plain.__struct_config__.tag).replace("_", " ")
    why = ended.error.message if ended.error is not None else "it gives no reason"
    raise AgentFailed(f"{session.agent} does not {what}: {why}", agent=session.agent, native=why)


async def left_to_others(request: PermissionRequest | QuestionAsked) -> Later:
    """A handler for whoever leaves all answers to those at the desk. Of what the host asks for no event tells them: they hear
    of it as long as this waits."""
    if isinstance(request, PermissionRequest) and request.event.synthesized:
        await anyio.sleep_forever()
    return LATER


def _name(who: str) -> str:
    """What somebody is called: on one line, and not at any length."""
    shown = "".join(char if char.isprintable() else " " for char in who[: 2 * LONGEST_NAME])
    return " ".join(shown.split())[:LONGEST_NAME] or "another program"


# --- where it is asked for -----------------------------------------------------------------------------------


class Desk(EventStream):
    """The desk of a connection, whose run is recorded in the file `recording`. It listens to the run: whatever happens
    there may have changed the mode."""

    def __init__(self, connection: "Connection", recording: str) -> None:
        super().__init__()
        self._connection = connection
        self._requests = connection._requests
        self._recording = recording
        self._beacon: OwnBeacon | None = None
        self._listener: SocketListener | None = None
        self._callers: list[Caller] = []
        self._asked: dict[str, PermissionRequested] = {}
        """What callers know to be asked for, by request id."""
        self._mode: str = self._requests.policy.mode
        """The approve mode that they know of."""

    async def open(self) -> None:
        """Have the run found. Raises OSError, ValueError and UsageError if it cannot be."""
        self._beacon = OwnBeacon()
        try:
            self._listener = await anyio.create_unix_listener(self._beacon.socket, mode=0o600)
            plan = self._connection._run.plan
            self._beacon.light(agent=plan.agent, cwd=plan.cwd or os.getcwd(), recording=self._recording)
        except BaseException:
            await self.close()
            raise
        self._requests.on_asides = self._look

    async def serve(self) -> None:
        """Until it is cancelled."""
        assert self._listener is not None
        try:
            await self._listener.serve(self._take)
        except Exception as error:  # the run goes on all the same
            log.warning("this run is shared no longer: %s", error)
        finally:
            await self.close()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._listener is not None:
                await self._listener.aclose()
            if self._beacon is not None:
                with suppress(OSError):
                    os.unlink(self._beacon.socket)
                self._beacon.leave()

    async def _take(self, stream: SocketStream) -> None:
        """One program, from its first line to its end."""
        try:
            async with stream:
                peer = _peer(stream)
                if peer is not None and peer.user != os.getuid():
                    return
                if peer is not None and is_of_an_agent(peer.pid):
                    why = "what an agent has started answers for no agent; answer it from elsewhere"
                    await stream.send(written(Said(error=Failure(why))))
                elif len(self._callers) >= MOST_CALLERS:
                    why = f"{MOST_CALLERS} other programs are connected; close one of them"
                    await stream.send(written(Said(error=Failure(why))))
                else:
                    await self._serve(Caller(stream, self.carry_out))
        except GONE:
            pass
        except Exception:
            log.exception("a program at the desk could not be served")

    async def _serve(self, caller: Caller) -> None:
        caller.say(Said(policy=self._mode))
        for event in self._asked.values():
            caller.say(_told(event))
        self._callers.append(caller)
        try:
            await caller.serve()
        finally:
            self._callers.remove(caller)

    # --- what is asked for ----------------------------------------------------------------------------------

    async def carry_out(self, order: Order) -> Said:
        """Do it; what is said of it."""
        try:
            result = await carry_out(self._meant(order.command), order.command, order.who)
        except DragomanError as error:
            return Said(id=order.id, error=Failure(error.message, error.kind))
        except Exception as error:
            log.exception("what was asked for at the desk failed")
            return Said(id=order.id, error=Failure(f"this failed with {type(error).__name__}: {error}"))
        self._look()
        return Said(id=order.id, ok=True, result=result)

    def _meant(self, command: Asked) -> Session:
        """The session that it is for. An answer names its request, so that any will do."""
        several = self._connection.sessions
        found = self._connection.alone or several.get(command.session or "")
        if found is None and (len(several) == 1 or isinstance(command, Response)):
            found = next(iter(several.values()), None)
        if found is None:
            known = ", ".join(several) or "there is none yet"
            raise UsageError(f"no session is called {command.session!r:.80} here; name one: {known}")
        return found

    # --- what is told unasked -------------------------------------------------------------------------------

    def put(self, batch: Sequence[AnyEvent]) -> None:
        if self._requests.policy.mode != self._mode:
            self._look()

    def _look(self) -> None:
        """Tell what is another now."""
        for said in list(self._news()):
            for caller in self._callers:
                caller.say(said)

    def _news(self) -> Iterator[Said]:
        mode = self._requests.policy.mode
        if mode != self._mode:
            self._mode = mode
            yield Said(policy=mode)
        now = {id: aside.event for id, aside in self._requests.asides.items()}
        before, self._asked = self._asked, now
        yield from (Said(settled=id) for id, event in before.items() if now.get(id) is not event)
        yield from (_told(event) for id, event in now.items() if before.get(id) is not event)


def _told(event: PermissionRequested) -> Said:
    return Said(asked=Raw(event_json.encode(event)))


class _Peer(NamedTuple):
    """Whoever is connected."""

    pid: int
    user: int
    group: int


def _peer(stream: SocketStream) -> _Peer | None:
    """Who is at the other end, where the system tells; nobody but this user can enter the folder of the socket."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    raw = stream.extra(SocketAttribute.raw_socket)
    return _Peer(*_PEER.unpack(raw.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)))
