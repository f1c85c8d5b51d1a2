"""What single messages mean, where no memory is needed: stateless and total."""

import re
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from dragoman._dialects.claude.stream import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock
from dragoman._model.errors import ErrorKind
from dragoman._model.events import Event
from dragoman._wire import fields
from dragoman._wire.content import blocks_of, text_and_blocks
from dragoman._wire.jsontext import late

# --- system messages ---------------------------------------------------------------------------------------


def status(message: m.Status) -> list[Event]:
    events: list[Event] = []
    if message.permissionMode is not None:
        events.append(ev.SessionMode(mode=message.permissionMode))
    if message.status is not None:
        events.append(ev.SessionStatus(status=message.status))
    elif message.compact_result is not None:
        said = message.compact_error or f"compaction: {message.compact_result}"
        events.append(ev.SessionStatus(status="running", message=said))
    return events


def thinking_tokens(message: m.ThinkingTokens) -> list[Event]:
    """The event for an estimate while the model thinks. It is no usage: the API's count comes later."""
    return [ev.SessionStatus(status="thinking", ext=_ext(estimatedTokens=message.estimated_tokens))]


def hook(message: m.HookReport) -> list[Event]:
    phase = message.subtype.removeprefix("hook_")
    output = message.output if message.output is not None else (message.stdout or message.stderr)
    return [
        ev.Hook(
            name=message.hook_name,
            event=message.hook_event,
            phase="ended" if phase == "response" else phase,
            output=output,
            stderr=message.stderr or None,
            exit_code=message.exit_code,
            outcome=message.outcome,
        )
    ]


def informational(message: m.Informational) -> list[Event]:
    severity: Any = "warning" if message.level in ("warning", "error") else "info"
    return [ev.Notice(severity=severity, message=message.content or "", code=message.level)]


def model_change(message: m.ModelChange) -> list[Event]:
    ext = _ext(trigger=message.trigger, model=message.original_model, fallbackModel=message.fallback_model)
    if message.subtype == "model_refusal_no_fallback":
        said = message.content or message.api_refusal_explanation or "the model refused to answer"
        code = message.api_refusal_category or "refusal"
        return [ev.Error(severity="warning", message=said, code=code, ext=ext)]
    return [ev.Notice(severity="warning", message=message.content or "", code=message.subtype, ext=ext)]


def session_state(message: m.SessionState) -> list[Event]:
    return [ev.SessionStatus(status=message.state or "unknown")]


def commands_changed(message: m.CommandsChanged) -> list[Event]:
    return [ev.SessionCommands(commands=commands_of(message.commands or []))]


def title_changed(message: m.TitleChanged) -> list[Event]:
    return [ev.SessionUpdated(title=message.title)]


def tasks_changed(message: m.TasksChanged) -> list[Event]:
    tasks = message.tasks or []
    said = f"{len(tasks)} background task{'' if len(tasks) == 1 else 's'}"
    return [ev.SessionStatus(status="background_tasks", message=said, ext=_ext(tasks=tasks))]


def lifecycle(message: m.CommandLifecycle) -> list[Event]:
    """The event for the state of a message that was sent with a uuid."""
    return [
        ev.SessionStatus(status=f"message_{message.state or 'unknown'}", ext=_ext(uuid=message.command_uuid))
    ]


def rate_limit(message: m.RateLimitEvent) -> list[Event]:
    info = message.rate_limit_info
    return [
        ev.RateLimit(
            status=fields.text(info, "status"),
            resets_at=fields.number(info, "resetsAt"),
            windows=[info] if info else [],
        )
    ]


def auth_status(message: m.AuthStatus) -> list[Event]:
    status = "failed" if message.error else "authenticating" if message.isAuthenticating else "ready"
    return [ev.Auth(status=status, message=message.error or "\n".join(message.output or []) or None)]


def flat_error(message: m.FlatError) -> list[Event]:
    error = error_info(message.error) or ev.ErrorInfo(message=message.message or "unknown error")
    return [ev.Error(message=error.message, code=error.code)]


_SYSTEM_TEXT: Final[dict[str, Callable[[str], Event]]] = {
    "local_command_output": lambda text: ev.Message(role="system", text=text),
    "session_writes_lost": lambda text: ev.Error(
        severity="warning", message=text, code="session_writes_lost", scope="session"
    ),
    "worker_shutting_down": lambda text: ev.SessionStatus(status="ended", message=text or None),
}


def system_text(message: m.SystemText) -> list[Event]:
    texts = (message.content, message.message, message.text, message.summary, message.suggestion)
    text = next((text for text in texts if text), None)
    if text is None:
        text = " ".join(
            part for part in (message.name, message.status, message.error, message.reason) if part
        )
    make = _SYSTEM_TEXT.get(message.subtype)
    return [make(text) if make is not None else ev.Notice(message=text, code=message.subtype or None)]


SIMPLE: Final[dict[type[m.Native], Callable[[Any], list[Event]]]] = {
    m.Status: status,
    m.ThinkingTokens: thinking_tokens,
    m.HookReport: hook,
    m.Informational: informational,
    m.ModelChange: model_change,
    m.SessionState: session_state,
    m.CommandsChanged: commands_changed,
    m.TitleChanged: title_changed,
    m.TasksChanged: tasks_changed,
    m.RateLimitEvent: rate_limit,
    m.AuthStatus: auth_status,
    m.FlatError: flat_error,
    m.SystemText: system_text,
    m.Goal: lambda message: [ev.SessionStatus(status=message.type)],
    m.Silent: lambda message: [],
}
"""The messages that mean the same whenever they come."""

# --- sessions ----------------------------------------------------------------------------------------------


def agent_ready(answer: dict[str, Any]) -> ev.AgentReady:
    """The event for the answer to initialize. 2.1.325 names its version and mode there as well."""
    styles = fields.items(answer, "available_output_styles")
    return ev.AgentReady(
        name="claude",
        cli_version=fields.text(answer, "claude_code_version"),
        capabilities=answer,
        permission_mode=fields.text(answer, "current_permission_mode"),
        commands=commands_of(fields.items(answer, "commands")),
        models=fields.items(answer, "models"),
        agents=agents_of(fields.items(answer, "agents")),
        account=fields.mapping(answer, "account"),
        output_style=fields.text(answer, "output_style"),
        output_styles=[style for style in styles if isinstance(style, str)],
    )


def session_facts(message: m.Init, known: dict[str, Any]) -> ev.SessionStarted:
    """The facts in an init. It has names only: what is `known` already is told in the words that say more."""
    key_source, style = message.apiKeySource, message.output_style
    ext = {} if key_source is None else {"claude.apiKeySource": key_source}
    if style is not None:
        ext["claude.outputStyle"] = style
    lists = _lists_in(message)
    facts = ev.SessionStarted(  # fifteen fields: CPython makes a dict of more
        model=message.model,
        cwd=message.cwd,
        tools=lists.tools.copy(),
        mcp_servers=lists.servers.copy(),
        permission_mode=message.permissionMode,
        commands=lists.commands.copy(),
        agents=lists.agents.copy(),
        skills=lists.skills.copy(),
        plugins=lists.plugins.copy(),
        betas=message.betas or [],
        output_style=style,
        api_key_source=key_source,
        capabilities=dict.fromkeys(message.capabilities or (), True),
        cli_version=message.claude_code_version,
        ext=ext,
    )
    if known:
        _say_in_full(facts, known)
    return facts


def _say_in_full(facts: ev.SessionStarted, known: dict[str, Any]) -> None:
    get = known.get
    if commands := get("commands"):
        facts.commands = together(commands, facts.commands)
    if servers := get("mcp_servers"):
        facts.mcp_servers = _in_full(facts.mcp_servers, servers)
    if agents := get("agents"):
        facts.agents = _in_full(facts.agents, agents, _agent)
    if skills := get("skills"):
        facts.skills = _in_full(facts.skills, skills, _skill)
    if plugins := get("plugins"):
        facts.plugins = _in_full(facts.plugins, plugins)
    if models := get("models"):
        facts.models = models
    if account := get("account"):
        facts.account = account
    if styles := get("output_styles"):
        facts.output_styles = styles


_Named = TypeVar("_Named", ev.SlashCommand, ev.McpServer, ev.SubagentType, ev.Skill, ev.Plugin)


def together(told: list[_Named], more: list[_Named]) -> list[_Named]:
    """What was told, and what else is named."""
    if not told or told == more:
        return more
    names = set(map(_name_of, told))
    return told + [each for each in more if each.name not in names]


_name_of: Final = attrgetter("name")


def _in_full(
    said: list[_Named], known: list[_Named], only_named: Callable[[str], _Named] | None = None
) -> list[_Named]:
    """What is said, each thing as it is known if that says nothing else. `only_named` makes one of which nothing but
    the name is said."""
    if said == known:
        return known
    found = {each.name: each for each in known}
    return [
        full
        if (full := found.get(each.name)) is not None
        and ((only_named is not None and each is only_named(each.name)) or _is_part(each, full))
        else each
        for each in said
    ]


def _is_part(said: ev.Value, full: ev.Value) -> bool:
    return all(getattr(said, name) in (None, [], {}, getattr(full, name)) for name in said.__struct_fields__)


def servers_of(native: list[Any]) -> list[ev.McpServer]:
    """MCP servers, as an init and the answer to mcp_status list them."""
    return [_server(item, name) for item in native if (name := _name(item)) is not None]


def _server(item: Any, name: str) -> ev.McpServer:
    if type(item) is not dict or item.keys() <= _SHORT_SERVER:
        return ev.McpServer(name=name, status=fields.text(item, "status"))
    return ev.McpServer(
        name=name,
        status=fields.text(item, "status"),
        error=fields.text(item, "error"),
        server_info=fields.mapping(item, "serverInfo"),
        tools=[tool for each in fields.items(item, "tools") if (tool := _name(each)) is not None],
    )


_SHORT_SERVER: Final = frozenset(("name", "status"))
"""All that an init says of a server."""


def agents_of(native: list[Any]) -> list[ev.SubagentType]:
    """Kinds of subagents: names in an init, objects in the answer to initialize."""
    return [
        _agent(item)
        if isinstance(item, str)
        else ev.SubagentType(
            name=item["name"],
            description=description if type(description := item.get("description")) is str else None,
            model=model if type(model := item.get("model")) is str else None,
        )
        for item in native
        if isinstance(item, str) or (isinstance(item, dict) and type(item.get("name")) is str)
    ]


def skills_of(native: list[Any]) -> list[ev.Skill]:
    """Skills: names in an init, objects in the answer to reload_skills."""
    return [
        _skill(item)
        if type(item) is str
        else ev.Skill(name=item["name"], description=fields.text(item, "description"))
        for item in native
        if type(item) is str or fields.text(item, "name") is not None
    ]


def plugins_of(native: list[Any]) -> list[ev.Plugin]:
    return [
        ev.Plugin(name=name, path=fields.text(item, "path"), source=fields.text(item, "source"))
        for item in native
        if (name := _name(item)) is not None
    ]


# Every session of every run lists the same: the lists are read once, and what is nothing but a name is made once.

_KEPT: Final = 64
"""So many inits' lists are kept, the last ones."""
_LONGEST: Final = 1 << 16
"""Bytes of an init's lists. Longer ones are read each time, so that what is kept stays small."""


class _Lists(NamedTuple):
    """What an init lists. The values may be in many events, the lists are copied for each."""

    tools: list[str]
    servers: list[ev.McpServer]
    commands: list[ev.SlashCommand]
    agents: list[ev.SubagentType]
    skills: list[ev.Skill]
    plugins: list[ev.Plugin]


def _lists_in(message: m.Init) -> _Lists:
    texts = (
        bytes(message.tools),
        bytes(message.mcp_servers),
        bytes(message.slash_commands),
        bytes(message.agents),
        bytes(message.skills),
        bytes(message.plugins),
    )
    return _lists_kept(texts) if sum(map(len, texts)) <= _LONGEST else _lists_of(texts)


def _lists_of(texts: tuple[bytes, bytes, bytes, bytes, bytes, bytes]) -> _Lists:
    tools, servers, commands, agents, skills, plugins = texts
    return _Lists(
        late(tools, list[str] | None) or [],
        servers_of(late(servers, list[m.Plain] | None) or []),
        [ev.SlashCommand(name=name.removeprefix("/")) for name in late(commands, list[str] | None) or []],
        agents_of(late(agents, list[Any] | None) or []),
        skills_of(late(skills, list[Any] | None) or []),
        plugins_of(late(plugins, list[Any] | None) or []),
    )


_lists_kept: Final = lru_cache(_KEPT)(_lists_of)


@lru_cache(maxsize=4096)
def _agent(name: str) -> ev.SubagentType:
    return ev.SubagentType(name=name)


@lru_cache(maxsize=4096)
def _skill(name: str) -> ev.Skill:
    return ev.Skill(name=name)


def _name(item: Any) -> str | None:
    """The name of a thing that is a name itself, or an object that has one."""
    return item if isinstance(item, str) else fields.text(item, "name")


def commands_of(native: list[Any]) -> list[ev.SlashCommand]:
    """Slash commands, as the answer to initialize lists them: dozens, so none of them is worth a call."""
    return [
        ev.SlashCommand(
            name=name.removeprefix("/"),
            description=description if type(description := item.get("description")) is str else None,
            hint=hint if type(hint := item.get("argumentHint")) is str and hint else None,
        )
        for item in native
        if type(item) is dict and type(name := item.get("name")) is str
    ]


def is_initialize_answer(response: Any) -> bool:
    """Whether a response has the fields of an answer to initialize, for streams without the request (capture
    bidi_init)."""
    return isinstance(response, dict) and {"commands", "output_style", "models"} <= response.keys()


# --- what users say ----------------------------------------------------------------------------------------


def user_message(content: Any) -> ev.Message:
    """A user message from its `content`."""
    text, blocks = text_and_blocks(content)
    return ev.Message(role="user", text=text or None, blocks=blocks)


def assistant_message(
    block: dict[str, Any],
    kind: ev.MessageKind,
    message_id: str | None,
    index: int | None,
    parent: str | None,
    model: str | None,
) -> ev.Message:
    """A message from one block of an assistant's content; one that is no text or thinking is in its
    `blocks`."""
    type_ = block.get("type")
    text = block.get(type_) if type_ == "text" or type_ == "thinking" else None
    blocks: list[ContentBlock] = []
    if isinstance(text, str):
        kind = "thinking" if type_ == "thinking" else kind
    else:
        text, blocks = None, blocks_of([block])
        kind = "thinking" if type_ == "redacted_thinking" else "text"
    return ev.Message(
        role="assistant",
        kind=kind,
        text=text,
        blocks=blocks,
        message_id=message_id,
        block=index,
        model=model,
        parent=parent,
    )


# --- results -----------------------------------------------------------------------------------------------

_LIMITS: Final = frozenset(
    (
        "error_max_turns",
        "error_max_budget_usd",
        "max_turns",
        "budget_exhausted",
        "blocking_limit",
        "max_tokens",
    )
)
_ABORTED: Final = frozenset(("aborted_streaming", "aborted_tools"))
_DECISIVE: Final = frozenset((*_LIMITS, *_ABORTED, "hook_stopped", "refusal"))
"""The words in a result that say how the turn ended."""


def outcome_of(result: m.Result, *, blocked: bool, error: str | None = None) -> ev.TurnOutcome:
    """The outcome of a turn. `blocked`: a hook stopped it (2.1.197 has that only in a message before the
    result). `error`: the last error of the turn, which may have been overcome."""
    words = {result.subtype, result.terminal_reason, result.stop_reason} & _DECISIVE
    if words & _ABORTED:
        return "cancelled"
    if words & _LIMITS:
        return "limited"
    if blocked or "hook_stopped" in words:
        return "refused"
    status_ok = result.status in (None, "success", "completed")
    failed = result.is_error or not status_ok or (result.subtype or "success") != "success"
    if not failed:
        return "completed"
    if "refusal" in words:
        return "refused"
    return "limited" if error == "max_output_tokens" else "failed"


def denials_of(native: list[dict[str, Any]]) -> list[ev.Denial]:
    return [
        ev.Denial(
            tool_name=fields.text(item, "tool_name"),
            call_id=fields.text(item, "tool_use_id"),
            input=item.get("tool_input"),
        )
        for item in native
    ]


UNKNOWN_SESSION: Final = re.compile(
    r"No conversation found with session ID|is not a UUID and does not match any session title"
    r"|No message found with message\.uuid of"
)
"""How the CLI says that it does not know the session, or the message in it, that it shall go on with."""

KINDS: Final[dict[str | None, ErrorKind]] = {
    "authentication_failed": "loginRequired",
    "oauth_org_not_allowed": "loginRequired",
    "401": "loginRequired",
    "permission_denied": "permissionDenied",
}
"""Causes of a turn's failure, by `assistant.error`, the API's status, or the type of an `error`."""


def error_info(native: Any) -> ev.ErrorInfo | None:
    """An error from a text, or from an object with `message` and `type`; None for anything else."""
    if isinstance(native, str):
        return ev.ErrorInfo(message=native)
    if not isinstance(native, dict):
        return None
    code = fields.text(native, "type")
    return ev.ErrorInfo(
        message=fields.text(native, "message") or "unknown error", code=code, kind=KINDS.get(code)
    )


# -----------------------------------------------------------------------------------------------------------


def _ext(**values: Any) -> dict[str, Any]:
    return {f"claude.{name}": value for name, value in values.items() if value is not None}
