"""Nothing raises, and what always holds, holds, whatever the lines are and whoever wrote them."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects.acp.machine import Acp
from dragoman._files.sources import open_source
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.event_json import encode
from tests.golden import captures


class Strict(Acp):
    strict = True


NAMES = """
    jsonrpc id method params result error sessionId update sessionUpdate content messageId toolCallId toolCall title
    name kind status locations rawInput rawOutput type text path oldText newText terminalId data output exitStatus
    exitCode state stopReason usage inputTokens totalTokens _meta claudeCode toolResponse parentToolUseId
    terminal_output terminal_exit terminal_id exit_code configOptions category currentValue options value modes
    availableModes currentModeId models availableModels modelId entries availableCommands used size cost amount
    currency severity compactionId summary prompt optionId outcome protocolVersion code message requestId mode
    elicitationId changes operation patch quota token_count model_usage model subject command plan
""".split()  # noqa: SIM905
WORDS = """
    2.0 session/update session/new session/load session/prompt session/request_permission initialize session/fork
    fs/read_text_file terminal/output elicitation/create $/cancel_request _vendor user_message_chunk
    agent_message_chunk agent_thought_chunk agent_message tool_call tool_call_update tool_call_content_chunk
    terminal_update terminal_output_chunk state_update usage_update plan plan_update compaction_update notice
    config_option_update available_commands_update current_mode_update session_info_update running idle completed
    failed cancelled in_progress end_turn s1 s2 c1 c2 t1 QQ== text diff terminal content mode model select
    allow_once selected USD \ud83d dragoman-open dragoman-set-1
""".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=15,
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
KINDS = [word for word in WORDS if "_" in word and word.isascii()]
UPDATES = st.builds(
    lambda session, kind, fields: {"method": "session/update", "params": {"sessionId": session, "update": {**fields, "sessionUpdate": kind}}},
    st.sampled_from(["s1", "s2"]), st.sampled_from(KINDS), FIELDS,
)  # fmt: skip
CALLS = st.builds(
    lambda id, method, session, fields: {"id": id, "method": method, "params": {**fields, "sessionId": session}},
    st.integers(0, 3), st.sampled_from([word for word in WORDS if "/" in word] + ["initialize"]), st.sampled_from(["s1", "s2"]), FIELDS,
)  # fmt: skip
ANSWERS = st.builds(
    lambda id, key, value: {"id": id, key: value},
    st.integers(0, 3),
    st.sampled_from(["result", "error"]),
    VALUES,
)
MESSAGES = UPDATES | CALLS | ANSWERS | FIELDS
LINES = st.binary(max_size=20) | MESSAGES.map(lambda value: json.dumps({"jsonrpc": "2.0", **value}).encode())
TRAFFIC = st.lists(st.tuples(st.sampled_from(["out", "out", "in"]), LINES), max_size=12)


def run(traffic: list[tuple[Any, bytes]]) -> list[Event]:
    machine = Strict("fuzz", native=True)
    events = [*machine.start(Launch(agent="fuzz", dialect="acp")).events]
    for n, (direction, line) in enumerate(traffic, 1):
        events += machine.receive(Frame(n, direction, line)).events
    return events + list(machine.end(Exit()).events)


@settings(max_examples=400, deadline=None)
@given(TRAFFIC)
def test_any_lines_are_read(traffic: list[tuple[Any, bytes]]) -> None:
    events = run(traffic)
    written = [n for n, (direction, _) in enumerate(traffic, 1) if direction == "out"]
    assert broken(events, frames=written) == []
    assert all(map(encode, events))


REAL = [
    [
        (frame.dir, frame.line)
        for frame in open_source(path / "frames.jsonl", "acp")
        if frame.dir in ("in", "out")
    ]
    for path in captures("acp")
    if path.name in ("v2_shell", "shell_zedmeta", "acp_tools_default", "load_process2", "write")
]


@st.composite
def spoiled(draw: st.DrawFn) -> list[tuple[Any, bytes]]:
    """A real run in which some value of some line, at any depth, is another one."""
    traffic = list(draw(st.sampled_from(REAL)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(traffic) - 1))
        direction, line = traffic[at]
        value = place = json.loads(line)
        while isinstance(place, (dict, list)) and place:
            keys = sorted(place) if isinstance(place, dict) else range(len(place))
            key = draw(st.sampled_from(keys))
            if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.booleans()):
                place[key] = draw(VALUES)
                break
            place = place[key]
        traffic[at] = (direction, json.dumps(value).encode())
    return traffic


@settings(max_examples=150, deadline=None)
@given(spoiled())
def test_spoiled_runs_are_read(traffic: list[tuple[Any, bytes]]) -> None:
    events = run(traffic)
    written = [n for n, (direction, _) in enumerate(traffic, 1) if direction == "out"]
    assert broken(events, frames=written) == []
