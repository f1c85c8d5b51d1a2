"""Nothing raises, and what always holds, holds, whatever the lines are."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._model.frames import Frame
from dragoman._wire.event_json import encode
from tests.dialects.gemini.chat.chat_files import interpreted

NAMES = """
    id type content text thought functionCall functionResponse inlineData name args response output error thoughts
    subject description tokens input cached total toolCalls status result resultDisplay fileDiff filePath
    originalContent newContent isNewFile agentId messages summary sessionId projectHash kind directories model
    displayContent timestamp $set $rewindTo todos agent_name prompt
""".split()  # noqa: SIM905
WORDS = """
    user gemini info error warning success cancelled executing subagent main m1 m2 c1 c2 s1 s2 write_file write_todos
    invoke_agent <session_context> <state_snapshot>x \ud83d
""".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=15,
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)
CALLS = st.builds(
    lambda fields, id, name, status: {**fields, "id": id, "name": name, "status": status},
    FIELDS,
    st.sampled_from(["c1", "c2"]),
    st.sampled_from(["write_file", "write_todos", "invoke_agent", "x"]),
    st.sampled_from(["success", "error", "cancelled", "executing"]),
)
ENTRIES = st.builds(
    lambda fields, id, kind, calls: {**fields, "id": id, "type": kind, "toolCalls": calls},
    FIELDS,
    st.sampled_from(["m1", "m2", "m3"]),
    st.sampled_from(["user", "gemini", "info", "error", "?"]),
    st.lists(CALLS, max_size=2),
)
LINES = (
    st.binary(max_size=20)
    | st.sampled_from([b"{", b"}", b"", b"  }"])
    | (
        FIELDS | ENTRIES | st.builds(lambda all: {"$set": {"messages": all}}, st.lists(ENTRIES, max_size=3))
    ).map(lambda value: json.dumps(value).encode())
)


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=12))
def test_any_lines_are_read(written: list[bytes]) -> None:
    events = interpreted(Frame(n, "out", line) for n, line in enumerate(written, 1))
    assert broken(events, frames=range(1, len(written) + 1)) == []
    assert all(map(encode, events))
