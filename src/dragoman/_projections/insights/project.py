"""Canonical events as InsightsEvents, by the tables of specification 000 and the model's own.

Lost on the way: that a turn starts; a tool's progress and the output it streams; what became of a permission; retries,
hooks, logins, notices and Claude's own warnings; how the process ended, and its stderr; total and reasoning counts
(Gemini's stay in `gemini.stats`); error codes; line numbers of places; `switch_mode` as a kind; structured answers;
titles of sessions; content of messages that is not text; cumulative counts of a session; limits that name no
percentage. `declined`, `skipped` and `abandoned` tools are `cancelled`, with the word in `<provider>.status`.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct, field

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.content import text_of
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._projections import published
from dragoman._projections.insights import content, requests, sessions, tools, turns
from dragoman._projections.insights.boundaries import STREAMED, boundary
from dragoman._projections.insights.terminals import Terminals
from dragoman._projections.published import Profile
from dragoman._projections.stamps import Stamps
from dragoman._wire.native_line import NativeLine

_PRIVATE: Final = ("insights.", "agentEvent.", "codex.itemId", "codex.itemPhase")
"""How the keys of `ext` begin that are no native values of an agent's, or such as only Untether repeats."""
_TEXT_KINDS: Final[dict[str, m.TextKind]] = {
    "text": "text",
    "commentary": "text",
    "thinking": "thinking",
    "plan": "plan",
    "error": "error",
}
_UNFINISHED: Final = ("failed", "cancelled", "error")

_NO_LINE: Final = NativeLine()

Items = list[m.InsightsEvent]


class SessionState(Struct):
    """What is known of one session."""

    facts: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, m.ToolInvocationEvent] = field(default_factory=dict)
    """Tools that have not ended, as they were last told."""
    changes: dict[str, dict[str, ev.FileChanged]] = field(default_factory=dict)
    """What they do to files, by call and path."""
    spawned: set[str] = field(default_factory=set)
    last_step: dict[str, int] | None = None
    total: Usage | None = None
    window: int | None = None


class InsightsProjector:
    """One run as InsightsEvents."""

    def __init__(self, *, profile: Profile = "seed", extended: bool = False, vendor: str = "") -> None:
        """`extended` changes nothing: the model has no strict and wide form."""
        self._live = profile == "live"
        self._vendor = vendor
        self._provider: m.Provider = "acp"
        self._dialect: str | None = None
        self._agent: str | None = None
        """Both of the last event."""
        self._is_own = False
        """That event was read from this very model."""
        self._has_marks = False
        """It tells where messages and blocks begin and end."""
        self._ends_late = False
        """Its turns end with the process, after the line that says how."""
        self._stamps = Stamps()
        self._session = ""
        self._state = SessionState()
        """Of the session at hand."""
        self._sessions = {"": self._state}
        self._frame: int | None = None
        self._line = _NO_LINE
        """The line of that frame, where the stream has lines.

        No event has what is taken from it: `raw` is the line itself; where Claude's messages and blocks begin and end,
        `is_error` and `subtype` of its result and ACP's own form of a command are in no field of an event. To carry them
        there, each capture's events would have to grow by what only this model repeats."""
        self._result = _NO_LINE
        """The last `result` of a process of Gemini CLI, whose turn ends with the process."""
        self._terminals = Terminals()

    def feed(self, event: Event) -> list[Struct]:
        if event.dialect != self._dialect or event.agent != self._agent:
            self._hear(event.dialect, event.agent)
        if self._is_own:  # what was read from this very model is shown as it was
            return [*m.ITEMS.kept(event)]
        session, line, kind = event.session, event.line, type(event)
        if session and session != self._session:
            self._turn_to(session)
        if line is not None:
            self._frame, self._line = event.frame, NativeLine(line)
            if self._ends_late:
                self._keep_result()
        elif event.frame is None or event.frame != self._frame:
            self._frame, self._line = None, _NO_LINE
        handler = self._HANDLERS.get(kind)
        items: Items = handler(self, event) if handler is not None else []
        if event.ext:
            if kept := m.ITEMS.kept(event):
                self._stamps.enter(event)
                return [*kept]
            if items:  # the first is the one that the event's own native values belong to
                items[0].extensions = {**(items[0].extensions or {}), **_shown(event.ext)} or None
        if self._has_marks and (
            kind is ev.NativeKnown or (line is not None and self._line.may_say(STREAMED))
        ):
            mark = boundary(event, self._line)
            items = items if mark is None else [mark, *items]
        if items or event.time is not None or event.agent_time is not None:
            self._stamp(items, event)
        return [*items]

    def end(self) -> list[Struct]:
        return []

    encode = staticmethod(published.encode)

    # --- what every item carries -------------------------------------------------------------------------

    def _hear(self, dialect: str, agent: str) -> None:
        """Take note of who speaks, and whose tables apply: the dialect says it, since one agent may speak several."""
        self._dialect, self._agent, self._is_own = dialect, agent, dialect == m.DIALECT
        names = (dialect.partition("_")[0], agent, self._vendor)
        self._provider = next((name for name in names if name in m.PROVIDERS), "acp")
        self._has_marks, self._ends_late = dialect == "claude_stream", dialect == "gemini_stream"

    def _stamp(self, items: Items, event: Event) -> None:
        """Give the items of an event what they all carry. The time of one that has none is the last that was known."""
        stamps, provider, session = self._stamps, self._provider, self._session
        stamps.enter(event)
        raw: Any = self._line.field if items else None
        for item in items:
            item.provider = provider
            item.session_id = session
            item.id, item.timestamp = stamps.next(session)
            item.raw = raw

    def _keep_result(self) -> None:
        if self._line.may_say("result") and self._line.value.get("type") == "result":
            self._result = self._line

    def _turn_to(self, session: str) -> None:
        """Take note of the session at hand, if it is another one. One that had no name so far is that one."""
        unnamed = self._sessions.pop("", None)
        state = self._sessions.get(session)
        if state is None:
            state = self._sessions[session] = unnamed or SessionState()
        self._session, self._state = session, state

    # --- the session -------------------------------------------------------------------------------------

    def _session_started(self, event: ev.SessionStarted) -> Items:
        state = self._state
        state.facts = sessions.facts_of(event)
        init = sessions.init(state.facts)
        if self._provider == "acp" and event.capabilities:
            init.extensions = {"acp.capabilities": event.capabilities}
        items: Items = [init]
        if self._live and event.mode is not None:
            items += self._mode(ev.SessionMode(mode=event.mode, modes=event.modes))
        if self._live and event.options:
            items.append(m.ConfigOptionsEvent(config_options=event.options))
        return items

    def _session_updated(self, event: ev.SessionUpdated) -> Items:
        """Told anew if anything that it tells has changed."""
        state = self._state
        changed = {
            name: value for name, value in sessions.facts_of(event).items() if value != state.facts.get(name)
        }
        state.facts = {**state.facts, **changed}
        return [sessions.init(state.facts)] if changed else []

    def _status(self, event: ev.SessionStatus) -> Items:
        """A status that the model does not have is none, and above all no error."""
        if event.status not in m.STATUSES:
            return []
        status: Any = event.status
        return [m.SessionStatusEvent(status=status, message=event.message)]

    def _mode(self, event: ev.SessionMode) -> Items:
        if event.mode is None or not (self._live or self._provider in ("acp", "codex")):
            return []
        modes = [
            {"id": mode.id, "name": mode.name} if mode.name is not None else {"id": mode.id}
            for mode in event.modes
        ]
        return [m.SessionModeEvent(current_mode_id=event.mode, available_modes=modes)]

    def _commands(self, event: ev.SessionCommands) -> Items:
        commands = _at(self._line.value, "params", "update", "availableCommands")
        if not isinstance(commands, list):
            commands = [
                _without_none(name=c.name, description=c.description, hint=c.hint) for c in event.commands
            ]
        return [m.AvailableCommandsEvent(available_commands=commands)]

    def _compacted(self, event: ev.ContextCompacted) -> Items:
        if event.phase == "started":
            return [m.SessionStatusEvent(status="compacting")]
        if event.phase in _UNFINISHED:
            return []
        return [
            m.ContextCompactionEvent(
                trigger=event.trigger, pre_tokens=event.before_tokens, summary=event.summary
            )
        ]

    # --- what is said ------------------------------------------------------------------------------------

    def _message(self, event: ev.Message) -> Items:
        text = event.text if event.text is not None else text_of(event.blocks)
        if event.role == "user":
            return self._user(event, text)
        if event.role != "assistant" or (event.text is None and not text):
            return []
        if event.synthesized and not (self._live or self._provider == "acp"):
            return []
        kind = _TEXT_KINDS[event.kind]
        return [m.TextEvent(text=text, kind=kind, parent_call_id=event.parent, model=event.model)]

    def _user(self, event: ev.Message, text: str) -> Items:
        """What the user says is told once: as the client sent it, else as the agent repeats it."""
        if event.dialect == "claude_stream" and event.origin == "agent":
            return self._claude_user(event, text)
        if self._provider == "codex" and event.echo:
            return []
        repeated = self._provider == "acp" and event.origin == "agent"
        if repeated and event.echo and self._live:
            return []
        return [
            m.UserInputEvent(
                text=text, images=content.images(event.blocks), is_synthetic=event.synthetic or repeated
            )
        ]

    def _claude_user(self, event: ev.Message, text: str) -> Items:
        marks = {"claude.isSynthetic": event.synthetic, "claude.isReplay": event.echo}
        marked = {name: True for name, holds in marks.items() if holds}
        if not marked or not text:
            return []
        return [m.TextEvent(text=text, kind="text", parent_call_id=event.parent, extensions=marked)]

    def _delta(self, event: ev.Delta) -> Items:
        """`codex exec` repeats texts whole as they grow, which is no delta."""
        if event.role != "assistant" or (event.dialect == "codex_exec" and not self._live):
            return []
        delta = m.StreamDeltaEvent(
            kind="text", parent_call_id=event.parent, block_index=event.block, call_id=event.call_id
        )
        if event.kind == "tool_input":
            delta.kind, delta.json_delta = "toolInput", event.text
        elif event.kind == "text" or event.kind == "thinking":
            delta.kind, delta.text_delta = event.kind, event.text
        else:
            return []
        return [delta]

    def _plan(self, event: ev.PlanUpdated) -> Items:
        """Claude and Gemini plan with a tool, which is shown as such."""
        if self._provider not in ("acp", "codex"):
            return []
        lines = "\n".join(entry.text for entry in event.entries)
        return [m.TextEvent(text=lines, kind="plan", parent_call_id=event.parent)]

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> Items:
        state = self._state
        invocation = tools.invocation(self._provider, event)
        state.calls[event.call_id] = invocation
        if event.synthesized and not self._live:
            return []
        items: Items = [msgspec.structs.replace(invocation)]
        if self._provider == "claude" and event.name in tools.SUBAGENT_TOOLS:
            state.spawned.add(event.call_id)
            items.append(_spawn(event))
        return items

    def _tool_updated(self, event: ev.ToolUpdated) -> Items:
        """Told again if it is called for something else than was said; else there is nothing to tell."""
        self._terminals.embed(event.content)
        state = self._state
        call = state.calls.get(event.call_id)
        if call is None or event.late or self._provider not in ("acp", "codex"):
            return []
        title = event.title or call.title
        anew = msgspec.structs.replace(
            call,
            title=title,
            tool_name=title if self._provider == "acp" and title is not None else call.tool_name,
            input=tools.record(event.input) if event.input else call.input,
            locations=[place.path for place in event.locations] or call.locations,
        )
        if anew == call:
            return []
        state.calls[event.call_id] = anew
        return [msgspec.structs.replace(anew)]

    def _file_changed(self, event: ev.FileChanged) -> Items:
        if event.call_id is not None and self._provider == "codex":
            self._state.changes.setdefault(event.call_id, {})[event.path] = event
        return []

    def _tool_ended(self, event: ev.ToolEnded) -> Items:
        self._terminals.embed(event.content)
        state = self._state
        call = state.calls.pop(event.call_id, None)
        changes = list(state.changes.pop(event.call_id, {}).values()) if state.changes else []
        if event.synthesized and not self._live:
            return []
        return [tools.completion(self._provider, event, call, changes)]

    def _subagent_started(self, event: ev.SubagentStarted) -> Items:
        """Claude's is told with the tool call that starts it."""
        call_id = event.call_id or event.agent_id or ""
        if event.synthesized or call_id in self._state.spawned:
            return []
        self._state.spawned.add(call_id)
        return [
            m.SubagentSpawnEvent(
                call_id=call_id,
                agent_type=event.agent_type,
                description=event.description,
                is_resume=event.resume_id is not None and self._provider == "claude",
                resume_agent_id=event.resume_id,
            )
        ]

    def _subagent_ended(self, event: ev.SubagentEnded) -> Items:
        if event.synthesized:
            return []
        return [
            m.SubagentCompleteEvent(
                call_id=event.call_id or event.agent_id or "",
                agent_id=event.agent_id,
                status="error" if event.status == "failed" else event.status,
                summary=event.summary,
            )
        ]

    # --- what the agent asks -----------------------------------------------------------------------------

    def _permission(self, event: ev.PermissionRequested) -> Items:
        """Those that the agent decided by itself were asked of nobody."""
        if event.synthesized:
            return []
        provider, name = self._provider, event.tool_name
        call = self._state.calls.get(event.call_id) if event.call_id is not None else None
        return [
            m.PermissionRequestEvent(
                request_id=event.request_id,
                tool_name=tools.name_of(provider, name, event.title, event.kind),
                tool_kind=tools.kind_of(event.kind),
                tool_input=tools.permission_input(provider, event, call),
                tool_use_id=event.call_id,
                reason=event.reason,
                blocked_path=event.blocked_path,
                suggestions=requests.suggestions(event.suggestions),
            )
        ]

    def _question(self, event: ev.QuestionAsked) -> Items:
        """A form or a page that some server wants shown has no place in the tables."""
        if not event.questions and not self._live:
            return []
        return [
            m.PermissionRequestEvent(
                request_id=event.request_id,
                tool_name=m.QUESTION_TOOL,
                tool_kind="ask",
                tool_input=requests.question_input(event),
                tool_use_id=event.call_id,
            )
        ]

    # --- what it took, and what went wrong ---------------------------------------------------------------

    def _usage(self, event: ev.UsageUpdated) -> Items:
        state = self._state
        state.window = event.context_window or state.window
        if event.usage is None:
            return []
        if event.scope == "session":
            state.total = event.usage
        if event.scope != "call":
            return []
        step = turns.step(self._provider, event.usage)
        if event.parent is None:
            state.last_step = step
        extensions = {"parent_tool_use_id": event.parent} if event.parent is not None else None
        return [m.UsageUpdateEvent(step_usage=step, extensions=extensions)]

    def _rate_limit(self, event: ev.RateLimit) -> Items:
        update = requests.rate_limit(event)
        return [update] if update is not None else []

    def _error(self, event: ev.Error) -> Items:
        """Claude's are messages, or end the turn."""
        if self._provider == "gemini":
            return [m.SessionStatusEvent(status="error", message=event.message)]
        if self._provider == "claude" or event.will_retry:
            return []
        return [m.TextEvent(text=event.message, kind="error")]

    def _turn_ended(self, event: ev.TurnEnded) -> Items:
        state = self._state
        left = self._terminals.finish(self._session)
        if event.synthesized and not self._live:
            return left
        if event.dialect == "gemini_stream" and not event.synthesized:
            self._line, self._result = self._result, _NO_LINE
        usage, usages = event.usage, event.model_usage
        if self._provider == "codex":
            usage = state.total if not self._live and state.total is not None else usage
            usages = usages or turns.one_model(usage, state.facts.get("model"), state.window)
        done = turns.completion(self._provider, event, self._line, usage, usages, live=self._live)
        if state.last_step is not None and self._provider in ("claude", "codex"):
            done.extensions = {"lastStepUsage": state.last_step}
        state.last_step = None
        return [*left, done]

    _HANDLERS: ClassVar[dict[type[Event], Callable[[Any, Any], Items]]] = {
        ev.SessionStarted: _session_started,
        ev.SessionUpdated: _session_updated,
        ev.SessionStatus: _status,
        ev.SessionMode: _mode,
        ev.SessionOptions: lambda self, event: [m.ConfigOptionsEvent(config_options=event.options)],
        ev.SessionCommands: _commands,
        ev.Message: _message,
        ev.Delta: _delta,
        ev.PlanUpdated: _plan,
        ev.ToolStarted: _tool_started,
        ev.ToolUpdated: _tool_updated,
        ev.ToolEnded: _tool_ended,
        ev.FileChanged: _file_changed,
        ev.SubagentStarted: _subagent_started,
        ev.SubagentEnded: _subagent_ended,
        ev.PermissionRequested: _permission,
        ev.QuestionAsked: _question,
        ev.HostCalled: lambda self, event: self._terminals.on_request(
            event, tools_open=bool(self._state.calls)
        ),
        ev.HostAnswered: lambda self, event: self._terminals.on_answer(event),
        ev.UsageUpdated: _usage,
        ev.RateLimit: _rate_limit,
        ev.ContextCompacted: _compacted,
        ev.Error: _error,
        ev.TurnEnded: _turn_ended,
    }


def _spawn(event: ev.ToolStarted) -> m.SubagentSpawnEvent:
    given = event.input if isinstance(event.input, dict) else {}
    resume = _text(given, "resume")
    return m.SubagentSpawnEvent(
        call_id=event.call_id,
        agent_type=_text(given, "subagent_type", "name"),
        description=_text(given, "description", "prompt", "task"),
        is_resume=resume is not None,
        resume_agent_id=resume,
    )


def _text(native: dict[str, Any], *keys: str) -> str | None:
    return next((native[key] for key in keys if isinstance(native.get(key), str) and native[key]), None)


def _shown(ext: dict[str, Any]) -> dict[str, Any]:
    """Those of an event's native values that are an agent's own."""
    return {key: value for key, value in ext.items() if not key.startswith(_PRIVATE)}


def _at(native: Any, *path: str) -> Any:
    for key in path:
        native = native.get(key) if isinstance(native, dict) else None
    return native


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
