"""What a session did, as entries: each says where it is told. A field without a default, or whose default is zero, is always
written; one that is None is not."""

from msgspec import Struct, field

from dragoman._reports.changes import Came


class Place(Struct, omit_defaults=True, kw_only=True):
    """Where something is told: an event of a run."""

    run: str
    seq: int


class TurnDone(Place, kw_only=True):
    turn: int
    prompt: str | None = None
    at: float | None = None
    """When it began, in seconds since 1970."""
    outcome: str | None = None
    """None as long as it is open."""
    cost_usd: float | None = None
    """What its agent says; else what the table of prices says."""
    duration_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tools: int = field(default_factory=int)
    """Calls."""
    errors: int = field(default_factory=int)


class FileDone(Place, kw_only=True):
    """A file that was changed; the place is that of its last change."""

    path: str
    change: Came
    moved_from: str | None = None
    added: int = field(default_factory=int)
    removed: int = field(default_factory=int)


class CommandDone(Place, kw_only=True):
    line: str
    status: str
    """running, until it has ended."""
    exit_code: int | None = None
    duration_ms: float | None = None


class PermissionDone(Place, kw_only=True):
    """A permission that was decided."""

    tool: str
    what: str
    outcome: str
    by: str
    rule: str | None = None
    who: str | None = None


class SubagentDone(Place, kw_only=True):
    call_id: str
    description: str
    status: str
    """running, until it has ended."""


class ErrorDone(Place, kw_only=True):
    message: str


class Spent(Struct, kw_only=True):
    """Tokens."""

    input_tokens: int = 0
    """Cached ones included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    """Reasoning included."""
    reasoning_tokens: int = 0
    calls: int = 0
    """Of a model, as far as they are told one by one."""


class Context(Struct, omit_defaults=True, kw_only=True):
    used: int
    window: int | None = None


class End(Struct, omit_defaults=True, kw_only=True):
    """How the last run ended."""

    outcome: str
    exit_code: int | None = None
    signal: str | None = None
    reason: str | None = None


class DeedsSummary(Struct, omit_defaults=True, kw_only=True):
    """What a session did."""

    turns: list[TurnDone]
    files: list[FileDone]
    commands: list[CommandDone]
    permissions: list[PermissionDone]
    usage: Spent
    subagents: list[SubagentDone]
    errors: list[ErrorDone]
    cost_usd: float | None = None
    """What the agent says."""
    cost_estimated_usd: float | None = None
    """What those of its calls cost by the table of prices of which the agent says nothing."""
    unpriced_calls: int = field(default_factory=int)
    """Calls whose cost nobody knows: with any, the costs are the least it can be."""
    context: Context | None = None
    ended: End | None = None
    more: dict[str, int] = field(default_factory=dict)
    """How many more there are of each kind than are listed."""
