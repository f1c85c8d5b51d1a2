"""One run of an agent: its bytes become frames, recorded and interpreted; our lines go the same way.

    up    chunk -> lines -> frames -> machine.receive -> recorder -> events -> all who listen
    down  command -> machine.send -> lines -> frames -> recorder -> written -> machine.receive

Neither way has an await in it, so frames are numbered, recorded and understood in one order, and two prompts
at the same moment cannot get in each other's way. The frames of one read are recorded together: before anybody hears
of them, and before a line goes to the agent.
"""

import os
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final, Protocol, cast

import anyio
from anyio.abc import TaskGroup
from msgspec import structs

from dragoman._model.commands import Command, Response
from dragoman._model.errors import (
    DragomanError,
    ProcessExited,
    SpawnFailed,
    TimedOut,
    Unsupported,
    UsageError,
)
from dragoman._model.events import AnyEvent, CommandEnded, Event, Request, RunEnded
from dragoman._model.frames import Direction, Exit, Frame, Launch, StopReason
from dragoman._runtime import own_files
from dragoman._runtime.log import log
from dragoman._runtime.plan import LaunchPlan
from dragoman._runtime.process import played
from dragoman._runtime.process.child import Child, spawn
from dragoman._runtime.process.pipes import follow, pump
from dragoman._runtime.streams import EventStream, Fanout
from dragoman._wire import note_frames
from dragoman._wire.lines import LineSplitter

PIPE_GRACE: Final = 2.0
"""Seconds that pipes may stay open behind an agent that has exited: some child of its own holds them."""
LONG_LINE: Final = 1 << 20
"""Bytes of a line that is recorded before it is interpreted: there are fewer copies of it at a time."""


class FrameSink(Protocol):
    """Where a run is recorded."""

    def begin(self, launch: Launch) -> None: ...
    def frames(self, frames: Sequence[Frame]) -> None: ...
    def end(self, exit: Exit) -> None: ...
    def close(self) -> None: ...


class Run:
    """A run from its start to its end. `attend` hears of requests that want an answer."""

    child: Child
    tasks: TaskGroup
    finished: anyio.Event
    """The agent has said its last word: the turn of a one-shot is over, or its stdout is closed."""
    ended: anyio.Event

    def __init__(
        self, plan: LaunchPlan, recorder: FrameSink | None, attend: Callable[[Sequence[Request]], None]
    ) -> None:
        self.plan = plan
        self.machine = plan.machine
        self.ledger = plan.machine.ledger
        """What is open: turns, tools, requests."""
        self.fanout = Fanout()
        self.result: RunEnded | None = None
        """The last event, once the run is over."""
        self.exit: Exit | None = None
        self.stopping: StopReason | None = None
        """Why we stop it, once we do."""
        self.stop_detail: str | None = None
        self.helped = False
        """It was made to exit."""
        self.recording_error: Exception | None = None
        self.last_frame_at = 0.0
        """When the last frame passed, on the monotonic clock."""
        self._recorder = recorder
        self._unrecorded: list[Frame] = []
        """Frames that the recorder has not got yet."""
        self._unheard: list[Event] = []
        """Events that nobody has heard yet."""
        self._attend = attend
        self._is_open = False
        self._start_time = 0.0
        self._frames = 0
        self._ids = count(1)
        self._answers: dict[str, EventStream] = {}
        """The commands that are not answered yet, by id, and who waits for that."""

    def replan(self, plan: LaunchPlan) -> None:
        """Go by another plan, as long as nothing has started."""
        self.plan, self.machine, self.ledger = plan, plan.machine, plan.machine.ledger

    async def start(self) -> None:
        """Start the agent. Raises SpawnFailed, or what the recorder raises if it cannot record."""
        plan = self.plan
        try:
            self._write_files()
            self.child = await self._begun()
            self._start_time = self.last_frame_at = time.monotonic()
            launch = self._launch()
            self._begin_recording(launch)
        except BaseException:
            self.call_off()
            raise
        self.finished, self.ended = anyio.Event(), anyio.Event()
        self._is_open = True
        output = self.machine.start(launch, plan.options)
        self._publish([*output.events, *self._pass("in", output.lines, 0.0)])
        if plan.one_shot:
            self.child.stdin.end()

    async def _begun(self) -> Child:
        plan = self.plan
        if plan.played is not None:
            return played.start(plan.played)
        return await spawn(plan.argv, agent=plan.agent, cwd=plan.cwd, env=plan.env, spool=plan.spool)

    def call_off(self) -> None:
        """It will not start: let go of what was prepared."""
        if self._recorder is not None:
            self._recorder.close()
        own_files.remove(self.plan.files)
        self.fanout.end()

    def _write_files(self) -> None:
        try:
            own_files.write(self.plan.files)
        except OSError as error:
            why = f"a file for it cannot be written to {tempfile.gettempdir()} ({error.strerror})"
            raise SpawnFailed(f"{self.plan.agent} did not start: {why}", agent=self.plan.agent) from error

    def _launch(self) -> Launch:
        plan = self.plan
        return Launch(
            agent=plan.agent,
            dialect=plan.dialect,
            argv=plan.argv,
            cwd=plan.cwd or os.getcwd(),
            pid=self.child.pid,
            started=datetime.now(UTC),
            cli_version=plan.cli_version,
            tested_versions=plan.tested_versions,
            resume=plan.resume,
            config=plan.config,
        )

    # --- up ----------------------------------------------------------------------------------------------

    async def _listen(self, direction: Direction, scope: anyio.CancelScope) -> None:
        splitter = LineSplitter()

        def take(chunk: bytes) -> None:
            if lines := splitter.feed(chunk):
                self._publish(self._pass(direction, lines, self._clock()))
                if self.machine.finished or (self.plan.one_shot and not self.busy()):
                    self.finished.set()

        child = self.child
        try:
            with scope:
                if direction == "out" and self.plan.spool:
                    await follow(child.stdout, take, child.exited)
                else:
                    await pump(child.stdout if direction == "out" else child.stderr, take)
        finally:
            if (rest := splitter.close()) is not None:
                self._publish(self._pass(direction, [rest], self._clock(), eol=False))
            if direction == "out":
                self.finished.set()

    def _pass(
        self,
        direction: Direction,
        lines: Sequence[bytes],
        t: float,
        eol: bool = True,
        note: note_frames.Note | None = None,
    ) -> list[Event]:
        """Number and interpret lines of one direction; the events that they mean. Those for the agent are written on the
        way, before they are interpreted, and before the note that explains them is: it need not wait for that."""
        events: list[Event] = []
        noted = self._noted(note, t) if note is not None else None
        receive = self.machine.receive
        recording = self._recorder is not None
        for line in lines:
            self._frames += 1
            frame = Frame(self._frames, direction, line, t, eol)
            if recording:
                self._unrecorded.append(frame)
                if len(line) > LONG_LINE:
                    self._record()
            if direction == "in":
                self._record()
                self.child.stdin.put(line)
                if noted is not None:
                    events += receive(noted).events
                    noted = None
            output = receive(frame)
            if output.events:
                events += output.events
            if output.lines:
                events += self._pass("in", output.lines, t)
        if noted is not None:  # what it explains is not said on a line
            events += receive(noted).events
        return events

    def _noted(self, note: note_frames.Note, t: float) -> Frame:
        """A note, numbered, and to be recorded before what comes next."""
        self._frames += 1
        frame = Frame(self._frames, "note", note_frames.write(note), t)
        if self._recorder is not None:
            self._unrecorded.append(frame)
        return frame

    def _publish(self, events: Sequence[Event]) -> None:
        """Tell these to all who listen. Whoever asks is attended to first: the agent waits for that. What an answer given
        at once leads to is said together with the question, in its order."""
        self._record()
        self._unheard += events
        if self.ledger.unseen_requests:
            self._attend(self.ledger.take_requests())
        if self._unheard:
            heard, self._unheard = self._unheard, []
            if isinstance(heard[-1], RunEnded):
                self.result = heard[-1]
            self.fanout.put(cast("Sequence[AnyEvent]", heard))
            if self._answers:
                self._pass_answers(heard)

    def _pass_answers(self, events: Sequence[Event]) -> None:
        for event in events:
            if (
                type(event) is CommandEnded
                and (asked := self._answers.get(event.request_id or "")) is not None
            ):
                asked.put([event])

    def _clock(self) -> float:
        self.last_frame_at = time.monotonic()
        return round(self.last_frame_at - self._start_time, 6)

    # --- down --------------------------------------------------------------------------------------------

    def say(self, command: Command) -> str:
        """Send a command now; its id. Raises, before anything is sent, Unsupported and UsageError, and ProcessExited
        if nobody is there."""
        asked = isinstance(command, Response)  # what an agent asks, it can be answered
        if command.needs not in self.plan.capabilities and not asked:
            raise Unsupported(self.plan.agent, command.needs)
        if not self._is_open:
            raise UsageError("the session is not open: use it with `async with`")
        if self.exit is not None:
            raise self.exit_error(f"it could be sent {command.__struct_config__.tag}")
        id = command.id or self.next_id()
        lines = self.machine.send(command if command.id else structs.replace(command, id=id))
        t = self._clock()
        note = note_frames.of(command) if isinstance(command, Response) else None
        self._publish(self._pass("in", lines, t, note=note))
        return id

    def next_id(self) -> str:
        return f"dragoman-{next(self._ids)}"

    async def ask(self, command: Command) -> CommandEnded | None:
        """Send a command. Comes back with the agent's answer, if it is one that the agent answers."""
        if not isinstance(command, self.machine.awaited):
            self.say(command)
            return None
        id = command.id or self.next_id()
        answer = self._answers[id] = EventStream()
        try:
            self.say(structs.replace(command, id=id))
            async for event in answer:
                assert isinstance(event, CommandEnded)
                return event
        finally:
            del self._answers[id]
        raise self.exit_error(f"it answered {command.__struct_config__.tag}")

    def at_work(self, session: str | None = None) -> bool:
        """A turn is open or is still to come: in that session, else in any."""
        return (self.plan.one_shot and not self.ledger.had_turn) or self.machine.busy(session)

    def busy(self) -> bool:
        """A turn is open or is still to come, or a command is not answered."""
        return self.at_work() or bool(self._answers)

    def stop_for(self, reason: StopReason, detail: str | None = None) -> None:
        """Put on record why the run is about to be stopped."""
        self.stopping, self.stop_detail = reason, detail
        note = note_frames.Stopping(reason=reason, detail=detail)
        self._publish(self._pass("note", [note_frames.write(note)], self._clock()))

    # --- recording ---------------------------------------------------------------------------------------

    def _begin_recording(self, launch: Launch) -> None:
        """Who asked for a recording shall not work without one: a failure here ends the run at once."""
        try:
            if self._recorder is not None:
                self._recorder.begin(launch)
        except BaseException:
            self.child.kill()
            self.child.close()
            raise

    def _record(self) -> None:
        """Hand on the frames that nobody has heard of yet."""
        if not self._unrecorded:
            return
        frames, self._unrecorded = self._unrecorded, []
        if self._recorder is not None:
            try:
                self._recorder.frames(frames)
            except Exception as error:  # a full disk must not take the run with it
                self._give_up_recording(error)

    def _give_up_recording(self, error: Exception) -> None:
        log.warning("the recording ends here, the run goes on: %s", error)
        self.recording_error = error
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            with suppress(Exception):
                recorder.close()

    # --- life and end ------------------------------------------------------------------------------------

    async def live(self, companion: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Everything that goes on while the agent runs. Shielded: only the agent's end ends it, and `companion`."""
        child = self.child
        try:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as self.tasks:
                    self.tasks.start_soon(child.stdin.run)
                    self.tasks.start_soon(child.reap)
                    self.tasks.start_soon(companion)
                    await self._listen_to_the_end()
                    self._finish()
                    self.tasks.cancel_scope.cancel()
        except BaseException:
            child.kill()
            self._finish()
            raise
        finally:
            child.close()

    async def _listen_to_the_end(self) -> None:
        """Take in all that it says, then end what it started. Only an agent that exits by itself, with 0 and no
        turn open, may leave something running: it, or who asked it to, meant that to stay."""
        out, err = anyio.CancelScope(), anyio.CancelScope()
        async with anyio.create_task_group() as pumps:
            pumps.start_soon(self._listen, "out", out)
            pumps.start_soon(self._listen, "err", err)
            await self.child.exited.wait()
            if self.helped or self.child.code != 0:
                await self.child.end()
            for pipe in (err,) if self.plan.spool else (out, err):  # a file is read to its end, however long
                pipe.deadline = anyio.current_time() + PIPE_GRACE
        if self.ledger.busy() and not self.machine.finished:
            await self.child.end()

    def _finish(self) -> None:
        """The last words: how it exited, and what the machine makes of that."""
        if self.exit is not None:
            return
        child = self.child
        own_files.remove(self.plan.files)
        self.exit = Exit(code=child.code, signal=child.signal, reason=self.stopping, t=self._clock())
        self._record()
        if self._recorder is not None:
            try:
                self._recorder.end(self.exit)
                self._recorder.close()
            except Exception as error:
                self._give_up_recording(error)
        self._publish(self.machine.end(self.exit).events)
        if self.result is not None:
            self.exit = structs.replace(self.exit, stderr_tail=self.result.stderr_tail)
        self.fanout.end()
        for asked in self._answers.values():
            asked.end()
        self.ended.set()

    def exit_error(self, before: str) -> DragomanError:
        """What to raise for something that can no longer be: how it exited, or that it took too long, and its last words."""
        exit, result = self.exit or Exit(), self.result
        how = exit.signal or (f"code {exit.code}" if exit.code is not None else "unknown how")
        tail = (result.stderr_tail if result is not None else None) or ""
        said = f"; it said: {tail.strip()}" if tail.strip() else ""
        if self.stopping == "timeout":
            return TimedOut(f"{self.stop_detail}{said}", agent=self.plan.agent, native=tail or None)
        return ProcessExited(
            f"{self.plan.agent} exited ({exit.reason or how}) before {before}{said}",
            agent=self.plan.agent,
            exit_code=exit.code,
            native=tail or None,
        )
