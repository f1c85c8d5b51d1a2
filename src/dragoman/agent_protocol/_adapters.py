"""Protocol adapters, by specification 004 §7.4: each agent's command line for one prompt, and its lines as events.

A line can mean several events, and what it means depends on those before it. So an adapter reads one stream, from its
first line on; `parse_event` is the specification's call, and `parse_events` leaves nothing out.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar, cast

from dragoman._agents import AGENTS
from dragoman._dialects import machine_for
from dragoman._dialects.agent_event.messages import AgentEvent, SessionEndedEvent
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._projections import agent_event
from dragoman._wire.jsontext import parse
from dragoman._wire.machine import StartOptions
from dragoman.agent_protocol._config import ApprovalMode, SandboxMode, SessionConfig, meant
from dragoman.agent_protocol._errors import AgentError, AgentErrorType, agent_error
from dragoman.agent_protocol._transport import Transport


class ProtocolAdapter(ABC):
    """One stream of an agent's lines. With `extended`, events come that the schema of the specification does not have."""

    agent: ClassVar[str]
    dialect: ClassVar[str]
    last_lines: ClassVar[frozenset[str]]
    """The types of lines that end a session, by the specification; what follows is another stream of the same session."""

    def __init__(self, *, extended: bool = False) -> None:
        self._extended = extended
        self._streams = 0
        self._over = True

    def _begin(self) -> list[AgentEvent]:
        self._over = False
        self._streams += 1
        self._frames = 0
        self._machine = machine_for(self.dialect)
        self._projector = agent_event.projector(extended=self._extended)
        launch = Launch(agent=self.agent, dialect=self.dialect)
        return self._shown(self._machine.start(launch, StartOptions()).events)

    @property
    def executable(self) -> str:
        """The name of its program."""
        return AGENTS[self.agent].executable

    @abstractmethod
    def build_args(self, config: SessionConfig) -> list[str]:
        """The arguments of a process that works on one prompt and writes what `parse_event` reads. Raises AgentError for
        what the agent cannot do."""

    def parse_event(self, line: str) -> AgentEvent | None:
        """The event that a line means; None if it means none. Of several it is the end of the session, else the first:
        `parse_events` has all."""
        events = self.parse_events(line)
        ends = (event for event in events if isinstance(event, SessionEndedEvent))
        return next(ends, events[0] if events else None)

    def parse_events(self, line: str) -> list[AgentEvent]:
        """All events that a line means. Never raises, whatever the line."""
        shown = self._begin() if self._over else []
        self._frames += 1
        text = line.rstrip("\r\n").encode("utf-8", "surrogatepass")
        shown += self._shown(self._machine.receive(Frame(self._frames, "out", text, None, True)).events)
        message = parse(text)
        last = isinstance(message, dict) and message.get("type") in self.last_lines
        return shown + self.end(None) if last else shown

    def end(self, exit_code: int | None = 0) -> list[AgentEvent]:
        """What is left to say once the process has exited: Codex says nothing of the end of a session."""
        if self._over:
            return []
        self._over = True
        shown = self._shown(self._machine.end(Exit(code=exit_code)).events)
        return shown + cast("list[AgentEvent]", self._projector.end())

    async def events(self, transport: Transport) -> AsyncIterator[AgentEvent]:
        """Everything that a transport's lines mean, to the end."""
        async for line in transport.start():
            for event in self.parse_events(line):
                yield event
        for event in self.end():
            yield event

    def _shown(self, events: Sequence[Event]) -> list[AgentEvent]:
        items = cast("list[AgentEvent]", [item for event in events for item in self._projector.feed(event)])
        for item in items if self._streams > 1 else ():
            item.id = f"{item.id}.{self._streams}"
        return items

    def _planned(self, config: SessionConfig) -> list[str]:
        """The arguments of the dialect that takes its prompt on the command line."""
        try:
            return AGENTS[self.agent].plan(meant(config), self.executable, self.dialect).argv[1:]
        except DragomanError as error:
            raise agent_error(error) from error


class ClaudeAdapter(ProtocolAdapter):
    """`claude -p --output-format stream-json`."""

    agent = "claude"
    dialect = "claude_stream"
    last_lines: ClassVar[frozenset[str]] = frozenset(("result",))

    _MODES: ClassVar = {
        ApprovalMode.ask: ["--permission-mode", "default"],
        ApprovalMode.askDangerous: ["--permission-mode", "default"],
        ApprovalMode.autoEdit: ["--permission-mode", "acceptEdits"],
        ApprovalMode.autoAll: ["--dangerously-skip-permissions"],
    }
    """Nobody can be asked: what would be asked is denied."""

    def build_args(self, config: SessionConfig) -> list[str]:
        if config.sandbox_mode not in (SandboxMode.none, SandboxMode.fullAccess):
            hint = "no argument of claude -p holds it; AgentClient does"
            raise _refusal(f"sandbox_mode {config.sandbox_mode}: {hint}")
        args = ["-p", "--output-format", "stream-json", "--verbose"]
        try:
            args += self._MODES[ApprovalMode(config.approval_mode)]
        except ValueError as error:
            raise _refusal(f"approval_mode: {error}") from error
        single = {"--resume": config.session_id, "--model": config.model, "--max-turns": config.max_turns}
        several = {"--allowedTools": config.allowed_tools, "--disallowedTools": config.blocked_tools}
        for flag, value in single.items():
            args += [flag, str(value)] if value is not None else []
        for flag, values in several.items():
            args += [flag, ",".join(values)] if values else []
        return [*args, "--", config.prompt]


def _refusal(why: str) -> AgentError:
    return AgentError(AgentErrorType.unknown, why, agent_type="claude")


class CodexAdapter(ProtocolAdapter):
    """`codex exec --json`."""

    agent = "codex"
    dialect = "codex_exec"
    last_lines: ClassVar[frozenset[str]] = frozenset(("turn.failed",))

    def build_args(self, config: SessionConfig) -> list[str]:
        return self._planned(config)


class GeminiAdapter(ProtocolAdapter):
    """`gemini --output-format stream-json`."""

    agent = "gemini"
    dialect = "gemini_stream"
    last_lines: ClassVar[frozenset[str]] = frozenset(("result",))

    def build_args(self, config: SessionConfig) -> list[str]:
        return self._planned(config)
