"""Session configuration and its enums, by specification 004 §7.2 and §7.3."""

from enum import StrEnum
from typing import Final, cast

from msgspec import Struct

from dragoman._model import config as config_module
from dragoman._model.config import Approve, Sandbox


class AgentType(StrEnum):
    claude = "claude"
    codex = "codex"
    gemini = "gemini"


class ApprovalMode(StrEnum):
    ask = "ask"
    """Ask for every tool."""
    askDangerous = "askDangerous"
    """Ask only for what is dangerous."""
    autoEdit = "autoEdit"
    """Files may be changed without asking."""
    autoAll = "autoAll"
    """Everything may be done without asking."""


class SandboxMode(StrEnum):
    none = "none"
    readOnly = "readOnly"
    workspaceWrite = "workspaceWrite"
    fullAccess = "fullAccess"


class FileChangeType(StrEnum):
    created = "created"
    modified = "modified"
    deleted = "deleted"


class SessionEndReason(StrEnum):
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"
    timeout = "timeout"


class SessionConfig(Struct, kw_only=True, frozen=True):
    """What is asked of a session. Enums may be given as their words."""

    agent_type: AgentType | str
    """claude, codex or gemini; or any other agent that Dragoman knows, by its name."""
    prompt: str
    session_id: str | None = None
    """The session to go on with."""
    working_directory: str | None = None
    model: str | None = None
    approval_mode: ApprovalMode | str = ApprovalMode.ask
    sandbox_mode: SandboxMode | str = SandboxMode.none
    allowed_tools: list[str] | None = None
    blocked_tools: list[str] | None = None
    max_turns: int | None = None
    environment: dict[str, str] | None = None


APPROVE: Final[dict[str, Approve]] = {
    ApprovalMode.ask: "ask",
    ApprovalMode.askDangerous: "dangerous",
    ApprovalMode.autoEdit: "edits",
    ApprovalMode.autoAll: "all",
}
SANDBOX: Final[dict[str, Sandbox]] = {
    SandboxMode.none: "none",
    SandboxMode.readOnly: "read-only",
    SandboxMode.workspaceWrite: "workspace",
    SandboxMode.fullAccess: "full",
}

DIALECTS: Final = {AgentType.gemini: "gemini_stream"}
"""Where it is not the agent's first. The specification's Gemini CLI is one process for each prompt; over ACP it would
empty a session that is resumed in the minute in which it began."""


def meant(config: SessionConfig) -> config_module.SessionConfig:
    """The same as `dragoman.open` takes it. A word that is none of an enum is passed on, to be refused there."""
    return config_module.SessionConfig(
        agent=str(config.agent_type),
        prompt=config.prompt,
        resume=config.session_id,
        cwd=config.working_directory,
        model=config.model,
        approve=APPROVE.get(config.approval_mode, cast(Approve, config.approval_mode)),
        sandbox=SANDBOX.get(config.sandbox_mode, cast(Sandbox, config.sandbox_mode)),
        allowed_tools=config.allowed_tools or [],
        blocked_tools=config.blocked_tools or [],
        max_turns=config.max_turns,
        env=config.environment or {},
        dialect=DIALECTS.get(cast(AgentType, config.agent_type)),
    )
