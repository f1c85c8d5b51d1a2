"""Adapters and transports, by the specification's own test (004 §9.5) and beyond it."""

import sys
from pathlib import Path

import anyio
import pytest

from dragoman.agent_protocol import (
    AgentError,
    AgentErrorType,
    AgentEvent,
    ApprovalMode,
    ClaudeAdapter,
    CodexAdapter,
    GeminiAdapter,
    MockTransport,
    ProtocolAdapter,
    SessionConfig,
    SessionEndedEvent,
    SessionStartedEvent,
    StdioTransport,
    TextChunkEvent,
    ToolCompletedEvent,
    ToolStartedEvent,
    TurnCompletedEvent,
)
from tests.projections.agent_event import streams

MOCK = [
    '{"type":"init","session_id":"sess_123"}',
    '{"type":"tool_use","id":"toolu_01","name":"Edit","input":{"file":"test.txt"}}',
    '{"type":"tool_result","tool_use_id":"toolu_01","content":"OK","is_error":false}',
    '{"type":"result","status":"success","session_id":"sess_123"}',
]


def test_claude_adapter_parses_tool_use_correctly() -> None:
    adapter = ClaudeAdapter()
    events = [event for event in map(adapter.parse_event, MOCK) if isinstance(event, AgentEvent)]
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[1], ToolStartedEvent)
    assert events[1].tool_name == "Edit"
    assert isinstance(events[2], ToolCompletedEvent)
    assert isinstance(events[3], SessionEndedEvent)
    assert len(events) == 4


@pytest.mark.anyio
async def test_the_same_over_a_mock_transport() -> None:
    events = [event async for event in ClaudeAdapter().events(MockTransport(MOCK))]
    assert [type(event).__name__ for event in events] == [
        "SessionStartedEvent",
        "ToolStartedEvent",
        "ToolCompletedEvent",
        "SessionEndedEvent",
    ]


def text(lines: object) -> list[str]:
    return str(lines).splitlines()


@pytest.mark.parametrize(
    ("adapter", "lines", "last"),
    [
        (ClaudeAdapter, streams.CLAUDE, SessionEndedEvent),
        (CodexAdapter, streams.CODEX, TurnCompletedEvent),
        (GeminiAdapter, streams.GEMINI, SessionEndedEvent),
    ],
)
def test_the_complete_flows(adapter: type[ProtocolAdapter], lines: object, last: type[AgentEvent]) -> None:
    one = adapter()
    events = [event for line in text(lines) for event in one.parse_events(line)]
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[-1], last)
    assert any(isinstance(event, TextChunkEvent) for event in events)
    if last is TurnCompletedEvent:
        [end] = one.end(0)
        assert isinstance(end, SessionEndedEvent)
        assert end.reason == "completed"


def test_of_several_events_the_end_of_the_session_counts() -> None:
    one, other = GeminiAdapter(), GeminiAdapter()
    lines = text(streams.GEMINI)
    for line in lines[:-1]:
        one.parse_event(line)
        other.parse_events(line)
    assert isinstance(one.parse_event(lines[-1]), SessionEndedEvent)
    assert [type(event) for event in other.parse_events(lines[-1])] == [TurnCompletedEvent, SessionEndedEvent]


@pytest.mark.parametrize(
    "line", ["", "{", "hello", "[]", '{"type":7}', "\udcff", "{}" * 1000, '{"type":"result"}']
)
@pytest.mark.parametrize("adapter", [ClaudeAdapter, CodexAdapter, GeminiAdapter])
def test_no_line_is_too_bad_to_be_read(adapter: type[ProtocolAdapter], line: str) -> None:
    adapter().parse_event(line)


# --- command lines -------------------------------------------------------------------------------------------


def config(**fields: object) -> SessionConfig:
    return SessionConfig(**{"agent_type": "claude", "prompt": "Go.", **fields})  # type: ignore[arg-type]


def test_executables() -> None:
    assert [adapter().executable for adapter in (ClaudeAdapter, CodexAdapter, GeminiAdapter)] == [
        "claude",
        "codex",
        "gemini",
    ]


def test_arguments_for_claude() -> None:
    args = ClaudeAdapter().build_args(
        config(
            session_id="s",
            approval_mode=ApprovalMode.autoAll,
            allowed_tools=["Read", "Edit"],
            blocked_tools=["Bash"],
            max_turns=3,
            model="m",
        )
    )
    assert args[:4] == ["-p", "--output-format", "stream-json", "--verbose"]
    assert args[-2:] == ["--", "Go."]
    for flag, value in (
        ("--resume", "s"), ("--model", "m"), ("--max-turns", "3"), ("--allowedTools", "Read,Edit"), ("--disallowedTools", "Bash"),
    ):  # fmt: skip
        assert args[args.index(flag) + 1] == value
    assert "--dangerously-skip-permissions" in args
    assert "acceptEdits" in ClaudeAdapter().build_args(config(approval_mode="autoEdit"))


def test_arguments_for_codex_and_gemini() -> None:
    codex = CodexAdapter().build_args(config(agent_type="codex", session_id="s", approval_mode="autoAll"))
    assert codex[:2] == ["exec", "--json"]
    assert codex[-4:] == ["resume", "s", "--", "Go."]
    gemini = GeminiAdapter().build_args(config(agent_type="gemini", session_id="s", approval_mode="autoAll"))
    assert gemini[gemini.index("--output-format") + 1] == "stream-json"
    assert gemini[gemini.index("--approval-mode") + 1] == "yolo"
    assert gemini[gemini.index("--resume") + 1] == "s"
    assert gemini[-1] == "--prompt=Go."


def test_what_an_agent_cannot_do_is_an_agent_error() -> None:
    with pytest.raises(AgentError, match="sandbox_mode readOnly: no argument of claude -p holds it"):
        ClaudeAdapter().build_args(config(sandbox_mode="readOnly"))
    with pytest.raises(AgentError, match="approval_mode: 'yolo' is not a valid"):
        ClaudeAdapter().build_args(config(approval_mode="yolo"))
    with pytest.raises(AgentError, match="allowing or blocking the tool Read"):
        CodexAdapter().build_args(config(agent_type="codex", allowed_tools=["Read"]))
    with pytest.raises(AgentError, match="approval_mode"):
        ClaudeAdapter().build_args(config(approval_mode="yolo"))


# --- processes -----------------------------------------------------------------------------------------------

SAY = """
import sys
print("not this"); print('{"n": 1}'); print(''); print('  {"n": 2}'); print('{"n": 3}', end='')
sys.stdout.flush(); print("the reason", file=sys.stderr); sys.exit(int(sys.argv[1]))
"""


@pytest.mark.anyio
async def test_a_process_and_its_lines() -> None:
    transport = StdioTransport(sys.executable, ["-c", SAY, "0"])
    assert [line.strip() async for line in transport.start()] == ['{"n": 1}', '{"n": 2}', '{"n": 3}']


@pytest.mark.anyio
async def test_a_process_that_fails_raises_after_its_lines() -> None:
    lines = StdioTransport(sys.executable, ["-c", SAY, "3"]).start()
    assert [(await anext(lines)).strip() for _ in range(3)] == ['{"n": 1}', '{"n": 2}', '{"n": 3}']
    with pytest.raises(AgentError, match=r"exited with code 3: the reason") as raised:
        await anext(lines)
    assert (raised.value.type, raised.value.exit_code) == (AgentErrorType.processExitError, 3)


@pytest.mark.anyio
async def test_a_program_that_is_not_there() -> None:
    with pytest.raises(AgentError, match="no program") as raised:
        await anext(StdioTransport("no-such-agent-at-all").start())
    assert raised.value.type is AgentErrorType.processSpawnFailed


@pytest.mark.anyio
async def test_cancel_ends_it(tmp_path: Path) -> None:
    transport = StdioTransport("sh", ["-c", "echo '{}'; sleep 1000"], working_directory=str(tmp_path))
    with anyio.fail_after(30):
        async for line in transport.start():
            assert line == "{}"
            await transport.cancel()
