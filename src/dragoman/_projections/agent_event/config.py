"""The configuration and the counts that AgentEvent shows, from those that canonical events have."""

from typing import Any, Final

from dragoman._dialects.agent_event.messages import ApprovalMode, SandboxMode, SessionConfig, TokenUsage
from dragoman._model import events as ev
from dragoman._model.usage import Usage

_APPROVAL: Final[dict[str, ApprovalMode]] = {
    "ask": "ask",
    "dangerous": "askDangerous",
    "edits": "autoEdit",
    "all": "autoAll",
    # what the agents themselves call it (specification 004 §6.4)
    "default": "ask",
    "untrusted": "ask",
    "on-request": "askDangerous",
    "acceptEdits": "autoEdit",
    "auto_edit": "autoEdit",
    "autoEdit": "autoEdit",
    "bypassPermissions": "autoAll",
    "never": "autoAll",
    "yolo": "autoAll",
}
"""Our words first. Codex's `never` means: ask nothing, do all; ours is said by `approve` and has no equal."""

_SANDBOX: Final[dict[str, SandboxMode]] = {
    "none": "none",
    "read-only": "readOnly",
    "workspace": "workspaceWrite",
    "full": "fullAccess",
}


def config_of(vendor: str, run: ev.RunStarted | None, session: ev.SessionStarted) -> SessionConfig:
    """What was asked for when the run was launched, else what the agent says of its session."""
    asked = run.config if run is not None else {}
    approve = asked.get("approve")
    mode = session.permission_mode or session.mode
    return SessionConfig(
        agent_type=vendor,
        working_directory=session.cwd or (run.cwd if run is not None else None),
        model=session.model,
        approval_mode=_word(_APPROVAL, None if approve == "never" else approve or mode),
        sandbox_mode=_word(_SANDBOX, asked.get("sandbox")),
        allowed_tools=_texts(asked.get("allowed_tools")),
        blocked_tools=_texts(asked.get("blocked_tools")),
        max_turns=asked["max_turns"] if type(asked.get("max_turns")) is int else None,
    )


def _word(table: dict[str, Any], word: Any) -> Any:
    return table.get(word) if isinstance(word, str) else None


def _texts(value: Any) -> list[str] | None:
    return [str(item) for item in value] if isinstance(value, list) and value else None


def token_usage(usage: Usage | None) -> TokenUsage | None:
    """The counts, where the three that the schema requires are known or follow from each other."""
    if usage is None:
        return None
    read, written, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
    if read is None and total is not None and written is not None:
        read = total - written
    elif written is None and total is not None and read is not None:
        written = total - read
    if read is None or written is None:
        return None
    return TokenUsage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=usage.cache_read_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_tokens=total if total is not None else read + written,
    )
