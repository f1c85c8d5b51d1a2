"""InsightsEvents back into canonical events, as far as they carry.

Where every line has the agent's own line in `raw`, and those tell the same, they are read instead (see `raws`). Else
each line is a frame of the dialect `insights`: what the model does not say is left out or, where canonical streams
always have it (turns, the ends of tools), synthesized. Ids and times stay those of the lines.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._projections.insights import content, counts, requests, sessions, turns
from dragoman._projections.insights.project import COMMANDS, ITEM, NAME, RAW
from dragoman._projections.insights.raws import reread
from dragoman._projections.stamps import STAMPS
from dragoman._wire.ledger import Ledger

_decoder: "msgspec.json.Decoder[m.AnyInsightsEvent]" = msgspec.json.Decoder(m.AnyInsightsEvent)
_BOUNDARIES: Final = ("messageStart", "messageStop", "blockStart", "blockStop")
_PLANS: Final = ("acp.planEntries", "codex.todoItems")

Line = tuple[Frame, m.InsightsEvent | str]
"""A line with its item, or with the reason why it is none."""


def read(lines: Iterable[bytes]) -> Iterator[Event]:
    """The canonical events that lines of InsightsEvents tell of. A line that is none is told as such."""
    parsed = (
        (frame := Frame(number, "out", line.rstrip(b"\r\n")), _item(frame.line))
        for number, line in enumerate(lines, 1)
    )
    first = next(parsed, None)
    if first is None:
        yield from Reading("").end()
        return
    rest: Iterable[Line] = chain((first,), parsed)
    if isinstance(first[1], m.InsightsEvent) and first[1].raw is not None:
        rest = list(rest)
        events = reread([item for _, item in rest])
        if events is not None:
            yield from events
            return
    reading = Reading(first[1].provider if isinstance(first[1], m.InsightsEvent) else "")
    for frame, item in rest:
        yield from reading.line(frame, item)
    yield from reading.end()


def _item(line: bytes) -> m.InsightsEvent | str:
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return str(error)


class Run(Struct):
    """Deltas whose text has not come whole."""

    id: str
    block: int | None
    parts: list[str] = field(default_factory=list)


class Reading:
    """One file being read, line by line."""

    def __init__(self, agent: str) -> None:
        self._ledger = Ledger()
        self._facts: dict[str, dict[str, Any]] = {}
        self._calls: dict[tuple[str, str], m.ToolInvocationEvent] = {}
        self._done: set[tuple[str, str]] = set()
        """Calls that have ended. One that begins again is history, which an agent plays back under the same ids."""
        self._runs: dict[tuple[str, str | None, str], Run] = {}
        self._texts = 0
        self._rules: dict[type[m.InsightsEvent], Callable[[Any], Event]] = {
            m.SessionInitEvent: self._session_init,
            m.SessionStatusEvent: _status,
            m.TextEvent: self._text,
            m.UserInputEvent: self._user_input,
            m.ToolInvocationEvent: self._invocation,
            m.ToolCompletionEvent: self._completion,
            m.SubagentSpawnEvent: _spawn,
            m.SubagentCompleteEvent: _complete,
            m.TurnCompleteEvent: _turn_complete,
            m.ContextCompactionEvent: _compaction,
            m.PermissionRequestEvent: self._permission,
            m.StreamDeltaEvent: self._delta,
            m.ConfigOptionsEvent: lambda item: ev.SessionOptions(options=item.config_options),
            m.AvailableCommandsEvent: _commands,
            m.SessionModeEvent: _mode,
            m.UsageUpdateEvent: _usage,
            m.RateLimitUpdateEvent: requests.rate_limit_of,
        }
        self._ledger.begin(Launch(agent=agent, dialect=NAME))

    def line(self, frame: Frame, item: m.InsightsEvent | str) -> list[Event]:
        ledger = self._ledger
        ledger.enter(frame)
        if isinstance(item, str):
            ledger.put(ev.NativeInvalid(reason=item))
        else:
            if item.session_id:
                ledger.name_session(item.session_id)
            ledger.agent_time = item.timestamp
            self._take(item)
        ledger.name_frame()
        return ledger.take()

    def end(self) -> list[Event]:
        self._ledger.leave(None)
        self._ledger.finish(Exit())
        return self._ledger.take()

    def _take(self, item: m.InsightsEvent) -> None:
        event = self._rules[type(item)](item)
        event.ext = {
            **(item.extensions or {}),
            **event.ext,
            STAMPS: [[item.id, item.timestamp]],
            **({RAW: item.raw} if item.raw is not None else {}),
        }
        if isinstance(item, _IN_TURNS) and not self._ledger.busy(self._ledger.current):
            self._ledger.put(_opening(item))
        if isinstance(item, m.ToolInvocationEvent):
            self._hush(item.session_id, item.parent_call_id)
        self._ledger.put(event)

    # --- what is said ------------------------------------------------------------------------------------

    def _session_init(self, item: m.SessionInitEvent) -> Event:
        started = sessions.started(item)
        facts, known = sessions.facts_of(started), self._facts.get(item.session_id)
        self._facts[item.session_id] = facts
        if known is None:
            return started
        return ev.SessionUpdated(**{name: value for name, value in facts.items() if value != known.get(name)})

    def _text(self, item: m.TextEvent) -> Event:
        ext, parent = item.extensions or {}, item.parent_call_id
        if item.kind == "plan" and any(key in ext for key in _PLANS):
            return ev.PlanUpdated(entries=_entries(item.text, ext), parent=parent)
        if item.kind == "error" and item.provider in ("codex", "acp"):
            return ev.Error(message=item.text)
        said = ev.Message(role="assistant", kind=item.kind, text=item.text, parent=parent, model=item.model)
        if "claude.isSynthetic" in ext or "claude.isReplay" in ext:
            said.role = "user"
            said.synthetic, said.echo = "claude.isSynthetic" in ext, "claude.isReplay" in ext
        run = self._runs.get((item.session_id, parent, item.kind))
        if run is not None and said.role == "assistant" and "".join(run.parts) == item.text:
            del self._runs[item.session_id, parent, item.kind]
            said.message_id, said.block = run.id, run.block
        else:
            said.message_id = self._next_id()
        return said

    def _user_input(self, item: m.UserInputEvent) -> Event:
        pictures = [ImageBlock(mime_type=image.media_type, data=image.data) for image in item.images or []]
        return ev.Message(
            role="user",
            text=item.text,
            blocks=list(pictures),
            synthetic=item.is_synthetic,
            message_id=self._next_id(),
        )

    def _delta(self, item: m.StreamDeltaEvent) -> Event:
        parent, block = item.parent_call_id, item.block_index
        if item.kind == "toolInput":
            return ev.Delta(
                kind="tool_input",
                text=item.json_delta or "",
                block=block,
                call_id=item.call_id,
                parent=parent,
            )
        if item.kind != "text" and item.kind != "thinking":
            mark = msgspec.structs.replace(item, raw=None, extensions=None)
            return ev.NativeKnown(
                native_type=f"stream_delta/{item.kind}", ext={ITEM: msgspec.to_builtins(mark)}, parent=parent
            )
        key = (item.session_id, parent, item.kind)
        run = self._runs.get(key)
        if run is None or run.block != block:
            run = self._runs[key] = Run(self._next_id(), block)
        run.parts.append(item.text_delta or "")
        return ev.Delta(
            kind=item.kind,
            text=item.text_delta or "",
            message_id=run.id,
            block=block,
            call_id=item.call_id,
            parent=parent,
        )

    def _hush(self, session: str, parent: str | None) -> None:
        """Something else comes: what was said so far in deltas is a message, though none was told."""
        for key in [key for key in self._runs if key[:2] == (session, parent)]:
            run, kind = self._runs.pop(key), key[2]
            self._ledger.put(
                ev.Message(
                    role="assistant",
                    kind="thinking" if kind == "thinking" else "text",
                    text="".join(run.parts),
                    message_id=run.id,
                    block=run.block,
                    parent=parent,
                    synthesized=True,
                )
            )

    def _next_id(self) -> str:
        self._texts += 1
        return f"text-{self._texts}"

    # --- tools and requests ------------------------------------------------------------------------------

    def _invocation(self, item: m.ToolInvocationEvent) -> Event:
        """One that was told before is told anew."""
        key = (item.session_id, item.call_id)
        known, self._calls[key] = self._calls.get(key), item
        places = [ev.Location(path=path) for path in item.locations or []]
        if known is not None:
            return ev.ToolUpdated(
                call_id=item.call_id,
                title=item.title if item.title != known.title else None,
                input=item.input if item.input != known.input else None,
                locations=places if item.locations != known.locations else [],
                parent=item.parent_call_id,
                replay=key in self._done,
            )
        return ev.ToolStarted(
            call_id=item.call_id,
            name=item.tool_name,
            kind=item.kind,
            title=item.title,
            input=item.input,
            locations=places,
            model=item.model,
            parent=item.parent_call_id,
            replay=key in self._done,
        )

    def _completion(self, item: m.ToolCompletionEvent) -> Event:
        key = (item.session_id, item.call_id)
        known, again = self._calls.pop(key, None), key in self._done
        self._done.add(key)
        text = item.output if isinstance(item.output, str) else None
        code = item.output.get("exit_code") if isinstance(item.output, dict) else None
        status: Any = (item.extensions or {}).get(f"{item.provider}.status")
        if status not in ("declined", "skipped", "abandoned"):
            status = item.status
        return ev.ToolEnded(
            call_id=item.call_id,
            status=status,
            output=text,
            structured=None if text is not None else item.output,
            content=content.read(item.content or []),
            error=ev.ErrorInfo(message=text or "the tool failed") if item.is_error else None,
            exit_code=code if type(code) is int and item.provider == "codex" else None,
            parent=known.parent_call_id if known is not None else None,
            replay=again,
        )

    def _permission(self, item: m.PermissionRequestEvent) -> Event:
        if item.request_id in self._ledger.requests:  # asked again: it was answered in between
            self._ledger.put(
                ev.PermissionResolved(request_id=item.request_id, outcome="allowed", synthesized=True)
            )
        question = requests.question_of(item)
        if question is not None:
            return question
        return ev.PermissionRequested(
            request_id=item.request_id,
            call_id=item.tool_use_id,
            tool_name=item.tool_name,
            kind=item.tool_kind,
            input=item.tool_input,
            reason=item.reason,
            blocked_path=item.blocked_path,
            suggestions=[msgspec.to_builtins(suggestion) for suggestion in item.suggestions or []],
        )


_IN_TURNS: Final = (
    m.TextEvent,
    m.UserInputEvent,
    m.ToolInvocationEvent,
    m.ToolCompletionEvent,
    m.SubagentSpawnEvent,
    m.SubagentCompleteEvent,
    m.PermissionRequestEvent,
    m.StreamDeltaEvent,
)
"""What is said inside turns only."""


def _opening(item: m.InsightsEvent) -> ev.TurnStarted:
    if isinstance(item, m.UserInputEvent) and not item.is_synthetic:
        return ev.TurnStarted(prompt=item.text)
    return ev.TurnStarted(synthesized=True)


def _status(item: m.SessionStatusEvent) -> Event:
    if item.provider == "gemini" and item.status == "error":
        return ev.Error(message=item.message or "")
    return ev.SessionStatus(status=item.status, message=item.message)


def _entries(text: str, ext: dict[str, Any]) -> list[ev.PlanEntry]:
    """The lines of a plan, with what is said of each beside it."""
    native: list[Any] = next((ext[key] for key in _PLANS if isinstance(ext.get(key), list)), [])
    lines = text.split("\n") if text else []
    known = native if len(native) == len(lines) else [{}] * len(lines)
    return [ev.PlanEntry(text=line, status=_progress(item)) for line, item in zip(lines, known, strict=True)]


def _progress(native: Any) -> Any:
    item = native if isinstance(native, dict) else {}
    if item.get("status") in ("pending", "in_progress", "completed"):
        return item["status"]
    return "completed" if item.get("completed") is True else "pending"


def _spawn(item: m.SubagentSpawnEvent) -> Event:
    return ev.SubagentStarted(
        call_id=item.call_id,
        agent_type=item.agent_type,
        description=item.description,
        resume_id=item.resume_agent_id,
    )


def _complete(item: m.SubagentCompleteEvent) -> Event:
    return ev.SubagentEnded(
        call_id=item.call_id, agent_id=item.agent_id, status=item.status, summary=item.summary
    )


def _turn_complete(item: m.TurnCompleteEvent) -> Event:
    errors = item.errors or []
    said = errors[0] if errors else item.result or item.subtype
    return ev.TurnEnded(
        outcome=turns.outcome_of(item),
        reason=item.subtype,
        text=item.result,
        error=ev.ErrorInfo(message=said or "failed") if item.is_error else None,
        errors=errors,
        usage=counts.usage_of(item.provider, item.usage),
        model_usage=counts.model_usages(item.provider, item.model_usage),
        cost_usd=item.cost_usd,
        duration_ms=item.duration_ms,
        api_duration_ms=item.duration_api_ms,
        steps=item.num_turns,
        denials=[
            ev.Denial(tool_name=denial.tool_name, call_id=denial.tool_use_id, input=denial.tool_input)
            for denial in item.permission_denials or []
        ],
    )


def _compaction(item: m.ContextCompactionEvent) -> Event:
    return ev.ContextCompacted(trigger=item.trigger, before_tokens=item.pre_tokens, summary=item.summary)


def _commands(item: m.AvailableCommandsEvent) -> Event:
    named = [command for command in item.available_commands if isinstance(command, dict)]
    commands = [
        ev.SlashCommand(name=str(command.get("name", command.get("id", ""))).removeprefix("/"))
        for command in named
    ]
    return ev.SessionCommands(commands=commands, ext={COMMANDS: item.available_commands})


def _mode(item: m.SessionModeEvent) -> Event:
    modes = [
        ev.Mode(id=str(mode["id"]), name=mode["name"] if isinstance(mode.get("name"), str) else None)
        for mode in item.available_modes
        if isinstance(mode, dict) and "id" in mode
    ]
    return ev.SessionMode(mode=item.current_mode_id, modes=modes)


def _usage(item: m.UsageUpdateEvent) -> Event:
    parent = (item.extensions or {}).get("parent_tool_use_id")
    return ev.UsageUpdated(
        scope="call",
        usage=counts.step_usage(item.provider, item.step_usage),
        parent=parent if isinstance(parent, str) else None,
    )
