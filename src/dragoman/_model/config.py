"""How a session is to be opened: the same words for every agent."""

from typing import Any, Literal, get_args

from msgspec import Struct, field

Approve = Literal["ask", "dangerous", "edits", "all", "plan", "never"]
"""ask: every tool that is not read-only. dangerous: only what can do harm. edits: file edits are allowed, the
rest is asked. all: nothing is asked. plan: look, do not touch. never: what would be asked is denied."""

Sandbox = Literal["none", "read-only", "workspace", "full"]

InheritEnv = bool | Literal["known"]

APPROVE_MODES: tuple[Approve, ...] = get_args(Approve)
SANDBOX_MODES: tuple[Sandbox, ...] = get_args(Sandbox)


class SessionConfig(Struct, kw_only=True, omit_defaults=True):
    """Everything that can be asked of a new session. Only `agent` is required."""

    agent: str
    prompt: str | None = None
    resume: str | None = None
    """Id of the session to go on with."""
    fork: bool = False
    """Go on in a copy of `resume`, not in the session itself."""
    cwd: str | None = None
    model: str | None = None
    approve: Approve = "ask"
    policy: str | None = None
    """A file of rules that come before the user's own and the project's."""
    sandbox: Sandbox = "none"
    allowed_tools: list[str] = field(default_factory=list)
    blocked_tools: list[str] = field(default_factory=list)
    max_turns: int | None = None
    max_cost_usd: float | None = None
    allow_unknown_cost: bool = False
    """Start even if `max_cost_usd` cannot be kept, because nobody knows what the model costs."""
    max_tokens: int | None = None
    max_tool_calls: int | None = None
    timeout: float | None = None
    """Seconds for the whole run."""
    idle_timeout: float | None = None
    """Seconds of silence while the agent works."""
    env: dict[str, str] = field(default_factory=dict)
    """Set for the agent, over what it inherits."""
    inherit_env: InheritEnv = "known"
    """How much of our environment the agent sees beside `env`. "known": what every program needs (PATH, HOME,
    locale, proxies, where tools are) and what is meant for this agent (its record's `env_prefixes`), so that
    unrelated secrets stay here. True: everything. False: nothing."""
    mcp_servers: dict[str, Any] = field(default_factory=dict)
    """MCP servers by name, in the common form: command, args, env | type, url, headers."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema that the final answer must satisfy."""
    dialect: str | None = None
    """Which of its languages the agent shall speak; its first, if absent."""
    executable: str | None = None
    """The program to start, if not the agent's own name on PATH."""
    extra_args: list[str] = field(default_factory=list)
    """Arguments appended as they are."""
    host: bool = True
    """Do what the agent asks its client to do, where it can ask: read and write files and run commands, within
    `cwd` and as far as `approve` allows."""
    serialize: bool = True
    """Wait while another run is at work in the session that is resumed: two at once lose what they write."""
    native: dict[str, Any] = field(default_factory=dict)
    """Options that only this agent has; its record documents them."""
    keep_lines: bool = False
    """Have events carry the agent's exact lines, as `convert --native` does."""
    record: str | None = None
    """Where to write the recording."""
    redact: bool = True
    """Keep keys, tokens and passwords out of the recording. See store/redaction.py for what counts as one."""
