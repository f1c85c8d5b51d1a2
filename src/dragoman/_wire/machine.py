"""The machine: the sans-I/O speaker of a dialect.

Frames in, events and lines out. `receive` alone makes events and changes what is known, for frames of both
directions, so that a replay of the frames gives the same events as the live run. It has no clock (time is in
the frame), no randomness (ids are counters) and never raises, whatever the agent wrote.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from msgspec import Struct, field, structs

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Command, Compact, Prompt
from dragoman._model.errors import Unsupported
from dragoman._model.events import Event, NativeInvalid
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import note_frames
from dragoman._wire.ledger import Ledger

STDERR_TAIL_LINES = 20
STDERR_TAIL_BYTES = 8_000


class Output(Struct, gc=False):
    """What a machine has to say: events for us, lines for the agent (answers owed at once)."""

    events: Sequence[Event] = ()
    lines: list[bytes] = field(default_factory=list)


class Machine(ABC):
    """One run of one dialect. Dialects fill in the four `on_*` methods and `lines_for`."""

    dialect: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    """What can be said in this dialect at all; an agent record may declare less, never more."""
    strict: ClassVar[bool] = False
    """Raise what a dialect stumbles over (in tests), rather than report it."""
    awaited: ClassVar[tuple[type[Command], ...]] = ()
    """Commands that the agent answers: their `command.ended` comes with the command's id."""
    offers: frozenset[str] = frozenset()
    """What the agent may ask its client to do: `fs`, `terminal`. Set before the start."""

    def __init__(self, agent: str = "", *, native: bool = False) -> None:
        self.ledger = Ledger(native=native)
        self.agent = agent
        self.resumed = False
        """The run goes on with an earlier session."""
        self.finished = False
        """The agent has said its last word: its process has only to exit."""
        self.opens_session = True
        """The opening lines open a session too; on a connection of several, OpenSession opens each."""
        self._held: deque[Prompt | Compact] = deque()
        self._answers: list[bytes] = []
        self._stderr: deque[bytes] = deque(maxlen=STDERR_TAIL_LINES)
        self._prompts: dict[bytes, Prompt] = {}
        self._taken: dict[str, int] = {}

    # --- what the runtime, the player and `convert` call -----------------------------------------------

    def start(self, launch: Launch) -> Output:
        """The run has begun: `run.started`, and the lines that open the conversation."""
        self.agent = launch.agent
        self.resumed = launch.resume is not None
        self.ledger.begin(launch)
        self.on_start(launch)
        return self._output()

    def receive(self, frame: Frame) -> Output:
        """One line of traffic, of either direction."""
        ledger = self.ledger
        ledger.enter(frame)
        if frame.dir == "out":
            self._guarded(self.on_out, frame.line)
            ledger.name_frame()
            self._release()
        elif frame.dir == "in":
            self._guarded(self.on_in, frame.line)
            if self._prompts and (prompt := self._prompts.pop(frame.line, None)) is not None:
                self._taken[prompt.id or ""] = ledger.turn(prompt.session)
        elif frame.dir == "err":
            self._stderr.append(frame.line[-STDERR_TAIL_BYTES:])
        elif (note := note_frames.read(frame.line)) is not None:
            ledger.note(note)
            if isinstance(note, note_frames.Stopping):
                self._held.clear()
        return self._output()

    def _guarded(self, understand: Callable[[bytes], None], line: bytes) -> None:
        """The last net: a line that a dialect stumbles over is reported, and the run goes on."""
        try:
            understand(line)
        except Exception as error:
            if self.strict:
                raise
            self.ledger.put(NativeInvalid(reason=f"not understood: {type(error).__name__}: {error}"))

    def end(self, exit: Exit) -> Output:
        """The run is over: everything open is closed, then `run.ended`."""
        tail = b"\n".join(self._stderr)[-STDERR_TAIL_BYTES:].decode("utf-8", "replace")
        if tail and exit.stderr_tail is None:
            exit = structs.replace(exit, stderr_tail=tail)
        self.ledger.leave(exit.t)
        self.on_end(exit)
        self.ledger.finish(exit)
        return Output(self.ledger.take())

    def send(self, command: Command) -> list[bytes]:
        """The lines that say `command`. A prompt during a turn is held and comes out of `receive` later."""
        if command.needs not in self.capabilities:
            raise Unsupported(self.agent or self.dialect, command.needs)
        if isinstance(command, (Prompt, Compact)) and not self._may_go(command, self._held):
            self._held.append(command)
            return []
        return self._lines(command)

    def turn_of(self, command_id: str) -> int | None:
        """The number of the turn that took the prompt with this id; None while it is held."""
        return self._taken.get(command_id)

    def drop_held(self, session: str) -> None:
        """The session is about to be left: what was held for it is not sent any more."""
        self._held = deque(command for command in self._held if command.session != session)

    # --- what a dialect fills in -----------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:  # noqa: B027
        """Owe the lines that open the conversation."""

    @abstractmethod
    def on_out(self, line: bytes) -> None:
        """A line the agent wrote. What makes no event becomes `native.known`."""

    def on_in(self, line: bytes) -> None:  # noqa: B027
        """A line the client wrote."""

    def on_end(self, exit: Exit) -> None:  # noqa: B027
        """The last word before the books are closed."""

    def lines_for(self, command: Command) -> list[bytes]:
        """The lines that say `command`; only asked for what `capabilities` names."""
        raise Unsupported(self.agent or self.dialect, command.needs)

    def takes_prompts(self, session: str | None) -> bool:
        """Whether a prompt can be sent now; else it is held."""
        return not self.ledger.busy(session)

    def owe(self, line: bytes) -> None:
        """Answer at once. In a replay these are dropped: the answers are frames already."""
        self._answers.append(line)

    # ---------------------------------------------------------------------------------------------------

    def _may_go(self, command: Prompt | Compact, ahead: Iterable[Prompt | Compact]) -> bool:
        """Prompts of one session keep their order; those of another one do not wait for them. One that names no
        session, since none was known yet, may be for any."""
        queued = any(other.session in (command.session, None) or command.session is None for other in ahead)
        return not queued and self.takes_prompts(command.session)

    def _release(self) -> None:
        """Let go of held prompts, one for each session whose turn has ended."""
        if not self._held:
            return
        ahead: list[Prompt | Compact] = []
        for command in list(self._held):
            if self._may_go(command, ahead):
                self._held.remove(command)
                self._answers.extend(self._lines(command))
            ahead.append(command)

    def _lines(self, command: Command) -> list[bytes]:
        lines = self.lines_for(command)
        if isinstance(command, Prompt) and command.id is not None and lines:
            self._prompts[lines[-1]] = command
        return lines

    def _output(self) -> Output:
        lines, self._answers = self._answers, []
        return Output(self.ledger.take(), lines)
