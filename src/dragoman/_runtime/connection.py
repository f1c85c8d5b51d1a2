"""A connection: an agent process, and the sessions in it.

    async with connection:
        one, two = await connection.session(cwd="here"), await connection.session(cwd="there")

Whatever ends the block (its end, an exception, cancellation, a time limit), the agent is stopped in good order
and nothing that it started stays behind.
"""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
from anyio.abc import TaskGroup
from msgspec import structs

from dragoman._model.capabilities import Capability
from dragoman._model.commands import (
    ArchiveSession,
    Command,
    DeleteSession,
    ListSessions,
    OpenSession,
    Prompt,
    RenameSession,
)
from dragoman._model.config import checked
from dragoman._model.content import ContentBlock
from dragoman._model.errors import (
    AgentFailed,
    DragomanError,
    LoginRequired,
    SessionNotFound,
    SpawnFailed,
    Unsupported,
    UsageError,
)
from dragoman._model.events import CommandEnded, Error, RunEnded
from dragoman._model.frames import Exit, StopReason
from dragoman._model.result import error_class
from dragoman._model.sessions import LATEST, SessionInfo, chosen, newest_first, remedy
from dragoman._model.tools import Function, Tool
from dragoman._policy import trust
from dragoman._policy.limits import Limits
from dragoman._policy.policy import Policy
from dragoman._runtime.functions import Functions, check_server_names
from dragoman._runtime.host.host import Host
from dragoman._runtime.limits import LimitWatch
from dragoman._runtime.locks import SessionLocks
from dragoman._runtime.log import log
from dragoman._runtime.opening import OpeningWatch
from dragoman._runtime.plan import LaunchPlan
from dragoman._runtime.process import stopping
from dragoman._runtime.process.timeouts import watch
from dragoman._runtime.requests import Handlers, Requests
from dragoman._runtime.resuming import ResumeWatch, SessionFinder
from dragoman._runtime.run import FrameSink, Run
from dragoman._runtime.session import Session
from dragoman._runtime.streams import Backlog, Branches, EventStream

if TYPE_CHECKING:
    from dragoman._runtime.desk import Desk


class CalledOff(DragomanError):
    """The run was stopped before its agent was started: while its session was looked for, or waited for."""

    exit_status = 130


class Connection:
    """An agent process, and the sessions in it."""

    def __init__(
        self,
        plan: LaunchPlan,
        *,
        handlers: Handlers | None = None,
        functions: Functions | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        recorder: FrameSink | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        start_timeout: float | None = None,
        locks: SessionLocks | None = None,
        finder: SessionFinder | None = None,
        plan_for: Callable[[str], LaunchPlan] | None = None,
        shares: str | None = None,
    ) -> None:
        self._run = Run(plan, recorder, lambda requests: self._requests.attend(requests))
        """What goes on beneath."""
        self._functions = functions if functions is not None else Functions(plan.agent)
        self._requests = Requests(self._run, policy or Policy(), handlers or Handlers(), self._functions)
        self.sessions: dict[str, Session] = {}
        """Those that are open, by id."""
        self.alone: Session | None = None
        """The one that has the process to itself."""
        self._shares = shares
        """The recording by which other programs may watch the run."""
        self._desk: Desk | None = None
        """Where they have something said."""
        self._locks = locks
        """Keeps other runs away from them."""
        self._finder = finder
        self._plan_for = plan_for
        """The same plan for a session that is called by its id."""
        self._backlog = Backlog()
        self._branches = Branches()
        """Who listens to which of its sessions."""
        self._limits = LimitWatch(limits) if limits else None
        self._resuming = ResumeWatch() if plan.resume is not None and plan.one_shot else None
        self._timeouts = partial(watch, self._run, self._run.busy, self.stop, timeout, idle_timeout)
        self._start_timeout = start_timeout
        self._preparing: anyio.CancelScope | None = None
        """What comes before the agent is started."""
        self._called_off: tuple[StopReason, str | None] | None = None
        """It was stopped before that was done."""
        self._group: TaskGroup | None = None

    # --- what it is --------------------------------------------------------------------------------------

    @property
    def agent(self) -> str:
        return self._run.plan.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._run.plan.capabilities

    @property
    def result(self) -> RunEnded | None:
        """The last event, once the run is over."""
        return self._run.result

    @property
    def exit(self) -> Exit | None:
        """How the process ended, once it did."""
        return self._run.exit

    @property
    def recording_error(self) -> Exception | None:
        """Why the recording is incomplete, if it is."""
        return self._run.recording_error

    # --- its life ----------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._group is not None:
            raise UsageError("a session can be entered only once; open another one")
        self._run.fanout.add(self._backlog)
        self._run.fanout.add(self._branches)
        if self._limits is not None:
            self._run.fanout.add(self._limits)
        if self._resuming is not None:
            self._run.fanout.add(self._resuming)
        try:
            with anyio.CancelScope() as self._preparing:
                await self._find_session()
                await self._wait_for_session()
            if self._preparing.cancelled_caught:
                raise CalledOff(f"stopped before {self.agent} was started", agent=self.agent)
        except BaseException:
            self._run.call_off()
            raise
        with anyio.CancelScope(shield=True):  # what is started is stopped in good order
            await self._start()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._run.live, self._look_after)
        if self._called_off is not None:
            await self.stop(*self._called_off)
            await self.__aexit__(None, None, None)
            raise CalledOff(f"stopped while {self.agent} was started", agent=self.agent)
        return self

    async def _find_session(self) -> None:
        """Which session is meant, where it is not called by its id."""
        wanted = self._run.plan.resume
        if wanted is None or self._finder is None or self._plan_for is None:
            return
        id = await self._finder.find(wanted, self._where())
        if id != wanted:
            self._run.replan(self._plan_for(id))

    async def _start(self) -> None:
        """What the agent will look for is there before it is."""
        if self._functions.is_bridged:
            await self._open_socket()
        try:
            await self._run.start()
        except BaseException:
            await self._functions.socket.close()
            raise
        if self._shares is not None:
            await self._share(self._shares)

    async def _share(self, recording: str) -> None:
        """Let other programs find the run. Where that cannot be, there is a warning and a run all the same."""
        from dragoman._runtime.desk import Desk  # few runs need it

        desk = Desk(self, recording)
        try:
            await desk.open()
        except (DragomanError, OSError, ValueError) as error:
            log.warning("this run is not shared: %s", error)
            return
        self._desk = desk
        self._run.fanout.add(desk)

    async def _open_socket(self) -> None:
        try:
            await self._functions.socket.open()
        except OSError as error:
            self._run.call_off()
            why = f"there can be no socket for tools and hooks in {tempfile.gettempdir()} ({error})"
            raise SpawnFailed(f"{self.agent} did not start: {why}", agent=self.agent) from error

    async def _wait_for_session(self) -> None:
        """A session that is gone on with is waited for; of a copy, only the copy is ours."""
        if self._locks is None:
            return
        self._run.fanout.add(self._locks)
        plan = self._run.plan
        first = plan.session if plan.resume is None or plan.fork else plan.resume
        if first is not None:
            await self._locks.acquire(first)

    async def _look_after(self) -> None:
        async with anyio.create_task_group() as tasks:
            if self._run.machine.handshakes:
                opening = OpeningWatch(self._run, self._start_timeout)
                self._run.fanout.add(opening)
                tasks.start_soon(opening.watch, self.stop)
            tasks.start_soon(self._timeouts)
            if self._functions.socket.is_open:
                tasks.start_soon(self._functions.socket.serve)
            if self._desk is not None:
                tasks.start_soon(self._desk.serve)
            if self._limits is not None:
                tasks.start_soon(self._limits.watch, self.stop)
            if self._resuming is not None:
                tasks.start_soon(self._resuming.watch, self.stop)
            tasks.start_soon(stopping.see_off, self._run)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        try:
            await self.close()
        except BaseException:  # interrupted a second time, while stopping
            self._run.child.kill()
            raise
        finally:
            self._group.cancel_scope.shield = True
            if self._group.cancel_scope.cancel_called:
                await self._group.__aexit__(kind, error, trace)
            else:  # an error of the block is its own, not one of a group
                await self._group.__aexit__(None, None, None)
        self._tell_failure(error)

    def _tell_failure(self, error: BaseException | None) -> None:
        """An agent that is played in this process could not go on: that is why whatever came of it did. An error of the
        block that is no consequence by itself, such as a test's, keeps its place."""
        failure = self._run.child.failure
        if failure is None:
            return
        if error is None or isinstance(error, DragomanError):
            raise failure
        error.add_note(f"The agent could not go on: {failure}")

    async def close(self) -> None:
        """End the run. Open turns are cancelled."""
        if self._limits is not None and self._limits.reached is not None:
            await self.stop("limited", self._limits.reached)
        await self.stop("cancelled" if self._group is not None and self._run.busy() else "closed")

    async def stop(self, reason: StopReason, detail: str | None = None) -> None:
        """End the run and put on record why. Comes back when it is over; cannot be cancelled."""
        if self._group is None:
            if self._preparing is not None:
                self._called_off = reason, detail
                self._preparing.cancel()
            return
        run = self._run
        with anyio.CancelScope(shield=True):
            if run.stopping is None and run.exit is None and not run.child.exited.is_set():
                run.stop_for(reason, detail)
                await stopping.stop(run)
            await run.ended.wait()

    # --- its sessions ------------------------------------------------------------------------------------

    async def session(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        resume: str | None = None,
        mcp_servers: Mapping[str, Any] | None = None,
        tools: Sequence[Function | Tool] | None = None,
    ) -> Session:
        """Open one more session, or go on with an earlier one. It lasts until it is closed, or the connection. Its `tools`
        are beside those of the connection. Raises
        UsageError for an argument that cannot be, SessionNotFound if there is no session `resume`, AgentFailed if the
        agent opens none."""
        resume, servers = checked("resume", resume), checked("mcp_servers", mcp_servers or {})
        run, where = self._run, self._where(checked("cwd", cwd))
        self._check_trust(where)
        servers |= await self._tools(tools, servers)
        await self._until(lambda: run.ledger.ready)
        await self._check_ready()
        if resume is not None and self._finder is not None:
            lists = Capability.LIST_SESSIONS in self.capabilities
            resume = await self._finder.find(resume, where, self._candidates if lists else None)
        if resume in self.sessions:
            raise UsageError(f"session {resume} is open already")
        if self._locks is not None and resume is not None:
            await self._locks.acquire(resume)
        said = EventStream()  # of a session whose name is not known yet
        run.fanout.add(said)
        ended = await run.ask(OpenSession(cwd=where, resume=resume, mcp_servers=servers))
        if ended is None or not ended.ok or ended.session is None:
            if self._locks is not None and resume is not None:
                self._locks.release(resume)
            raise self._not_opened(ended, resume)
        id = ended.session
        backlog = Backlog([event for event in said.drain() if event.session == id])
        host = self._requests.hosts[id] = self._host(where)
        session = self.sessions[id] = Session(self, host, id, backlog=backlog)
        return session

    async def _tools(
        self, given: Sequence[Function | Tool] | None, servers: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The MCP server with the tools of a session, by its name; nothing if it has none of its own."""
        own = self._functions.more(given)
        if own and Capability.MCP not in self.capabilities:
            raise Unsupported(self.agent, "tools", "It takes no MCP servers")
        if own:
            check_server_names(servers, own)
            self._requests.policy.grant(self._functions.granted())
        if own and not self._functions.socket.is_open:
            await self._open_socket()
            self._run.tasks.start_soon(self._functions.socket.serve)
        return own

    # --- sessions that need not be open ------------------------------------------------------------------

    async def list_sessions(
        self, cwd: str | os.PathLike[str] | None = None, *, archived: bool = False, limit: int | None = None
    ) -> list[SessionInfo]:
        """The agent's sessions, newest first: of a folder, or of all; with `archived` those that were put away; no more
        than `limit`. Raises Unsupported if the agent does not list them, AgentFailed if it fails to."""
        await self._until(lambda: self._run.ledger.ready)
        found: dict[str, SessionInfo] = {}
        for place in _names_of(checked("cwd", cwd)):
            cursors: set[str | None] = set()
            cursor: str | None = None
            while cursor not in cursors and (limit is None or len(found) < limit):
                cursors.add(cursor)
                ended = await self._run.ask(ListSessions(cwd=place, archived=archived, cursor=cursor))
                if ended is None or not ended.ok:
                    raise self._refused(ended, "does not list its sessions")
                page, cursor = self._run.machine.sessions_in(ended.result)
                found.update((info.id, info) for info in page)
                if cursor is None:
                    break
        return newest_first(found.values())[:limit]

    async def _candidates(self, wanted: str, cwd: str) -> list[SessionInfo]:
        if wanted == LATEST:
            return await self.list_sessions(cwd, limit=1)
        return await self.list_sessions()

    async def archive_session(self, session: str, *, archived: bool = True) -> None:
        """Put a session away, or back with `archived` False. It is named by its id or the beginning of it. Raises
        Unsupported if the agent cannot do that, SessionNotFound if it has no such session."""
        await self._change(session, ArchiveSession(archived=archived), archived=not archived)

    async def delete_session(self, session: str) -> None:
        """Delete a session for good. As `archive_session`."""
        await self._change(session, DeleteSession())

    async def rename_session(self, session: str, title: str) -> None:
        """Give a session a title. As `archive_session`."""
        await self._change(session, RenameSession(title=title))

    async def _change(self, session: str, command: Command, *, archived: bool = False) -> None:
        if command.needs not in self.capabilities:
            raise Unsupported(self.agent, command.needs)
        if session == LATEST:
            raise UsageError(f"name the session by its id; {remedy(self.agent)}")
        known = await self.list_sessions(archived=archived)
        id = chosen(self.agent, session, known, "")
        if self._locks is not None:
            await self._locks.acquire(id)
        try:
            ended = await self._run.ask(structs.replace(command, session=id))
        finally:
            if self._locks is not None:
                self._locks.release(id)
        if ended is None or not ended.ok:
            raise self._refused(
                ended, f"does not {str(command.__struct_config__.tag).replace('_', ' ')} {id}"
            )

    def _refused(self, ended: CommandEnded | None, what: str) -> AgentFailed:
        why = ended.error.message if ended is not None and ended.error is not None else "it gives no reason"
        return AgentFailed(f"{self.agent} {what}: {why}", agent=self.agent, native=why)

    # ---------------------------------------------------------------------------------------------------------

    def _check_trust(self, where: str) -> None:
        """What was trusted for the connection's folder is not trusted anywhere else."""
        own, plan = trust.project_of(self._where()), self._run.plan
        elsewhere = os.path.commonpath((own, os.path.realpath(where))) != own
        takes_part = plan.config.get("trusted") or trust.brought(where, plan.unheld)
        if takes_part and elsewhere and not trust.is_trusted(where):
            raise UsageError(
                f"{where} is not trusted, and on this connection projects take part: give it a connection of its own, or "
                "trust it with `dragoman trust`"
            )

    def _alone(
        self, prompt: str | None = None, blocks: Sequence[ContentBlock] = (), *, once: bool = False
    ) -> Session:
        """The one session of a process that has no other. Its life is the connection's; with `once`, that is over as soon
        as nothing is left to do."""
        host = self._requests.hosts[None] = self._host(self._where())
        self._backlog.whole = once
        first = Prompt(text=prompt, blocks=list(blocks)) if prompt is not None else None
        self.alone = Session(self, host, prompt=first, once=once)
        return self.alone

    def _end_after(self, done: EventStream) -> None:
        """Close once a stream is over."""
        assert self._group is not None
        self._group.start_soon(self._close_after, done)

    async def _close_after(self, done: EventStream) -> None:
        while await done.batch():
            pass
        await self.close()

    def _where(self, cwd: str | os.PathLike[str] | None = None) -> str:
        return os.path.abspath(cwd if cwd is not None else self._run.plan.cwd or os.getcwd())

    def _host(self, cwd: str) -> Host:
        plan = self._run.plan
        return Host(
            [cwd, *plan.roots],
            plan.env,
            read_only=plan.read_only,
            missing_is_empty=plan.missing_files == "empty",
        )

    def events(self) -> EventStream:
        """All events of all sessions from now on; before the first turn, from the run's start."""
        return self._run.fanout.listener(self._backlog)

    async def _check_ready(self) -> None:
        """Raise Unsupported if the agent says, once it is ready, that it cannot do what was asked of it at the start."""
        machine = self._run.machine
        if machine.takes_add_dirs is None:
            await self._until(lambda: self._run.ledger.ready)
        if machine.takes_add_dirs is False:
            raise Unsupported(self.agent, "add_dirs", "It takes no folder beside the one that it works in")

    async def _until(self, ready: Callable[[], bool]) -> None:
        """The agent has answered what it was told first, so that more can be asked of it."""
        if ready():
            return
        stream, ledger = self.events(), self._run.ledger
        while not ready():
            if ledger.refusal is not None and self._run.stopping is None:
                raise self._refusal(ledger.refusal)
            if not await stream.batch():
                raise self._run.exit_error("it was ready")

    def _refusal(self, error: Error) -> DragomanError:
        """Why it will never be ready, and what to do about it."""
        known = {"loginRequired": self._run.plan.login, "sessionNotFound": remedy(self.agent)}
        how = known.get(error.kind or "")
        words = f"{error.message}; {how}" if how else error.message
        return error_class(error.kind)(words, agent=self.agent, native=error.message)

    def _not_opened(self, ended: CommandEnded | None, resume: str | None) -> Exception:
        error = ended.error if ended is not None else None
        why = error.message if error is not None else "it names no session"
        if error is not None and error.kind == "loginRequired":
            how = f"; {login}" if (login := self._run.plan.login) else ""
            return LoginRequired(f"{self.agent} is not logged in: {why}{how}", agent=self.agent, native=why)
        if resume is not None:
            return SessionNotFound(
                f"{self.agent} does not open session {resume}: {why}; {remedy(self.agent)}", agent=self.agent
            )
        return AgentFailed(f"{self.agent} opens no session: {why}", agent=self.agent, native=why)


def _names_of(folder: str | None) -> list[str | None]:
    """What an agent may call a folder: with the links on its way, or without. None stands for all folders."""
    if folder is None:
        return [None]
    return list(dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))))
