"""Nothing that a line can hold makes the machine stumble, and what always holds, holds."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects.codex.app.items import Item
from dragoman._dialects.codex.app.messages import NOTIFICATIONS, REQUESTS
from dragoman._model.frames import Frame
from dragoman._wire.event_json import encode
from tests.dialects.codex.app.conversation import SCENARIOS, events_of, frames

_words = st.sampled_from(["a", "b", "t1", "t2", "c1", "", "completed", "inProgress", "interrupted", "\ud83d"])
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | _words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)
_types = st.sampled_from([str(kind.__struct_config__.tag) for kind in Item.__subclasses__()] + ["new"])
_FIELDS = [
    "threadId",
    "turnId",
    "itemId",
    "id",
    "delta",
    "item",
    "turn",
    "thread",
    "status",
    "error",
    "tokenUsage",
    "text",
    "summary",
    "content",
    "changes",
    "server",
    "tool",
    "arguments",
    "result",
    "receiverThreadIds",
    "agentsStates",
    "agentThreadId",
    "kind",
    "phase",
    "requestId",
    "run",
    "review",
    "goal",
    "plan",
    "_meta",
    "serverName",
    "questions",
    "permissions",
    "availableDecisions",
    "command",
    "summaryIndex",
    "contentIndex",
    "input",
    "name",
    "rateLimits",
    "threadSettings",
    "willRetry",
    "action",
    "fragments",
    "aggregatedOutput",
    "contentItems",
]
_ids = st.sampled_from(["t1", "t2", "t3"])


@st.composite
def _lines(draw: Any) -> Any:
    """A message of a method that exists, with fields that exist, holding anything."""
    fields = draw(st.dictionaries(st.sampled_from(_FIELDS), _values, max_size=5))
    if draw(st.booleans()):
        fields["threadId"] = draw(_ids)
    if draw(st.booleans()):
        inner = draw(st.dictionaries(st.sampled_from(_FIELDS), _values, max_size=5))
        fields["item"] = {"id": draw(_words), **inner, "type": draw(_types)}
    if draw(st.booleans()):
        fields["turn"] = {"id": draw(_words), "status": draw(_words)}
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return {"id": draw(st.integers(0, 3)), "result": draw(_values | st.just(fields))}
    if kind == 1:
        return {
            "id": draw(st.integers(0, 3)),
            "method": draw(st.sampled_from(sorted(REQUESTS))),
            "params": fields,
        }
    return {"method": draw(st.sampled_from(sorted(NOTIFICATIONS))), "params": fields}


_asked = st.builds(
    lambda id, method, thread, rest: {"id": id, "method": method, "params": {"threadId": thread, **rest}},
    st.integers(0, 3),
    st.sampled_from(
        ["turn/start", "turn/steer", "turn/interrupt", "thread/fork", "thread/resume", "review/start"]
    ),
    _ids,
    st.dictionaries(st.sampled_from(_FIELDS), _values, max_size=2),
)
_traffic = st.lists(
    st.tuples(st.just("out"), _lines()) | st.tuples(st.just("in"), _asked | _lines()), max_size=12
)


@given(_traffic)
@settings(max_examples=400, deadline=None)
def test_nothing_raises(traffic: list[tuple[Any, Any]]) -> None:
    sent = [
        Frame(n, direction, json.dumps(value).encode("utf-8", "surrogatepass"))
        for n, (direction, value) in enumerate(traffic, 1)
    ]
    events = events_of(sent)
    assert broken(events, frames=[frame.n for frame in sent if frame.dir == "out"]) == []
    for event in events:
        encode(event)


@given(st.sampled_from(SCENARIOS), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_lines_lost_doubled_cut_or_out_of_order(scenario: str, dice: Any) -> None:
    kept: list[Frame] = []
    for frame in frames(scenario):
        fate = dice.random()
        if fate < 0.1:
            continue
        line = frame.line[: dice.randrange(len(frame.line) + 1)] if fate > 0.93 else frame.line
        kept += [Frame(frame.n, frame.dir, line)] * (2 if fate < 0.2 else 1)
    for _ in range(len(kept) // 10):
        a, b = dice.randrange(len(kept)), dice.randrange(len(kept))
        kept[a], kept[b] = kept[b], kept[a]
    traffic = [Frame(n, frame.dir, frame.line) for n, frame in enumerate(kept, 1)]
    assert broken(events_of(traffic), frames=[frame.n for frame in traffic if frame.dir == "out"]) == []


@given(st.lists(st.binary(max_size=60), max_size=5))
@settings(max_examples=100, deadline=None)
def test_bytes_of_any_kind(lines: list[bytes]) -> None:
    traffic = [Frame(n, "out", line.replace(b"\n", b" ")) for n, line in enumerate(lines, 1)]
    assert broken(events_of(traffic), frames=[frame.n for frame in traffic]) == []
