"""The machine: the sans-I/O speaker of a dialect.

Frames in, events and lines out. `receive` alone makes events and changes what is known, for frames of both
directions, so that a replay of the frames gives the same events as the live run. It has no clock (time is in
the frame), no randomness (ids are counters) and never raises, whatever the agent wrote.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from msgspec import Struct, structs

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Command, Compact, Prompt
from dragoman._model.errors import Unsupported
from dragoman._model.events import Event, NativeInvalid, NativeUnknown
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._model.sessions import SessionInfo
from dragoman._wire import note_frames
from dragoman._wire.jsontext import Invalid, Unknown
from dragoman._wire.ledger import Ledger
from dragoman._wire.redacted_lines import RedactedLines
from dragoman._wire.redaction import Redactor

_STRANGERS = frozenset((Invalid, Unknown))
STDERR_TAIL_LINES = 20
STDERR_TAIL_BYTES = 8_000


class StartOptions(Struct, frozen=True, kw_only=True):
    """How a run is to be spoken. None of it is needed to replay one: what came of it is in the frames."""

    opening: Any = None
    """What the opening lines shall say, in the dialect's own terms; None: as little as it can."""
    opens_session: bool = True
    """The opening lines open a session too; on a connection of several, OpenSession opens each."""
    offers: frozenset[str] = frozenset()
    """What the agent may ask its client to do: `fs`, `terminal`."""
    seed: str = ""
    """Makes the ids of our messages unlike those of any other run."""
    keeps_lines: bool = False
    """The first event of each frame that the agent wrote carries its exact text."""
    redactor: Redactor | None = None
    """Keeps secrets out of `stderr_tail`, which is shown, logged and passed on; None: the tail is exact."""


class Output(Struct, gc=False):
    """What a machine has to say: events for us, lines for the agent (answers owed at once)."""

    events: Sequence[Event] = ()
    lines: Sequence[bytes] = ()


class Machine(ABC):
    """One run of one dialect. Dialects fill in `read`, `on_message` and the other `on_*`, and `lines_for`."""

    dialect: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    """What can be said in this dialect at all; an agent record may declare less, never more."""
    strict: ClassVar[bool] = False
    """Raise what a dialect stumbles over (in tests), rather than report it."""
    awaited: ClassVar[tuple[type[Command], ...]] = ()
    """Commands that the agent answers: their `command.ended` comes with the command's id."""
    tools_end_with_turns: ClassVar[bool] = False
    """The agent leaves tools open: those of a turn are closed with it."""
    handshakes: ClassVar[bool] = False
    """The agent answers what it is told first, and nothing can be done before it has."""
    session_first: ClassVar[bool] = False
    """The opening lines open a session, of which the agent tells before any prompt."""

    def __init__(self, agent: str = "") -> None:
        self.ledger: Ledger = Ledger(tools_end_with_turns=self.tools_end_with_turns)
        self.agent: str = agent
        self.options: StartOptions = StartOptions()
        self.resumed: bool = False
        """The run goes on with an earlier session."""
        self.finished: bool = False
        """The agent has said its last word: its process has only to exit."""
        self._held: deque[Prompt | Compact] = deque()
        """Prompts that cannot be sent yet."""
        self._prompts: dict[bytes, Prompt] = {}
        """Prompts on their way, by the line that says them."""
        self._turn_of: dict[str, int] = {}
        """The turns that took prompts, by the prompt's id."""
        self._untaken: dict[str, str | None] = {}
        """The user's messages that were sent and that no turn has taken: their texts, by message id."""
        self._messages_sent = 0
        self._answers: list[bytes] = []
        self._stderr: deque[bytes] = deque(maxlen=STDERR_TAIL_LINES)
        self._stderr_lines: RedactedLines | None = None

    # --- what the runtime and `convert` call -----------------------------------------------------------

    def start(self, launch: Launch, options: StartOptions | None = None) -> Output:
        """The run has begun: `run.started`, and the lines that open the conversation."""
        self.agent = launch.agent
        self.options = options or self.options
        redactor = self.options.redactor
        self._stderr_lines = RedactedLines(redactor) if redactor is not None else None
        self.resumed = launch.resume is not None
        self.ledger.keeps_lines = self.options.keeps_lines
        self.ledger.begin(launch)
        self.on_start(launch)
        return self._output()

    def receive(self, frame: Frame) -> Output:
        """One line of traffic, of either direction."""
        if frame.dir != "out":
            return self._receive_other(frame)
        # What `Ledger.enter` does, for lines that the agent wrote: a call less for each (it took 0.12 µs).
        ledger = self.ledger
        if frame.t != ledger.at:
            ledger.clock(frame.t)
        ledger.frame, ledger.origin, ledger.frame_named = frame, "agent", False
        ledger.native_type = ledger.agent_time = None
        try:
            self.on_out(frame.line)
        except Exception as error:  # the last net: a line that a dialect stumbles over is reported
            self._stumbled(error)
        if not ledger.frame_named:
            if ledger.native_type is None:
                ledger.native_type = self.name_of(frame.line)
            ledger.name_frame()
        if self._held:
            self._release()
        if self._answers:
            return self._output()
        events, ledger.fresh = ledger.fresh, []  # what `take` does, without the call
        return Output(events)

    def _receive_other(self, frame: Frame) -> Output:
        """A line that the agent did not say."""
        self.ledger.enter(frame)
        try:
            self._on_other(frame)
        except Exception as error:
            self._stumbled(error)
        if self._prompts and (prompt := self._prompts.pop(frame.line, None)) is not None:
            self._turn_of[prompt.id or ""] = self.ledger.turn(prompt.session)
        return self._output()

    def _stumbled(self, error: Exception) -> None:
        if self.strict:
            raise error
        self.ledger.put(NativeInvalid(reason=f"not understood: {type(error).__name__}: {error}"))

    def _on_other(self, frame: Frame) -> None:
        if frame.dir == "in":
            self.on_in(frame.line)
        elif frame.dir == "err":
            line = self._stderr_lines.take(frame.line) if self._stderr_lines is not None else frame.line
            self._stderr.append(line[-STDERR_TAIL_BYTES:])
        else:
            self._note(frame.line)

    def _note(self, line: bytes) -> None:
        note = note_frames.read(line)
        if note is not None:
            self.ledger.note(note)
        if isinstance(note, note_frames.Stopping):
            self._held.clear()

    def end(self, exit: Exit) -> Output:
        """The run is over: everything open is closed, then `run.ended`."""
        tail = b"\n".join(self._stderr)[-STDERR_TAIL_BYTES:].decode("utf-8", "replace")
        if tail and exit.stderr_tail is None:
            exit = structs.replace(exit, stderr_tail=tail)
        self.ledger.leave(exit.t)
        self.on_end(exit)
        self.ledger.finish(exit)
        return self._output()

    def send(self, command: Command) -> list[bytes]:
        """The lines that say `command`. A prompt during a turn is held and comes out of `receive` later."""
        if command.needs not in self.capabilities:
            raise Unsupported(self.agent or self.dialect, command.needs)
        if isinstance(command, (Prompt, Compact)) and not self._may_go(command, self._held):
            self._held.append(command)
            return []
        return self._lines(command)

    def turn_of(self, prompt_id: str) -> int | None:
        """The number of the turn that took the prompt with this id; None while it is held."""
        return self._turn_of.get(prompt_id)

    @property
    def ready(self) -> bool:
        """The agent has answered the opening lines: what it tells of itself before the first prompt is known."""
        told = not (self.session_first and self.options.opens_session) or self.ledger.session is not None
        return self.ledger.ready and told

    def busy(self, session: str | None = None) -> bool:
        """Whether a turn is open or one is still to come of what we sent: in that session, else in any."""
        held = any(session is None or command.session in (session, None) for command in self._held)
        return held or bool(self._prompts) or bool(self._untaken) or self.ledger.busy(session)

    def drop_held(self, session: str) -> None:
        """The session is about to be left: what was held for it is not sent any more."""
        self._held = deque(command for command in self._held if command.session != session)

    @property
    def takes_add_dirs(self) -> bool | None:
        """Whether the agent can do as it was asked with `add_dirs`; None while it has not said so."""
        return True

    # --- what a dialect fills in -----------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:  # noqa: B027
        """Owe the lines that open the conversation."""

    @abstractmethod
    def read(self, line: bytes) -> Iterable[Any]:
        """The messages on a line that the agent wrote, in the dialect's own types, Unknown or Invalid."""

    @abstractmethod
    def on_message(self, message: Any) -> None:
        """A message of the agent's. What makes no event becomes `native.known`."""

    def name_of(self, line: bytes) -> str | None:
        """What a line that made no event is called, if no message of it said so."""
        return None

    def on_in(self, line: bytes) -> None:  # noqa: B027
        """A line the client wrote."""

    def on_end(self, exit: Exit) -> None:  # noqa: B027
        """The last word before the books are closed."""

    def lines_for(self, command: Command) -> list[bytes]:
        """The lines that say `command`; only asked for what `capabilities` names."""
        raise Unsupported(self.agent or self.dialect, command.needs)

    def sessions_in(self, result: Any) -> tuple[list[SessionInfo], str | None]:
        """The sessions in the answer to ListSessions, and where the next page begins, if there is one."""
        return [], None

    def takes_prompts(self, session: str | None) -> bool:
        """Whether a prompt can be sent now; else it is held. An agent may begin a turn of its own for a message that
        came too late for its turn: no prompt is sent before that one is taken, else it would get its answer."""
        return not self._untaken and not self.ledger.busy(session)

    # --- what a dialect calls --------------------------------------------------------------------------

    def owe(self, line: bytes) -> None:
        """Answer at once. In a replay these are dropped: the answers are frames already."""
        self._answers.append(line)

    def new_message_id(self) -> str:
        """The id of a message of ours, where the agent takes one: a uuid, made of the run's seed and a counter."""
        self._messages_sent += 1
        digest = sha256(f"{self.options.seed}/{self._messages_sent}".encode()).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"

    # ---------------------------------------------------------------------------------------------------

    def on_out(self, line: bytes) -> None:
        """A line the agent wrote."""
        if line.isspace() or not line:
            self.ledger.native_type = "blank"
            return
        for message in self.read(line):
            if type(message) in _STRANGERS:
                self.take(message)
            else:
                self.on_message(message)

    def take(self, message: Any) -> None:
        """A message of the agent's, or what stands in the place of one."""
        kind = type(message)
        if kind is Invalid:
            self.ledger.put(NativeInvalid(reason=message.reason))
        elif kind is Unknown:
            self.ledger.put(NativeUnknown(native_type=message.native_type))
        else:
            self.on_message(message)

    def _may_go(self, command: Prompt | Compact, ahead: Iterable[Prompt | Compact]) -> bool:
        """Prompts of one session keep their order; those of another one do not wait for them. One that names no
        session, since none was known yet, may be for any."""
        queued = any(other.session in (command.session, None) or command.session is None for other in ahead)
        return not queued and self.takes_prompts(command.session)

    def _release(self) -> None:
        """Let go of held prompts, one for each session whose turn has ended."""
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


def play(
    frames: Iterable[Frame],
    machine: Machine,
    launch: Launch,
    exit: Callable[[], Exit] = Exit,
    options: StartOptions | None = None,
) -> Iterator[Event]:
    """The events of frames that were kept. What the machine would answer is dropped: the answers are frames already.
    `exit` is asked for after the last frame."""
    yield from machine.start(launch, options).events
    for frame in frames:
        yield from machine.receive(frame).events
    yield from machine.end(exit()).events
