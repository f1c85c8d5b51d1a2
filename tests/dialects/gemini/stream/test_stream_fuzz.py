"""Nothing raises, and what always holds, holds, whatever the lines are."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects.gemini.stream.messages import TYPES
from dragoman._model.frames import Exit, Frame
from dragoman._wire.event_json import encode
from tests.dialects.gemini.stream.stream_lines import interpreted

NAMES = """
    type role content delta tool_name tool_id parameters status output error message severity stats models session_id
    model value result args name id total_tokens input_tokens output_tokens cached thought_tokens duration_ms attempt
    todos description agent_name prompt file_path old_string new_string timestamp subject code
""".split()  # noqa: SIM905
WORDS = """
    user assistant success error warning cancelled write_file write_todos invoke_agent read_file__1 write_file__1
    s1 s2 unknown policy_violation FatalTurnLimitedError pending a \ud83d \ude00 x\ud83d
""".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=12,
)
LINES = st.binary(max_size=20) | st.builds(
    lambda kind, fields: json.dumps({**fields, "type": kind}).encode(),
    st.sampled_from([*TYPES, "?"]),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8),
)
DELTAS = st.builds(
    lambda text: json.dumps(
        {"type": "message", "role": "assistant", "content": text, "delta": True}
    ).encode(),
    st.sampled_from(["a", "", "\ud83d", "\ude00", "x\ud83d"]),
)
EXITS = st.builds(Exit, code=st.sampled_from([None, 0, 1, 53, 144, 173]))


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES | DELTAS, max_size=12), EXITS)
def test_any_lines_are_read(written: list[bytes], exit: Exit) -> None:
    events = interpreted([Frame(n, "out", line) for n, line in enumerate(written, 1)], exit)
    assert broken(events, frames=range(1, len(written) + 1)) == []
    assert all(map(encode, events))
