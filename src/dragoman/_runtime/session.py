"""A session: one conversation with an agent at work.

    async with session:
        async for event in session.prompt("Fix the login bug"):
            ...

It has an agent process to itself and lives as long as that, or is one of several on a connection.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import anyio
from msgspec import structs

from dragoman._model import commands
from dragoman._model.capabilities import Capability
from dragoman._model.commands import FACTS, Answer, AnswerQuestion, Command, Fact, Prompt, Reply, Response
from dragoman._model.config import APPROVE_MODES, Approve, did_you_mean
from dragoman._model.content import ContentBlock
from dragoman._model.errors import AgentFailed, DragomanError, SessionNotFound, Unsupported, UsageError
from dragoman._model.events import CommandEnded, McpServer, RunEnded, TurnEnded
from dragoman._model.frames import Exit, StopReason
from dragoman._model.sessions import remedy
from dragoman._projections import published
from dragoman._projections.published import Profile
from dragoman._runtime.facts import Facts
from dragoman._runtime.host.host import Host
from dragoman._runtime.process import stopping
from dragoman._runtime.streams import (
    Backlog,
    DoneStream,
    EventStream,
    TurnStream,
    ViewStream,
)
from dragoman._wire import fields

if TYPE_CHECKING:
    from dragoman._runtime.connection import Connection

_LOOSENESS: Final[dict[Approve, int]] = {
    "plan": 0,
    "never": 1,
    "ask": 2,
    "edits": 3,
    "dangerous": 4,
    "all": 5,
}

LAST_TURN: Final = 5.0
"""Seconds that a turn may take to end when its session is closed."""


class Session(Facts):
    """One conversation. With an `id` it is one of several on its connection; without, the only one."""

    def __init__(
        self,
        connection: "Connection",
        host: Host,
        id: str | None = None,
        *,
        prompt: Prompt | None = None,
        once: bool = False,
        backlog: Backlog | None = None,
    ) -> None:
        self._host = host
        """Does what the agent asks its client to do."""
        self._connection = connection
        self._run = connection._run
        self._id = id
        self._first_prompt = prompt
        self._once = once
        """It ends when the first prompt is done."""
        self._closed = False
        self._lost: str | None = None
        """Why the agent does not open the session that it was to go on with."""
        self._backlog = backlog or connection._backlog
        self._fanout = self._run.fanout
        if id is not None:
            self._fanout = connection._branches.begin(id)
            self._fanout.add(self._backlog)

    # --- what it is --------------------------------------------------------------------------------------

    @property
    def agent(self) -> str:
        return self._connection.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._connection.capabilities

    @property
    def id(self) -> str | None:
        """The agent's own session id, once known."""
        return self._id or self._run.ledger.session

    @property
    def busy(self) -> bool:
        """Whether there is more to come: a turn is open or will be, for a prompt that is held, for a message that came
        too late for its turn, or for what a subagent in the background finds."""
        if self._run.at_work(self._id):
            return True
        ledger = self._run.ledger
        return Capability.BACKGROUND in self.capabilities and (bool(ledger.subagents) or ledger.returned)

    @property
    def result(self) -> RunEnded | None:
        """The last event, once the run is over."""
        return self._connection.result

    @property
    def exit(self) -> Exit | None:
        """How the process ended, once it did."""
        return self._connection.exit

    @property
    def recording_error(self) -> Exception | None:
        """Why the recording is incomplete, if it is."""
        return self._connection.recording_error

    def _known(self) -> Mapping[str, Any]:
        return self._run.ledger.known(self._id)

    # --- its life ----------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._id is None:
            await self._connection.__aenter__()
        try:
            await self._connection._check_ready()
            if self._first_prompt is not None:
                self._say(self._first_prompt)
            if self._once:
                self._connection._end_after(self._done_stream(self._fanout.add))
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._id is None:
            await self._connection.__aexit__(kind, error, trace)
        else:
            await self.close()

    async def ready(self) -> None:
        """Wait until the agent has answered its opening lines: what it tells of itself before the first prompt is
        known then. One that is told nothing but its prompt is ready when it tells of its session.

        Raises SessionNotFound, LoginRequired, ProtocolBroken or AgentFailed if it does not open the session, by the cause,
        and ProcessExited if it ends before that.
        """
        await self._connection._until(lambda: self._id is not None or self._run.machine.ready)

    async def close(self) -> None:
        """End the session; an open turn is cancelled. The other sessions of its connection live on."""
        if self._id is None:
            await self._connection.close()
        elif not self._closed:
            self._closed = True
            with anyio.CancelScope(shield=True):
                await self._leave(self._id)

    async def _leave(self, id: str) -> None:
        self._run.machine.drop_held(id)
        try:
            if self._run.exit is None:
                with anyio.move_on_after(LAST_TURN):
                    await stopping.interrupt(self._run, id)
                self._run.say(commands.Close(session=id))
        except DragomanError:  # it ended meanwhile, and this session with it
            pass
        finally:
            self._connection.sessions.pop(id, None)
            self._connection._requests.hosts.pop(id, None)
            if self._connection._locks is not None:
                self._connection._locks.release(id)
            self._connection._branches.leave(id)
            await self._host.close()

    async def stop(self, reason: StopReason, detail: str | None = None) -> None:
        """End the run, with all its sessions, and put on record why. Comes back when it is over."""
        await self._connection.stop(reason, detail)

    # --- listening ---------------------------------------------------------------------------------------

    def prompt(self, text: str, blocks: Sequence[ContentBlock] = ()) -> EventStream:
        """Send a prompt; iterate over the events of the turn that takes it, to its turn.ended.

        It is sent at once. While another turn is open it is held, and its turn begins after that one. Leaving
        the iteration early leaves the turn at work; `interrupt` stops it. Its end raises SessionNotFound if the agent did
        not open the session that it was to go on with.
        """
        return self._turn(Prompt(text=text, blocks=list(blocks)))

    def review(
        self, instructions: str = "", *, base: str | None = None, commit: str | None = None
    ) -> EventStream:
        """Have the agent review the changes that are not committed, or those since the branch `base`, or those of a
        `commit`, or what the instructions describe: one of these. As `prompt`; raises Unsupported if the agent has no
        reviews."""
        return self._turn(commands.Review(text=instructions, base=base, commit=commit))

    def _turn(self, command: Prompt) -> EventStream:
        if self._lost is not None:
            raise SessionNotFound(self._lost, agent=self.agent)
        run, id = self._run, self._run.next_id()
        stream = TurnStream(lambda: run.machine.turn_of(id), self._missed_turn_error, self._turn_error)
        self._fanout.add(stream)
        self._backlog.on_prompt()
        self._connection._backlog.on_prompt()
        self._say(structs.replace(command, id=id))
        return stream

    def events(self) -> EventStream:
        """All events from now on, also those between turns; before the first turn, from the beginning. It is over when
        the run is, which ends by itself if the session was opened with `once`."""
        return self._listener(EventStream())

    def until_done(self) -> DoneStream:
        """All events as `events` has them, until the session has nothing more to do (see `busy`). What the run says
        after that, to its end, is in the stream's `drain` once the session is closed."""
        return self._done_stream(self._listener)

    def _done_stream(self, listen: Callable[[EventStream], object]) -> DoneStream:
        stream = DoneStream(lambda: self.busy)
        listen(stream)
        stream.start()
        return stream

    def _listener(self, stream: EventStream) -> EventStream:
        self._fanout.listener(self._backlog, stream)
        self._backlog.on_listener()
        return stream

    def view(
        self, name: str, *, profile: Profile = "live", extended: bool = False, vendor: str = ""
    ) -> ViewStream:
        """The same in a model that another program speaks: agent-event, insights or untether. `vendor` says what an
        adapter is at heart (claude, codex, gemini), where its name does not."""
        known = vendor or self._run.plan.vendor or ""
        made = published.projector(name, profile=profile, extended=extended, vendor=known, agent=self.agent)
        return ViewStream(self.events(), made)

    def _missed_turn_error(self) -> DragomanError:
        if self._closed and self._run.exit is None:
            return UsageError("the session was closed before the turn began")
        return self._run.exit_error("the turn began")

    def _turn_error(self, ended: TurnEnded) -> DragomanError | None:
        """What the listener of a turn must hear at its end: that it was not one of the session that was asked for."""
        if ended.error is None or ended.error.kind != "sessionNotFound":
            return None
        why, wanted = ended.error.message, self._run.plan.resume
        self._lost = f"{self.agent} does not open session {wanted}: {why}; {remedy(self.agent)}"
        return SessionNotFound(self._lost, agent=self.agent)

    # --- asking ------------------------------------------------------------------------------------------

    async def send(self, command: Command) -> CommandEnded | None:
        """Send any command. Comes back with the agent's answer, if it is one that the agent answers."""
        if isinstance(command, commands.Close):
            await self.close()
            return None
        if isinstance(command, Response):
            self._respond(command)
            return None
        return await self._run.ask(self._mine(command))

    async def steer(self, text: str, blocks: Sequence[ContentBlock] = ()) -> CommandEnded | None:
        """Say something into the open turn."""
        return await self.send(commands.Steer(text=text, blocks=list(blocks)))

    async def interrupt(self) -> CommandEnded | None:
        """Stop the open turn; the session lives on."""
        return await self.send(commands.Interrupt())

    async def set_mode(self, mode: str) -> CommandEnded | None:
        """Change who is asked for what: by one of the approve modes, or by the agent's own name for a mode. The policy
        goes along where it is known what that name means; if it becomes looser, then only when the agent has agreed.

        Raises UsageError for a mode that there is not, and for a looser one where several sessions share a policy.
        """
        policy = self._connection._requests.policy
        own = next((word for word in APPROVE_MODES if word == mode), None)
        meant = own or self._run.plan.mode_meanings.get(mode)
        looser = meant is not None and _LOOSENESS[meant] > _LOOSENESS[policy.mode]
        if looser and self._id is not None:
            raise UsageError(
                f"the sessions of this connection share the mode {policy.mode}: it can only be stricter"
            )
        if meant is not None and not looser:
            policy.mode = meant
        try:
            ended = await self.send(commands.SetMode(mode=mode))
        except (Unsupported, UsageError):
            if own is None or own == "plan" or self._run.exit is not None:
                raise
            ended = None  # it has no such mode, and asks as it did: the policy alone is another
        if meant is not None and (ended is None or ended.ok):
            policy.mode = meant
        return ended

    async def set_model(self, model: str) -> CommandEnded | None:
        return await self.send(commands.SetModel(model=model))

    async def set_option(self, option: str, value: Any) -> CommandEnded | None:
        return await self.send(commands.SetOption(option=option, value=value))

    async def set_max_thinking_tokens(self, tokens: int | None) -> CommandEnded | None:
        """How many tokens the model may think with from now on: 0 for none, None for as many as the agent chooses.
        Only Claude Code counts them; others have an option for how hard to think (`set_option`)."""
        return await self.set_option("max_thinking_tokens", tokens)

    async def refresh(self, *facts: Fact) -> None:
        """Ask the agent for what it tells of itself, as it is now; the properties of the same names then have it.

        Raises Unsupported for what this agent cannot be asked, AgentFailed if it does not say.
        """
        for fact in facts:
            if fact not in FACTS:
                raise UsageError(f"there is no fact {fact!r:.60}{did_you_mean(str(fact), FACTS)}")
            ended = await self.send(commands.Refresh(fact=fact))
            if ended is not None and ended.error is not None:
                why = ended.error.message
                raise AgentFailed(
                    f"{self.agent} does not tell its {fact}: {why}", agent=self.agent, native=why
                )

    async def mcp_status(self) -> list[McpServer]:
        """The MCP servers and how they are now. Raises what `refresh` raises."""
        await self.refresh("mcp_servers")
        return self.mcp_servers

    async def compact(self, instructions: str | None = None) -> CommandEnded | None:
        """Ask the agent to shorten its context."""
        return await self.send(commands.Compact(instructions=instructions))

    async def rewind_files(self, message_id: str, *, dry_run: bool = False) -> list[str]:
        """Put the files that the agent's own tools have changed back to how they were before a message of the user's, by
        its `message_id`; their paths. With `dry_run` only say which. What commands have changed stays as it is, and so does
        what was said.

        Raises Unsupported if the agent cannot, or was not told to keep what it changes; AgentFailed if it knows of no such
        message.
        """
        if Capability.REWIND_FILES not in self.capabilities:
            hint = "Only Claude Code can, in a session that was opened with native={'file_checkpoints': True}"
            raise Unsupported(self.agent, Capability.REWIND_FILES, hint)
        seen = await self.send(commands.RewindFiles(message_id=message_id, dry_run=True))
        told = seen.result if seen is not None else None
        done = await self.send(commands.RewindFiles(message_id=message_id)) if not dry_run else seen
        error = (
            done.error.message if done is not None and done.error is not None else fields.text(told, "error")
        )
        if error is not None:
            raise AgentFailed(
                f"{self.agent} does not rewind to {message_id}: {error}", agent=self.agent, native=error
            )
        return [str(path) for path in fields.items(told, "filesChanged")]

    def _say(self, command: Command) -> None:
        self._run.say(self._mine(command))

    def _mine(self, command: Command) -> Command:
        if self._closed:
            raise UsageError(f"session {self._id} is closed")
        return structs.replace(command, session=self._id) if self._id is not None else command

    # --- answering ---------------------------------------------------------------------------------------

    async def answer(
        self,
        request: str,
        decision: Literal["allow", "deny"] = "deny",
        *,
        option: str | None = None,
        updated_input: dict[str, Any] | None = None,
        message: str | None = None,
        remember: Sequence[Any] = (),
        interrupt: bool = False,
    ) -> bool:
        """Answer a permission request by hand, by its id; the rest is as in Answer. False if it is no longer asked."""
        return self._respond(
            Answer(
                request=request,
                decision=decision,
                option=option,
                updated_input=updated_input,
                message=message,
                remember=list(remember),
                interrupt=interrupt,
            )
        )

    async def answer_question(
        self,
        request: str,
        answers: dict[str, Any] | None = None,
        action: Literal["accepted", "declined", "cancelled"] = "accepted",
    ) -> bool:
        """Answer a question by hand. False if it is no longer asked."""
        return self._respond(AnswerQuestion(request=request, action=action, answers=answers or {}))

    async def reply(self, request: str, result: Any = None, error: str | None = None) -> bool:
        """Answer a host call by hand. False if it is no longer asked."""
        return self._respond(Reply(request=request, result=result, error=error))

    def _respond(self, response: Response) -> bool:
        return self._connection._requests.respond(response)
