"""What single InsightsEvents mean, without memory.

Token counts are each provider's own: Claude's input leaves out what the cache had, everyone else's includes it.
"""

from typing import Any, Final

import msgspec

from dragoman._dialects.insights import messages as m
from dragoman._model import content as c
from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields

_PLANS: Final = ("acp.planEntries", "codex.todoItems")
"""Extensions that say of each line of a plan how far it is."""
_LIMITS: Final = ("error_max_turns", "error_max_budget_usd", "max_tokens", "max_turn_requests", "limited")
_REFUSALS: Final = ("refusal", "refused")
_CANCELLED: Final = ("cancelled", "interrupted")

# --- the session and its turns -----------------------------------------------------------------------------


def session(item: m.SessionInitEvent) -> dict[str, Any]:
    """The fields of session.started that a session_init tells."""
    facts = {
        "model": item.model,
        "effort": item.reasoning_effort,
        "cwd": item.cwd,
        "tools": item.available_tools,
        "mcp_servers": [
            ev.McpServer(name=server.name, status=server.status, server_info=_plain(server.server_info))
            for server in item.mcp_servers or []
        ],
        "permission_mode": item.permission_mode,
        "account": _plain(item.account),
        "commands": [
            ev.SlashCommand(
                name=command.name,
                description=command.description or None,
                hint=command.argument_hint or None,
            )
            for command in item.slash_commands or []
        ],
        "models": [_plain(model) for model in item.available_models or []],
    }
    return {name: value for name, value in facts.items() if value}


def _plain(part: m.Part | None) -> dict[str, Any]:
    if part is None:
        return {}
    values = zip(part.__struct_encode_fields__, part.__struct_fields__, strict=True)
    return {shown: value for shown, name in values if (value := getattr(part, name)) is not None}


def session_status(item: m.SessionStatusEvent) -> ev.Event:
    """Gemini's errors come as a status."""
    if item.provider == "gemini" and item.status == "error":
        return ev.Error(message=item.message or "")
    return ev.SessionStatus(status=item.status, message=item.message)


def available_commands(item: m.AvailableCommandsEvent) -> ev.SessionCommands:
    named = [command for command in item.available_commands if isinstance(command, dict)]
    return ev.SessionCommands(
        commands=[
            ev.SlashCommand(name=str(command.get("name", command.get("id", ""))).removeprefix("/"))
            for command in named
        ]
    )


def session_mode(item: m.SessionModeEvent) -> ev.SessionMode:
    modes = [
        ev.Mode(id=str(mode["id"]), name=mode["name"] if isinstance(mode.get("name"), str) else None)
        for mode in item.available_modes
        if isinstance(mode, dict) and "id" in mode
    ]
    return ev.SessionMode(mode=item.current_mode_id, modes=modes)


def config_options(item: m.ConfigOptionsEvent) -> ev.SessionOptions:
    return ev.SessionOptions(options=item.config_options)


def context_compaction(item: m.ContextCompactionEvent) -> ev.ContextCompacted:
    return ev.ContextCompacted(trigger=item.trigger, before_tokens=item.pre_tokens, summary=item.summary)


def turn_started(item: m.InsightsEvent) -> ev.TurnStarted:
    """The turn that `item` is the first of: what the user says opens it, anything else only shows that it is open."""
    if isinstance(item, m.UserInputEvent) and not item.is_synthetic:
        return ev.TurnStarted(prompt=item.text)
    return ev.TurnStarted(synthesized=True)


def turn_complete(item: m.TurnCompleteEvent) -> ev.TurnEnded:
    errors = item.errors or []
    message = errors[0] if errors else item.result or item.subtype
    return ev.TurnEnded(
        outcome=_outcome(item),
        reason=item.subtype,
        text=item.result,
        error=ev.ErrorInfo(message=message or "failed") if item.is_error else None,
        errors=errors,
        usage=_usage(item.provider, item.usage),
        model_usage={
            name: _model_usage(item.provider, used) for name, used in (item.model_usage or {}).items()
        },
        cost_usd=item.cost_usd if (item.cost_usd or 0) >= 0 else None,
        duration_ms=item.duration_ms,
        api_duration_ms=item.duration_api_ms,
        steps=item.num_turns,
        denials=[
            ev.Denial(tool_name=denial.tool_name, call_id=denial.tool_use_id, input=denial.tool_input)
            for denial in item.permission_denials or []
        ],
    )


def _outcome(item: m.TurnCompleteEvent) -> ev.TurnOutcome:
    word = item.subtype or ""
    if not item.is_error:
        return "cancelled" if word in _CANCELLED else "completed"
    if word in _LIMITS:
        return "limited"
    return "refused" if word in _REFUSALS else "failed"


# --- what is said ------------------------------------------------------------------------------------------


def text(item: m.TextEvent) -> ev.Message | ev.PlanUpdated | ev.Error:
    """A message without its id; a plan where its lines are told apart; an error of Codex or ACP."""
    extensions = item.extensions or {}
    if item.kind == "plan" and any(key in extensions for key in _PLANS):
        return ev.PlanUpdated(entries=_entries(item.text, extensions), parent=item.parent_call_id)
    if item.kind == "error" and item.provider in ("codex", "acp"):
        return ev.Error(message=item.text)
    synthetic, echo = "claude.isSynthetic" in extensions, "claude.isReplay" in extensions
    return ev.Message(
        role="user" if synthetic or echo else "assistant",
        kind=item.kind,
        text=item.text,
        parent=item.parent_call_id,
        model=item.model,
        synthetic=synthetic,
        echo=echo,
    )


def _entries(text: str, extensions: dict[str, Any]) -> list[ev.PlanEntry]:
    """The lines of a plan, each with what the extension says of it."""
    native: list[Any] = next((extensions[key] for key in _PLANS if isinstance(extensions.get(key), list)), [])
    lines = text.split("\n") if text else []
    known = native if len(native) == len(lines) else [{}] * len(lines)
    return [
        ev.PlanEntry(text=line, status=_progress(entry)) for line, entry in zip(lines, known, strict=True)
    ]


def _progress(native: Any) -> Any:
    entry = native if isinstance(native, dict) else {}
    if entry.get("status") in ("pending", "in_progress", "completed"):
        return entry["status"]
    return "completed" if entry.get("completed") is True else "pending"


def user_input(item: m.UserInputEvent) -> ev.Message:
    """Without its id."""
    images = [c.ImageBlock(mime_type=image.media_type, data=image.data) for image in item.images or []]
    return ev.Message(role="user", text=item.text, blocks=list(images), synthetic=item.is_synthetic)


def tool_input(item: m.StreamDeltaEvent) -> ev.Delta:
    return ev.Delta(
        kind="tool_input",
        text=item.json_delta or "",
        block=item.block_index,
        call_id=item.call_id,
        parent=item.parent_call_id,
    )


def boundary(item: m.StreamDeltaEvent) -> ev.NativeKnown:
    """Where a message or a block begins or ends: canonical events need no such marks."""
    return ev.NativeKnown(native_type=f"stream_delta/{item.kind}", parent=item.parent_call_id)


# --- tools, subagents and requests -------------------------------------------------------------------------


def tool_started(item: m.ToolInvocationEvent) -> ev.ToolStarted:
    return ev.ToolStarted(
        call_id=item.call_id,
        name=item.tool_name,
        kind=item.kind,
        title=item.title,
        input=item.input,
        locations=locations(item),
        model=item.model,
        parent=item.parent_call_id,
    )


def tool_updated(item: m.ToolInvocationEvent, before: m.ToolInvocationEvent) -> ev.ToolUpdated:
    """What `item` says otherwise than `before`."""
    return ev.ToolUpdated(
        call_id=item.call_id,
        title=item.title if item.title != before.title else None,
        input=item.input if item.input != before.input else None,
        locations=locations(item) if item.locations != before.locations else [],
        parent=item.parent_call_id,
    )


def locations(item: m.ToolInvocationEvent | m.ToolCompletionEvent) -> list[ev.Location]:
    return [ev.Location(path=path) for path in item.locations or []]


def tool_ended(item: m.ToolCompletionEvent, parent: str | None) -> ev.ToolEnded:
    output = item.output if isinstance(item.output, str) else None
    message = output or fields.text(item.output, "message")
    code = item.output.get("exit_code") if isinstance(item.output, dict) else None
    status: Any = (item.extensions or {}).get(f"{item.provider}.status")
    if status not in ("declined", "skipped", "abandoned"):
        status = item.status
    return ev.ToolEnded(
        call_id=item.call_id,
        status=status,
        output=output,
        structured=None if output is not None else item.output,
        content=[_block(block) for block in item.content or []],
        error=ev.ErrorInfo(message=message) if item.is_error and message else None,
        exit_code=code if type(code) is int and item.provider == "codex" else None,
        parent=parent,
    )


def _block(block: m.ContentBlock) -> c.ContentBlock:
    match block:
        case m.TextContent():
            return c.TextBlock(text=block.text)
        case m.ThinkingContent():
            return c.ThinkingBlock(text=block.thinking, signature=block.signature)
        case m.ImageContent():
            return c.ImageBlock(mime_type=block.mime_type, data=block.data, uri=block.uri)
        case m.AudioContent():
            return c.AudioBlock(mime_type=block.mime_type, data=block.data, uri=block.uri)
        case m.ResourceContent():
            return _resource(block)
        case m.ResourceLinkContent():
            return c.ResourceLinkBlock(
                uri=block.uri, name=block.name, title=block.title, mime_type=block.mime_type, size=block.size
            )
        case m.DiffContent():
            return c.DiffBlock(
                path=block.file_path,
                before=block.old_content,
                after=block.new_content,
                patch=block.unified_diff,
            )
        case m.TerminalContent():
            return c.TerminalBlock(
                terminal_id=block.terminal_id, output=block.output, exit_code=block.exit_code
            )
        case m.UnknownContent():
            return c.UnknownBlock(native=block.raw)


def _resource(block: m.ResourceContent) -> c.ContentBlock:
    held = block.contents if isinstance(block.contents, dict) else {}
    known = {key: held.get(key) for key in ("mimeType", "text", "blob")}
    if any(value is not None and not isinstance(value, str) for value in known.values()):
        return c.UnknownBlock(native=msgspec.to_builtins(block))
    return c.ResourceBlock(
        uri=block.uri or None,
        name=block.name or None,
        mime_type=known["mimeType"],
        text=known["text"],
        blob=known["blob"],
    )


def subagent_spawn(item: m.SubagentSpawnEvent) -> ev.SubagentStarted:
    return ev.SubagentStarted(
        call_id=item.call_id,
        agent_type=item.agent_type,
        description=item.description,
        resume_id=item.resume_agent_id,
    )


def subagent_complete(item: m.SubagentCompleteEvent) -> ev.SubagentEnded:
    return ev.SubagentEnded(
        call_id=item.call_id, agent_id=item.agent_id, status=item.status, summary=item.summary
    )


def permission(item: m.PermissionRequestEvent) -> ev.PermissionRequested | ev.QuestionAsked:
    return _question(item) or ev.PermissionRequested(
        request_id=item.request_id,
        call_id=item.tool_use_id,
        tool_name=item.tool_name,
        kind=item.tool_kind,
        input=item.tool_input,
        reason=item.reason,
        blocked_path=item.blocked_path,
        suggestions=[msgspec.to_builtins(suggestion) for suggestion in item.suggestions or []],
    )


def _question(item: m.PermissionRequestEvent) -> ev.QuestionAsked | None:
    """The question that a permission_request is, if it is one: it has the input of QUESTION_TOOL and no more."""
    given = item.tool_input
    if item.tool_name != m.QUESTION_TOOL or item.tool_kind != "ask":
        return None
    asked = given.get("questions")
    questions = asked if isinstance(asked, list) else []
    if given.keys() - {"questions"} and (questions or given.keys() - {"message", "schema", "url"}):
        return None
    message, url = given.get("message"), given.get("url")
    return ev.QuestionAsked(
        request_id=item.request_id,
        message=message if isinstance(message, str) and message else None,
        mode="url" if isinstance(url, str) and url else "form",
        url=url if isinstance(url, str) and url else None,
        questions=questions,
        schema=given.get("schema"),
        call_id=item.tool_use_id,
    )


# --- what it took ------------------------------------------------------------------------------------------


def usage_update(item: m.UsageUpdateEvent) -> ev.UsageUpdated:
    parent = (item.extensions or {}).get("parent_tool_use_id")
    counts = item.step_usage
    read, written = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")
    return ev.UsageUpdated(
        scope="call",
        usage=Usage(
            input_tokens=_all_input(item.provider, counts.get("input_tokens"), read, written),
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=counts.get("output_tokens"),
        ),
        parent=parent if isinstance(parent, str) else None,
    )


def _all_input(provider: str, fresh: int | None, read: int | None, written: int | None) -> int | None:
    if provider != "claude" or fresh is None:
        return fresh
    return fresh + (read or 0) + (written or 0)


def _usage(provider: str, tokens: m.TokenUsage | None) -> Usage | None:
    if tokens is None:
        return None
    read, written = tokens.cache_read_tokens, tokens.cache_creation_tokens
    return Usage(
        input_tokens=_all_input(provider, tokens.input_tokens, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens.output_tokens,
    )


def _model_usage(provider: str, tokens: m.ModelTokenUsage) -> ModelUsage:
    read, written = tokens.cache_read_tokens, tokens.cache_creation_tokens
    return ModelUsage(
        input_tokens=_all_input(provider, tokens.input_tokens, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens.output_tokens,
        cost_usd=tokens.cost_usd,
        context_window=tokens.context_window,
        web_search_requests=tokens.web_search_requests,
    )


def rate_limit(item: m.RateLimitUpdateEvent) -> ev.RateLimit:
    windows = [
        {"name": name, **_plain(window)}
        for name, window in (("primary", item.primary), ("secondary", item.secondary))
        if window is not None
    ]
    return ev.RateLimit(
        resets_at=item.primary.resets_at if item.primary is not None else None,
        windows=windows,
        credits=_plain(item.credits) if item.credits is not None else None,
        plan=item.plan_type,
    )
