"""What holds for every stream of this view, whatever the events: one start per token, one completion, last."""

import json
import random
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal, get_args, get_origin

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from dragoman._dialects import DIALECTS
from dragoman._files.convert import convert
from dragoman._model import events as ev
from dragoman._model.events import EVENTS, Event
from dragoman._model.usage import Usage
from dragoman._projections import untether
from dragoman._projections.published import encode
from dragoman._projections.untether import CompletedEvent, UntetherEvent, projector
from tests.golden import captures, source
from tests.projections.untether.showing import actions, completed, said, seen, started

PROFILES: list[dict[str, Any]] = [
    {"profile": "seed"},
    {"profile": "live"},
    {"profile": "seed", "compat": "untether-0.35"},
]
SCHEMA = jsonschema.Draft202012Validator(untether.schema())


def hold(items: list[Struct]) -> None:
    """The contract."""
    last = completed(items)
    tokens = [item.resume for item in started(items)]
    assert max(Counter(tokens).values(), default=1) == 1
    assert last.resume is None or last.resume in tokens
    assert last.ok == (last.error is None)
    begun: set[str] = set()
    over: set[str] = set()
    for item in actions(items):
        assert item.action.title
        assert item.action.id not in over, "nothing happens to an action that is over"
        if item.phase == "started":
            assert item.action.id not in begun
            begun.add(item.action.id)
        elif item.phase == "completed":
            assert item.ok is not None
            over.add(item.action.id)
        else:
            assert item.action.id in begun
    for line in map(encode, items):
        assert b"\n" not in line
        msgspec.json.decode(line, type=UntetherEvent)


# --- generated -----------------------------------------------------------------------------------------------

_IDS = ["a", "b", "c"]
_TEXTS = ["", "a", "two\nlines", "\ud83d", "x" * 600]
_INPUTS: list[Any] = [
    None, {}, [], "text", {"command": "ls"}, {"command": ["a", "b"]}, {"command": 7, "query": None},
    {"file_path": "/w/a", "query": "q", "pattern": "*", "description": "d"}, {"path": {"deep": [1.5, "\ud83d"]}},
    {"file_path": float("nan")},
]  # fmt: skip
_VALUES: dict[str, list[Any]] = {
    "call_id": _IDS,
    "request_id": _IDS,
    "message_id": [None, *_IDS],
    "parent": [None, None, None, *_IDS],
    "input": _INPUTS,
    "ext": [
        {},
        {"gemini.stats": {"input_tokens": 1}},
        {"gemini.stats": 3},
        {"codex.itemType": "collab_tool_call"},
        {"codex.itemId": "item_0", "codex.itemPhase": "completed"},
        {"codex.itemId": "item_0"},
        {"codex.itemId": 7},
    ],
    "name": ["Bash", "apply_patch", "web_search", "Read", "Task", "", "shell"],
    "native_name": [None, "mcp__s__t"],
    "server": [None, None, "s"],
    "locations": [[], [ev.Location(path="/a")]],
    "entries": [[], [ev.PlanEntry(text="x", status="completed"), ev.PlanEntry(text="")]],
    "discards": [[], ["a"], ["b", "c"]],
    "errors": [[], ["one", "two"]],
    "error": [None, ev.ErrorInfo(message="bad"), ev.ErrorInfo(message="")],
    "usage": [None, Usage(), Usage(input_tokens=3, output_tokens=1, cache_read_tokens=2)],
    "cost_usd": [None, 0, 0.5],
    "exit_code": [None, 0, 1],
    "signal": [None, None, "SIGKILL", "SIGODD"],
    "time": [None, datetime(2026, 1, 1, tzinfo=UTC)],
    "resets_at": [None, 0, 4e9, float("nan"), 10**400],
    "windows": [
        [],
        [3],
        [{"retry_after_ms": 1500}],
        [{"retry_after_ms": 10**400}],
        [{"retry_after_ms": "x"}],
    ],
    "mcp_servers": [[], [ev.McpServer(name="m")]],
    "replay": [False] * 9 + [True],
}
"""What the fields may hold that the view reads; all other fields keep their defaults, or are texts and words."""

_LIKELY: list[type[Event]] = [
    ev.ToolStarted,
    ev.ToolUpdated,
    ev.ToolEnded,
    ev.Delta,
    ev.Message,
    ev.TurnStarted,
    ev.TurnEnded,
    ev.Error,
]
_OTHERS = [kind for kind in EVENTS.values() if kind is not ev.RunEnded]


def event(dice: random.Random) -> Event:
    kind: type[Event] = dice.choice(_LIKELY if dice.random() < 0.5 else _OTHERS)
    fields: dict[str, Any] = {}
    for info in msgspec.structs.fields(kind):
        words = get_args(info.type)
        if info.name in _VALUES:
            fields[info.name] = dice.choice(_VALUES[info.name])
        elif get_origin(info.type) is Literal:
            fields[info.name] = dice.choice(words)
        elif info.type is str or (str in words and dice.random() < 0.5):
            fields[info.name] = dice.choice(_TEXTS)
        elif info.type is bool:
            fields[info.name] = dice.random() < 0.3
    return kind(**{**fields, "session": dice.choice([None, *_IDS])})


def run(dice: random.Random, size: int) -> list[Event]:
    agent = dice.choice(["claude", "codex", "gemini", "opencode", "pi", "amp", "other", ""])
    dialect = dice.choice(["", "acp", "codex_exec", "claude_stream"])
    stream = [event(dice) for _ in range(size)]
    if dice.random() < 0.7:
        place = dice.randrange(size + 1) if dice.random() < 0.3 else size
        stream.insert(
            place, ev.RunEnded(outcome="failed", exit_code=dice.choice([None, 0, 1]), stderr_tail="x")
        )
    return said(agent, *stream, dialect=dialect, session=None)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**40), size=st.integers(0, 60), how=st.sampled_from(PROFILES))
def test_any_events_in_any_order(seed: int, size: int, how: dict[str, Any]) -> None:
    hold(seen(run(random.Random(seed), size), **how))


# --- real ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_capture(dialect: str) -> None:
    for capture in captures(dialect):
        stream = list(convert(source(capture), dialect))
        for how in PROFILES:
            items = seen(stream, **how)
            hold(items)
            for item in items:
                SCHEMA.validate(json.loads(encode(item)))


def test_a_stream_of_nothing_completes_too() -> None:
    for how in PROFILES:
        last = completed(seen([], vendor="gemini", **how))
        assert (last.engine, last.ok, last.answer) == ("gemini", False, "")


def test_what_comes_after_the_end_makes_nothing() -> None:
    view = projector()
    [ended] = said("claude", ev.RunEnded(outcome="completed", exit_code=0))
    assert isinstance(view.feed(ended)[-1], CompletedEvent)
    assert view.feed(ended) == []
    assert view.end() == []


def test_ids_are_unique_within_a_run() -> None:
    """Agents use ids again, in one session and in two."""
    call = ev.ToolStarted(call_id="c", name="Bash", input={"command": "ls"})
    done = ev.ToolEnded(call_id="c", status="completed")
    stream = [*said("claude", call, done), *said("claude", call, done, session="s-2")]
    assert [item.action.id for item in actions(seen(stream))] == ["c", "c", "c#2", "c#2"]


def test_no_agent_is_refused() -> None:
    assert untether.refusal(vendor="anything") == ""
