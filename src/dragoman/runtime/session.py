"""A session: an agent at work, for as long as the `async with` lasts.

    async with session:
        async for event in session.prompt("Fix the login bug"):
            ...

Whatever ends the block (its end, an exception, cancellation, a time limit), the agent is stopped in good order
and nothing that it started stays behind.
"""

from collections.abc import Sequence
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Literal, Self

import anyio
from anyio.abc import TaskGroup
from msgspec import structs

from dragoman.model import commands
from dragoman.model.capabilities import Capability
from dragoman.model.commands import Answer, AnswerQuestion, Command, Prompt, Reply
from dragoman.model.config import Approve
from dragoman.model.content import ContentBlock
from dragoman.model.errors import DragomanError, Unsupported, UsageError
from dragoman.model.events import CommandEnded, Event, RunEnded
from dragoman.model.frames import Exit, StopReason
from dragoman.runtime import handling, policy, stopping
from dragoman.runtime.fanout import EarlyEvents, EventStream, TurnStream
from dragoman.runtime.handling import Decision, Handler
from dragoman.runtime.plan import Plan
from dragoman.runtime.run import FrameSink, Run, log
from dragoman.runtime.standing import Request
from dragoman.runtime.timeouts import watch
from dragoman.wire import notes


class Session:
    """One agent process and the conversation with it."""

    def __init__(
        self,
        plan: Plan,
        *,
        handler: Handler | None = None,
        approve: Approve = "ask",
        recorder: FrameSink | None = None,
        prompt: str | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._plan = plan
        self._handler = handler
        self._approve = approve
        self._first_prompt = prompt
        self._run = Run(plan, recorder, self._attend)
        self._timeouts = partial(watch, self._run, self._busy, self.stop, timeout, idle_timeout)
        self._early = EarlyEvents()
        self._ids = count(1)
        self._waiting: set[str] = set()
        """Prompts that no turn has taken yet, and commands not answered yet."""
        self._group: TaskGroup | None = None

    # --- what it is --------------------------------------------------------------------------------------

    @property
    def agent(self) -> str:
        return self._plan.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._plan.capabilities

    @property
    def id(self) -> str | None:
        """The agent's own session id, once known."""
        return self._run.standing.session

    @property
    def opening(self) -> list[Event]:
        """The events before the first turn."""
        return list(self._run.standing.opening)

    @property
    def result(self) -> RunEnded | None:
        """The last event, once the run is over."""
        return self._run.standing.result

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
        run = self._run
        run.fanout.add(self._early)
        run.start()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(run.live, self._timeouts)
        try:
            if self._first_prompt is not None:
                self._say(Prompt(text=self._first_prompt))
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

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

    async def close(self) -> None:
        """End the session. An open turn is cancelled."""
        await self.stop("cancelled" if self._busy() else "closed")

    async def stop(self, reason: StopReason, detail: str | None = None) -> None:
        """End the run and put on record why. Comes back when it is over; cannot be cancelled."""
        if self._group is None:
            return
        run = self._run
        with anyio.CancelScope(shield=True):
            if run.stopping is None and run.exit is None and not run.child.exited.is_set():
                run.stop_for(reason, detail)
                await stopping.stop(run)
            await run.ended.wait()

    # --- listening ---------------------------------------------------------------------------------------

    def prompt(self, text: str, blocks: Sequence[ContentBlock] = ()) -> EventStream:
        """Send a prompt; iterate over the events of the turn that takes it, to its turn.ended.

        It is sent at once. While another turn is open it is held, and its turn begins after that one. Leaving
        the iteration early leaves the turn at work; `interrupt` stops it.
        """
        id = self._next_id()
        stream = TurnStream(lambda: self._run.machine.turn_of(id), lambda: self._run.gone("the turn began"))
        self._run.fanout.add(stream)
        self._early.prompted = True
        self._say(Prompt(text=text, blocks=list(blocks), id=id))
        return stream

    def events(self) -> EventStream:
        """All events from now on, also those between turns; before the first turn, from the run's start."""
        stream = EventStream()
        if self._early.kept:
            stream.put(list(self._early.kept))
        self._run.fanout.add(stream)
        return stream

    # --- asking ------------------------------------------------------------------------------------------

    async def send(self, command: Command) -> CommandEnded | None:
        """Send any command. Comes back with the agent's answer, if it is one that the agent answers."""
        if isinstance(command, commands.Close):
            await self.close()
            return None
        if isinstance(command, Answer | AnswerQuestion | Reply):
            self._respond(Decision(command))
            return None
        stream = EventStream()
        self._run.fanout.add(stream)
        id = self._say(command)
        if not isinstance(command, self._run.machine.awaited):
            return None
        self._waiting.add(id)
        try:
            async for event in stream:
                if isinstance(event, CommandEnded) and event.request_id == id:
                    return event
        finally:
            self._waiting.discard(id)
        raise self._run.gone(f"it answered {command.__struct_config__.tag}")

    async def steer(self, text: str, blocks: Sequence[ContentBlock] = ()) -> CommandEnded | None:
        """Say something into the open turn."""
        return await self.send(commands.Steer(text=text, blocks=list(blocks)))

    async def interrupt(self) -> CommandEnded | None:
        """Stop the open turn; the session lives on."""
        return await self.send(commands.Interrupt())

    async def set_mode(self, mode: str) -> CommandEnded | None:
        return await self.send(commands.SetMode(mode=mode))

    async def set_model(self, model: str) -> CommandEnded | None:
        return await self.send(commands.SetModel(model=model))

    async def set_option(self, option: str, value: Any) -> CommandEnded | None:
        return await self.send(commands.SetOption(option=option, value=value))

    async def compact(self, instructions: str | None = None) -> CommandEnded | None:
        """Ask the agent to shorten its context."""
        return await self.send(commands.Compact(instructions=instructions))

    def _next_id(self) -> str:
        return f"dragoman-{next(self._ids)}"

    def _say(self, command: Command, note: notes.Note | None = None) -> str:
        """Send it now; its id."""
        if command.needs not in self._plan.capabilities:
            raise Unsupported(self.agent, command.needs)
        if self._group is None:
            raise UsageError("the session is not open: use it with `async with`")
        if self._run.exit is not None:
            raise self._run.gone(f"it could be sent {command.__struct_config__.tag}")
        id = command.id or self._next_id()
        self._run.say(structs.replace(command, id=id), note)
        if isinstance(command, Prompt):
            self._waiting.add(id)
        return id

    def _busy(self) -> bool:
        """A turn is open, or something we sent has not been taken up."""
        turn_of = self._run.machine.turn_of
        self._waiting = {id for id in self._waiting if turn_of(id) is None}
        return bool(self._run.standing.turns or self._waiting)

    # --- answering ---------------------------------------------------------------------------------------

    async def answer(self, request: str, decision: Literal["allow", "deny"], **fields: Any) -> bool:
        """Answer a permission request by hand. False if it is no longer asked."""
        return self._respond(Decision(Answer(request=request, decision=decision, **fields)))

    async def answer_question(
        self,
        request: str,
        answers: dict[str, Any] | None = None,
        action: Literal["accepted", "declined", "cancelled"] = "accepted",
    ) -> bool:
        """Answer a question by hand. False if it is no longer asked."""
        return self._respond(Decision(AnswerQuestion(request=request, action=action, answers=answers or {})))

    async def reply(self, request: str, result: Any = None, error: str | None = None) -> bool:
        """Answer a host call by hand. False if it is no longer asked."""
        return self._respond(Decision(Reply(request=request, result=result, error=error)))

    def _respond(self, decision: Decision) -> bool:
        response = decision.response
        if response.request not in self._run.standing.requests:
            return False
        note = None
        if isinstance(response, Answer):
            note = notes.Decided(request=response.request, by=decision.by, rule=decision.rule)
        self._say(response, note)
        return True

    def _attend(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if (decision := policy.settled(self._approve, request)) is not None:
                self._try_to_respond(decision)
            elif self._handler is None:
                self._try_to_respond(handling.nobody(request))
            else:
                self._run.tasks.start_soon(self._ask, self._handler, request)

    async def _ask(self, handler: Handler, request: Request) -> None:
        try:
            verdict = await handling.ask(handler, request, self)
            decision = handling.decision(request, verdict) if verdict is not None else None
        except Exception as error:
            log.exception("the handler failed on %s %s", request.__struct_config__.tag, request.request_id)
            decision = handling.failed(request, error)
        if decision is not None and self._run.standing.waits(request):
            self._try_to_respond(decision)

    def _try_to_respond(self, decision: Decision) -> None:
        try:
            self._respond(decision)
        except DragomanError as error:
            log.warning("%s could not be answered: %s", self.agent, error)
