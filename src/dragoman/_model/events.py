"""Canonical events, `dragoman.events/1`: what every agent's stream becomes.

One object per line. Absent means unknown or empty: None, [], {} and false flags are left out; "" and 0 are kept.
Fields may be added within this schema; none is ever renamed. Native values (a tool's input, an agent's
capabilities) are carried verbatim as plain JSON.
"""

from datetime import datetime
from itertools import repeat
from typing import Any, Literal, get_args

from msgspec import Struct, field

from dragoman._model.content import ContentBlock
from dragoman._model.errors import ErrorKind
from dragoman._model.patches import TextsDiff
from dragoman._model.usage import ModelUsage, Usage

SCHEMA = "dragoman.events/1"

Origin = Literal["agent", "client", "dragoman"]
ToolKind = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think",
    "fetch", "browse", "ask", "memory", "mcp", "switch_mode", "other",
]  # fmt: skip
TurnOutcome = Literal["completed", "failed", "cancelled", "limited", "refused", "truncated"]
RunOutcome = Literal["completed", "failed", "cancelled", "limited", "timeout", "crashed", "truncated"]
ToolStatus = Literal["completed", "failed", "declined", "cancelled", "skipped", "abandoned"]
MessageKind = Literal["text", "thinking", "plan", "commentary", "error"]
DeltaKind = Literal["text", "thinking", "plan", "tool_input", "tool_output"]
Role = Literal["user", "assistant", "system"]


def _kept(value: Any) -> Any:
    """A default that is written out all the same, where msgspec would leave out a plain one. It is made without a call
    into Python, which every event would pay for."""
    return field(default_factory=repeat(value).__next__)


class Value(Struct, omit_defaults=True, kw_only=True, frozen=True, gc=False):
    """A part of an event. It does not change, so that many events may have the same one."""


class Location(Value, frozen=True):
    path: str
    line: int | None = None


class McpServer(Value, frozen=True):
    name: str
    status: str | None = None
    """The agent's own word: connected, ready, failed, pending, needs-auth …"""
    error: str | None = None
    """Why it failed."""
    server_info: dict[str, Any] = field(default_factory=dict)
    """What the server says it is: its name and version."""
    tools: list[str] = field(default_factory=list)


class SlashCommand(Value, frozen=True):
    name: str
    description: str | None = None
    hint: str | None = None


class SubagentType(Value, frozen=True):
    """A kind of subagent that the agent can start."""

    name: str
    description: str | None = None
    model: str | None = None


class Skill(Value, frozen=True):
    name: str
    description: str | None = None
    path: str | None = None


class Plugin(Value, frozen=True):
    name: str
    path: str | None = None
    source: str | None = None


class Mode(Value, frozen=True):
    id: str
    name: str | None = None


class PlanEntry(Value, frozen=True):
    text: str
    status: Literal["pending", "in_progress", "completed"] = _kept("pending")
    priority: str | None = None


class PermissionOption(Value, frozen=True):
    id: str
    name: str | None = None
    kind: str | None = None
    """allow_once, allow_always, reject_once or reject_always."""


class Denial(Value, frozen=True):
    tool_name: str | None = None
    call_id: str | None = None
    input: Any = None


class ErrorInfo(Value, frozen=True):
    message: str
    code: str | None = None
    """The agent's own word or number for it."""
    kind: ErrorKind | None = None
    """Its cause, where that is known: the same words for every agent, and those of the errors that are raised."""


class Event(Struct, omit_defaults=True, kw_only=True, tag_field="type", gc=False):
    """The envelope that every event carries."""

    seq: int = field(default_factory=int)
    """1.., gapless in a run."""
    agent: str = field(default_factory=str)
    dialect: str = field(default_factory=str)
    session: str | None = None
    """The agent's own id, once known."""
    turn: int = field(default_factory=int)
    """Numbered over the whole run: the session's open turn, else its last, else 0."""
    frame: int | None = None
    """Number of the frame that said it; absent if Dragoman made the event."""
    origin: Origin = _kept("dragoman")
    """Who wrote the frame."""
    at: float | None = None
    """Seconds since the run started."""
    time: datetime | None = None
    agent_time: str | None = None
    """What the agent said the time was, verbatim."""
    parent: str | None = None
    """call_id of the tool call whose subagent speaks."""
    replay: bool = False
    """History that the agent plays back."""
    synthesized: bool = False
    """Inferred, not said by the agent."""
    ext: dict[str, Any] = field(default_factory=dict)
    """Native values that a published model repeats verbatim."""
    line: str | None = None
    """With --native, on the first event of each `out` frame: its exact text."""
    line_b64: str | None = None
    """The same where the line is not UTF-8."""
    eol: bool = True

    @property
    def type(self) -> str:
        """Its name on the wire, such as turn.ended."""
        return str(self.__struct_config__.tag)


# --- the run and its sessions ------------------------------------------------------------------------------


class RunStarted(Event, tag="run.started"):
    schema: str = _kept(SCHEMA)
    argv: list[str] = field(default_factory=list)
    cwd: str | None = None
    pid: int | None = None
    cli_version: str | None = None
    resume: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)


class AgentReady(Event, tag="agent.ready"):
    """The answer to initialize. What an agent tells of itself there is known before the first prompt."""

    protocol_version: str | int | None = None
    name: str | None = None
    cli_version: str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)
    auth_methods: list[Any] = field(default_factory=list)
    permission_mode: str | None = None
    commands: list[SlashCommand] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    agents: list[SubagentType] = field(default_factory=list)
    account: dict[str, Any] = field(default_factory=dict)
    output_style: str | None = None
    output_styles: list[str] = field(default_factory=list)


class SessionFields(Event):
    """What is known of a session."""

    model: str | None = None
    effort: str | None = None
    cwd: str | None = None
    tools: list[str] = field(default_factory=list)
    mcp_servers: list[McpServer] = field(default_factory=list)
    permission_mode: str | None = None
    commands: list[SlashCommand] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    mode: str | None = None
    options: list[Any] = field(default_factory=list)
    account: dict[str, Any] = field(default_factory=dict)
    agents: list[SubagentType] = field(default_factory=list)
    """The kinds of subagents that it can start."""
    skills: list[Skill] = field(default_factory=list)
    plugins: list[Plugin] = field(default_factory=list)
    betas: list[str] = field(default_factory=list)
    """Features of the model's API that are switched on."""
    output_style: str | None = None
    output_styles: list[str] = field(default_factory=list)
    """Those that there are."""
    api_key_source: str | None = None
    """Where the key for the model came from."""
    capabilities: dict[str, Any] = field(default_factory=dict)
    cli_version: str | None = None
    title: str | None = None


class SessionStarted(SessionFields, tag="session.started"):
    """Once per session id."""

    resumed: bool = False


class SessionUpdated(SessionFields, tag="session.updated"):
    """Only what changed."""

    session_id: str | None = None
    """The new id, where the agent goes on under another one."""


class SessionMode(Event, tag="session.mode"):
    mode: str | None = None
    modes: list[Mode] = field(default_factory=list)


class SessionOptions(Event, tag="session.options"):
    options: list[Any] = field(default_factory=list)


class SessionCommands(Event, tag="session.commands"):
    commands: list[SlashCommand] = field(default_factory=list)


class SessionStatus(Event, tag="session.status"):
    """requesting, compacting, running, idle, requires_action, retrying, interrupted, ended …"""

    status: str
    message: str | None = None


class Auth(Event, tag="auth"):
    status: str | None = None
    message: str | None = None


# --- turns and what is said in them ------------------------------------------------------------------------


class TurnStarted(Event, tag="turn.started"):
    prompt: str | None = None
    native_turn_id: str | None = None


class Message(Event, tag="message"):
    """Something said, whole. One with the same message_id and block as an earlier one replaces it."""

    role: Role
    kind: MessageKind = _kept("text")
    text: str | None = None
    blocks: list[ContentBlock] = field(default_factory=list)
    """When it is not plain text."""
    message_id: str | None = None
    block: int | None = None
    model: str | None = None
    echo: bool = False
    """The agent repeats what the client sent."""
    synthetic: bool = False
    """The agent says it wrote this in the user's name."""


class Delta(Event, tag="delta"):
    """A piece of a message, of a tool's input or of its output, as it grows."""

    role: Role = "assistant"
    kind: DeltaKind = _kept("text")
    text: str = field(default_factory=str)
    message_id: str | None = None
    block: int | None = None
    call_id: str | None = None
    terminal_id: str | None = None


class PlanUpdated(Event, tag="plan.updated"):
    entries: list[PlanEntry] = field(default_factory=list)


class TurnDiff(Event, tag="turn.diff"):
    """What the open turn has changed in files so far, all of it, each time that it is another."""

    diff: str = field(default_factory=str)
    """A unified diff, as git writes it; "" once everything is as it was."""


class TurnEnded(Event, tag="turn.ended"):
    outcome: TurnOutcome
    reason: str | None = None
    """The agent's own word for it."""
    text: str | None = None
    """The final answer."""
    error: ErrorInfo | None = None
    errors: list[str] = field(default_factory=list)
    usage: Usage | None = None
    model_usage: dict[str, ModelUsage] = field(default_factory=dict)
    cost_usd: int | float | None = None
    duration_ms: int | float | None = None
    api_duration_ms: int | float | None = None
    steps: int | None = None
    denials: list[Denial] = field(default_factory=list)
    structured_output: Any = None
    message_ids: list[str] = field(default_factory=list)
    """The user's messages that this turn took, where the agent names them."""
    resume_at: str | None = None
    """What the option `resume_at` takes to go on after this turn, where the agent can."""


# --- tools -------------------------------------------------------------------------------------------------


class ToolStarted(Event, tag="tool.started"):
    call_id: str
    name: str
    native_name: str | None = None
    kind: ToolKind = _kept("other")
    title: str | None = None
    input: Any = None
    locations: list[Location] = field(default_factory=list)
    server: str | None = None
    """The MCP server, split off the name."""
    model: str | None = None


class ToolUpdated(Event, tag="tool.updated"):
    call_id: str
    output: str | None = None
    progress: int | float | None = None
    elapsed: int | float | None = None
    title: str | None = None
    input: Any = None
    content: list[ContentBlock] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    structured: Any = None
    terminal_id: str | None = None
    late: bool = False
    """It came after tool.ended."""


class ToolEnded(Event, tag="tool.ended"):
    call_id: str
    status: ToolStatus
    output: str | None = None
    structured: Any = None
    """The native JSON result."""
    content: list[ContentBlock] = field(default_factory=list)
    error: ErrorInfo | None = None
    exit_code: int | None = None
    duration_ms: int | float | None = None


class FileChanged(Event, tag="file.changed"):
    path: str
    change: Literal["created", "modified", "deleted", "moved"]
    move_to: str | None = None
    diff: str | None = None
    before: str | None = None
    after: str | None = None
    call_id: str | None = None
    phase: Literal["proposed", "applied", "failed"] = _kept("applied")


_diff_slot: Any = FileChanged.__dict__["diff"]


def _diff(event: FileChanged) -> str | None:
    """The diff, made now if it was left for later (see patches.between). Encoding makes it too, in event_json."""
    diff: str | TextsDiff | None = _diff_slot.__get__(event)
    if isinstance(diff, TextsDiff):
        diff = diff.made()
        _diff_slot.__set__(event, diff)
    return diff


FileChanged.diff = property(_diff, _diff_slot.__set__)  # type: ignore[assignment]


class SubagentStarted(Event, tag="subagent.started"):
    call_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    resume_id: str | None = None


class SubagentEnded(Event, tag="subagent.ended"):
    call_id: str | None = None
    agent_id: str | None = None
    status: str | None = None
    summary: str | None = None
    usage: Usage | None = None
    """The sum of its own calls; absent where not all of them are known."""


# --- what the agent asks of us -----------------------------------------------------------------------------


class PermissionRequested(Event, tag="permission.requested"):
    request_id: str
    call_id: str | None = None
    tool_name: str | None = None
    kind: ToolKind = _kept("other")
    input: Any = None
    title: str | None = None
    reason: str | None = None
    blocked_path: str | None = None
    options: list[PermissionOption] = field(default_factory=list)
    suggestions: list[Any] = field(default_factory=list)
    unasked: bool = False
    """The agent did not ask by itself: it was made to show every call."""
    cwd: str | None = None
    """Where the agent stands, if it says so: its shell may have gone elsewhere since the session began."""


class PermissionResolved(Event, tag="permission.resolved"):
    request_id: str
    outcome: Literal["allowed", "denied", "cancelled", "expired"]
    by: Literal["client", "policy", "agent", "timeout"] = _kept("client")
    rule: str | None = None
    option_id: str | None = None
    updated_input: Any = None
    message: str | None = None
    who: str | None = None
    """Who gave the answer, by name, where several could: such as a browser."""


class QuestionAsked(Event, tag="question.asked"):
    request_id: str
    message: str | None = None
    mode: Literal["form", "url"] = _kept("form")
    url: str | None = None
    elicitation_id: str | None = None
    questions: list[Any] = field(default_factory=list)
    schema: Any = None
    call_id: str | None = None


class QuestionAnswered(Event, tag="question.answered"):
    request_id: str
    action: Literal["accepted", "declined", "cancelled"]
    answers: Any = None
    who: str | None = None
    """As in permission.resolved."""


class HostCalled(Event, tag="host.called"):
    """The agent asks its client for a file, a terminal, a hook, an MCP message or a tool of the client's own."""

    request_id: str
    method: str
    params: Any = None
    call_id: str | None = None


class HostAnswered(Event, tag="host.answered"):
    request_id: str
    result: Any = None
    error: ErrorInfo | None = None
    duration_ms: int | float | None = None
    who: str | None = None
    """Who allowed or denied it, as in permission.resolved."""


class CommandEnded(Event, tag="command.ended"):
    """The agent's answer to a command that has no event of its own."""

    command: str | None = None
    request_id: str | None = None
    ok: bool = _kept(True)
    error: ErrorInfo | None = None
    result: Any = None


# --- what it cost, and what went wrong ---------------------------------------------------------------------


class UsageUpdated(Event, tag="usage.updated"):
    scope: Literal["call", "turn", "session"]
    usage: Usage | None = None
    model: str | None = None
    message_id: str | None = None
    call: str | None = None
    """Which call of the model it was, in scope call: the same wherever an agent writes the call again, in another file
    or on another wire. Said again with greater counts, the later event replaces the first."""
    request_id: str | None = None
    """The API's own id of the request, where the agent keeps it."""
    agent_id: str | None = None
    """The subagent that made the call."""
    service_tier: str | None = None
    """As the API says it: standard, priority, batch, flex … Prices differ."""
    speed: str | None = None
    inference_geo: str | None = None
    """Where it was computed, if that was asked for."""
    web_search_requests: int | None = None
    """Searches that the API made for this call, which it bills beside the tokens."""
    context_used: int | None = None
    context_window: int | None = None
    cost_usd: int | float | None = None


class RateLimit(Event, tag="rate_limit"):
    status: str | None = None
    resets_at: int | float | None = None
    """Unix seconds."""
    windows: list[Any] = field(default_factory=list)
    credits: Any = None
    plan: str | None = None


class ContextCompacted(Event, tag="context.compacted"):
    trigger: Literal["auto", "manual", "cleared"] = _kept("auto")
    before_tokens: int | None = None
    after_tokens: int | None = None
    summary: str | None = None
    phase: str | None = None


class Retry(Event, tag="retry"):
    attempt: int | None = None
    max_attempts: int | None = None
    delay_ms: int | float | None = None
    reason: str | None = None
    status_code: int | None = None
    discards: list[str] = field(default_factory=list)
    """Messages begun before the retry that it replaces."""


class Hook(Event, tag="hook"):
    name: str | None = None
    event: str | None = None
    phase: str | None = None
    output: str | None = None
    """What it wrote, or what became of that."""
    stderr: str | None = None
    """What it wrote as errors, where the agent tells that apart."""
    exit_code: int | None = None
    outcome: str | None = None


class Notice(Event, tag="notice"):
    """Only what the agent means as a notice; and, `synthesized`, once in a run: the CLI is none of the versions that
    were tested (code `untested_version`), or it is in another permission mode than it was told (`permission_mode`)."""

    severity: Literal["info", "warning"] = _kept("info")
    message: str = field(default_factory=str)
    code: str | None = None


class Error(Event, tag="error"):
    """Never ends anything by itself."""

    severity: Literal["warning", "error"] = _kept("error")
    message: str = field(default_factory=str)
    code: str | None = None
    will_retry: bool = False
    scope: Literal["turn", "session", "process", "protocol"] = _kept("turn")
    kind: ErrorKind | None = None
    """Its cause, where that is known; see ErrorInfo."""


class RunEnded(Event, tag="run.ended"):
    outcome: RunOutcome
    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: str | None = None
    usage: Usage | None = None
    cost_usd: int | float | None = None


# --- lines that say nothing, or nothing known ---------------------------------------------------------------


class NativeKnown(Event, tag="native.known"):
    """Understood, nothing to say: block boundaries, acknowledgements, blank lines. Views ignore it."""

    native_type: str | None = None


class NativeUnknown(Event, tag="native.unknown"):
    """A message of a type this version does not know. The bytes are in the frame."""

    native_type: str | None = None


class NativeInvalid(Event, tag="native.invalid"):
    """A line that is no message at all."""

    reason: str | None = None


AnyEvent = (
    RunStarted | AgentReady | SessionStarted | SessionUpdated | SessionMode | SessionOptions | SessionCommands
    | SessionStatus | Auth | TurnStarted | Message | Delta | PlanUpdated | TurnDiff | TurnEnded | ToolStarted
    | ToolUpdated | ToolEnded | FileChanged | SubagentStarted | SubagentEnded | PermissionRequested | PermissionResolved
    | QuestionAsked | QuestionAnswered | HostCalled | HostAnswered | CommandEnded | UsageUpdated | RateLimit
    | ContextCompacted | Retry | Hook | Notice | Error | RunEnded | NativeKnown | NativeUnknown | NativeInvalid
)  # fmt: skip

Request = PermissionRequested | QuestionAsked | HostCalled
"""What wants an answer."""

Answered = PermissionResolved | QuestionAnswered | HostAnswered
"""What says that it got one."""

EVENTS: dict[str, type[Event]] = {str(cls.__struct_config__.tag): cls for cls in get_args(AnyEvent)}
"""Every event type by its name on the wire."""
