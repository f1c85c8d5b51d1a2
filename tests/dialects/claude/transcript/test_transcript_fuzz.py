"""Nothing raises, and what always holds, holds, whatever the lines are."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._model.frames import Frame
from dragoman._wire.event_json import encode
from tests.dialects.claude.transcript.transcript_files import FILES, OLD, events_of

NAMES = """
    type subtype uuid parentUuid sessionId agentId isSidechain timestamp cwd version message promptId isMeta
    isCompactSummary toolUseResult toolDenialKind permissionMode content id model role name stop_reason usage
    input tool_use_id is_error attachment prompt compactMetadata data leafUuid summary mode customTitle
    totalCostUSD modelUsage toolUseId isApiErrorMessage text thinking
""".split()  # noqa: SIM905
WORDS = """
    user assistant system attachment summary progress cost-state mode custom-title queue-operation text thinking
    tool_use tool_result server_tool_use web_search_tool_result Task Bash TodoWrite informational local_command
    compact_boundary api_error queued_command hook_success s1 s2 u1 t1 end_turn refusal \ud83d
    <task-notification><tool-use-id>t1</tool-use-id><status>completed</status></task-notification>
    <local-command-stdout>x</local-command-stdout> <command-name>/x</command-name>
""".split()  # noqa: SIM905
PHRASES = st.sampled_from([*WORDS, "[Request interrupted by user]"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PHRASES | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)
LINES = st.binary(max_size=20) | st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=10).map(
    lambda value: json.dumps(value).encode()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=8))
def test_any_lines_are_read(written: list[bytes]) -> None:
    traffic = [Frame(n, "out", line) for n, line in enumerate(written, 1)]
    events = events_of(traffic)
    assert broken(events, frames=range(1, len(written) + 1)) == []
    assert all(map(encode, events))


REAL = [line for path in FILES if path.is_relative_to(OLD) for line in path.read_bytes().splitlines()]


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A real line with one of its values, at any depth, replaced."""
    value = json.loads(draw(st.sampled_from(REAL)))
    place = value
    while True:
        key = (
            draw(st.sampled_from(sorted(place)))
            if isinstance(place, dict)
            else draw(st.integers(0, len(place) - 1))
        )
        inner = place[key]
        if not inner or not isinstance(inner, (dict, list)) or draw(st.booleans()):
            place[key] = draw(VALUES)
            return json.dumps(value).encode()
        place = inner


@settings(max_examples=300, deadline=None)
@given(st.lists(spoiled(), max_size=8))
def test_spoiled_lines_are_read(written: list[bytes]) -> None:
    traffic = [Frame(n, "out", line) for n, line in enumerate(written, 1)]
    assert broken(events_of(traffic), frames=range(1, len(written) + 1)) == []
