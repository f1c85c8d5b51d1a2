"""Streams of events that no agent would write: any type, any value, in any order."""

from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from dragoman._model.events import EVENTS, Event

_words = st.sampled_from(
    [
        "",
        "a",
        "toolu_1",
        "call-1",
        "shell",
        "apply_patch",
        "Task",
        "completed",
        "failed",
        "acp",
        "\ud83d",
        "ä\nb",
    ]
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
_keys = st.sampled_from(
    [
        "acp.status",
        "acp.toolContent",
        "acp.planEntries",
        "codex.todoItems",
        "claude.isSynthetic",
        "agentEvent.items",
        "insights.items",
    ]
)
_DIALECTS = "claude_stream codex_exec codex_app codex_rollout gemini_stream acp agent-event insights claude_transcript x"
_OWN = {
    "agent": st.sampled_from(["claude", "codex", "gemini", "acp", "goose", ""]),
    "dialect": st.sampled_from(_DIALECTS.split()),
    "session": st.sampled_from([None, "s1", "s2"]),
    "frame": st.none() | st.integers(1, 3),
    "ext": st.dictionaries(_keys, _json, max_size=2),
    "line": st.none()
    | st.sampled_from(['{"type":"stream_event","event":{"type":"message_start"}}', "[", "{}"]),
    "time": st.none() | st.datetimes(timezones=st.just(UTC)),
    "text": _words,
    "call_id": st.sampled_from(["call-1", "toolu_1"]),
    "request_id": st.sampled_from(["r1", "r2"]),
    "method": st.sampled_from(
        ["terminal/create", "terminal/output", "terminal/release", "fs/read_text_file"]
    ),
    "cost_usd": st.none() | st.floats(min_value=0),
}
"""Fields whose values decide something."""

_LEFT = ("seq", "turn", "at", "agent_time", "line_b64", "eol", "schema")
"""Fields that no view looks at, or that decide nothing: they stay as they are made."""

_PLAIN = {
    str: _words,
    int: st.integers(-1, 5) | st.just(2**70),
    float: st.floats(),
    bool: st.booleans(),
    type(None): st.none(),
    Any: _json,
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def _values(hint: Any) -> st.SearchStrategy[Any]:
    """Whatever a field of this type can hold."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Literal:
        return st.sampled_from(args)
    if origin is list:
        return st.lists(_values(args[0]), max_size=2)
    if origin is dict:
        return st.dictionaries(_words, _values(args[1]), max_size=2)
    if args:
        return st.one_of([_values(arg) for arg in args])
    return _instances(hint)


@cache
def _instances(cls: type[Struct]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    own = _OWN if issubclass(cls, Event) else {}
    fields = {
        name: own[name] if name in own else _values(hints[name])
        for name in cls.__struct_fields__
        if name not in _LEFT
    }
    return st.builds(cls, **fields)


events: st.SearchStrategy[Event] = st.one_of([_instances(cls) for cls in EVENTS.values()])
streams = st.lists(events, max_size=8)
