"""Nothing raises, and what always holds, holds, whatever the lines are."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects.codex.rollout.messages import TYPES
from dragoman._model.frames import Frame
from dragoman._wire.event_json import encode
from tests.dialects.codex.rollout.rollout_files import interpreted

NAMES = """
    id type status role content text item call_id name namespace arguments input output summary summary_text raw_content
    phase message session_id forked_from_id parent_thread_id source subagent history_base
    subagent_history_start_ordinal turn_id reason error last_agent_message info total_token_usage last_token_usage
    rate_limits usage turn_token_usage input_tokens changes command cwd exit_code duration secs nanos server tool result
    receiver_thread_ids agents_states agent_thread_id kind query action path thread_settings model
""".split()  # noqa: SIM905
WORDS = """
    message reasoning function_call function_call_output custom_tool_call custom_tool_call_output web_search_call
    agent_message user_message task_started task_complete turn_aborted token_count item_completed patch_apply_end
    thread_rolled_back context_compacted session_configured UserMessage AgentMessage Reasoning CommandExecution
    FileChange McpToolCall WebSearch ImageView CollabAgentToolCall SubAgentActivity ContextCompaction spawn_agent
    started completed failed shell apply_patch update_plan s1 s2 s3 c1 c2 user assistant developer \ud83d
""".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=15,
)
PAYLOADS = st.builds(
    lambda fields, kind, item, item_kind, id: {
        **fields,
        "type": kind,
        "item": {**item, "type": item_kind},
        **id,
    },
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8),
    st.sampled_from(WORDS),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
    st.sampled_from(WORDS),
    st.fixed_dictionaries({}, optional={"id": st.sampled_from(["s1", "s2", "c1"]), "call_id": st.just("c1")}),
)
LINES = st.binary(max_size=20) | st.builds(
    lambda kind, ordinal, payload: json.dumps(
        {"timestamp": "2026-01-01T00:00:00Z", "ordinal": ordinal, "type": kind, "payload": payload}
    ).encode(),
    st.sampled_from([*sorted(TYPES), "?"]),
    st.none() | st.integers(0, 5),
    PAYLOADS,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=12))
def test_any_lines_are_read(written: list[bytes]) -> None:
    traffic = [Frame(n, "out", line) for n, line in enumerate(written, 1)]
    events = interpreted(traffic)
    assert broken(events, frames=range(1, len(written) + 1)) == []
    assert all(map(encode, events))
