"""Nothing raises, and what always holds, holds, whatever the lines are."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects.codex.exec.messages import TYPES
from dragoman._model.frames import Frame
from dragoman._wire.event_json import encode
from tests.dialects.codex.exec.exec_lines import interpreted

NAMES = """
    id type status text phase message command aggregated_output exit_code changes file_path diff server tool name
    arguments result error prompt receiver_thread_ids agents_states query action items questions thread_id usage
    payload msg delta call_id info total_token_usage last_token_usage rate_limits chunk path kind move_path content
    unified_diff call_id plan step completed input_tokens reason
""".split()  # noqa: SIM905
WORDS = """
    agent_message reasoning command_execution tool_call shell file_change file_edit mcp_tool_call web_search todo_list
    collab_tool_call spawn_agent wait error input_request completed failed declined in_progress i1 i2 t1 t2
    task_started task_complete turn_aborted user_message agent_message_delta agent_reasoning agent_reasoning_delta
    token_count exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin patch_apply_end
    exec_approval_request session_configured context_compacted mcp_tool_call_end web_search_end add update \ud83d
""".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=15,
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)
ITEMS = st.builds(
    lambda fields, kind, id, text: {**fields, "type": kind, "id": id, "text": text},
    FIELDS,
    st.sampled_from(WORDS),
    st.sampled_from(["i1", "i2"]),
    st.sampled_from(["", "a", "ab", "abc", "b", "a\ud83d", "a\ud83d\ude00"]),
)
LINES = st.binary(max_size=20) | st.builds(
    lambda kind, fields, item: json.dumps({**fields, "type": kind, "item": item, "payload": item}).encode(),
    st.sampled_from([*TYPES, "codex/event", "?"]),
    FIELDS,
    ITEMS,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=12))
def test_any_lines_are_read(written: list[bytes]) -> None:
    traffic = [Frame(n, "out", line) for n, line in enumerate(written, 1)]
    events = interpreted(traffic)
    assert broken(events, frames=range(1, len(written) + 1)) == []
    assert all(map(encode, events))
