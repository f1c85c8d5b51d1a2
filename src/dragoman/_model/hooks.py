"""Hooks: functions of the caller's that an agent calls at points of its own work."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from dragoman._model.errors import UsageError
from dragoman._model.events import ToolKind

GUARDS: Final = frozenset(("PreToolUse", "UserPromptSubmit"))
"""Events after which something is done: a hook that fails there blocks it."""

_ELSEWHERE: Final = {"PermissionRequest": "who may do what is decided by approve=... and by rules"}


class HookCall(Struct, frozen=True, kw_only=True):
    """What a hook is told: the same of every agent, and all that the agent says in `native`."""

    event: str
    """By the name under which the hook was given."""
    agent: str
    session: str | None = None
    """The agent's own id of the session."""
    cwd: str | None = None
    tool_name: str | None = None
    """The tool that is about to be called, or was, by the agent's name for it."""
    kind: ToolKind | None = None
    """What sort of tool it is."""
    input: Any = None
    """The tool's input, verbatim."""
    output: Any = None
    """What the tool gave, verbatim; after the call."""
    call_id: str | None = None
    prompt: str | None = None
    """What the user said, where that is what the event is about."""
    native: dict[str, Any] = field(default_factory=dict)
    """All that the agent says, in its own words."""


class HookAnswer(Struct, frozen=True, kw_only=True):
    """What a hook answers. One that has nothing to say returns None."""

    block: str | None = None
    """Why it must not be done, for the model to read; before a tool is called that denies the call, at the end of a turn
    it lets the model go on."""
    context: str | None = None
    """Something for the model to read as well."""


HookReply = HookAnswer | Mapping[str, Any] | None
"""An answer; or one in the agent's own words, passed on as it is; or None."""
HookHandler = Callable[[HookCall], HookReply | Awaitable[HookReply]]
"""Hears one event of an agent. It can forbid what the agent is about to do, and never allow what the policy would not."""


def checked_hooks(given: Mapping[str, HookHandler] | None) -> dict[str, HookHandler]:
    """What a caller gave as `hooks`. Raises UsageError; which events an agent has, its record knows."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"hooks must be a dict of functions by event; not {given!r:.60}")
    for event, hook in given.items():
        if event in _ELSEWHERE:
            raise UsageError(f"{event} takes no hook: {_ELSEWHERE[event]}")
        if not isinstance(event, str) or not callable(hook):
            raise UsageError(f"hooks[{event!r}] must be a function of one argument; not {hook!r:.60}")
    return dict(given)
