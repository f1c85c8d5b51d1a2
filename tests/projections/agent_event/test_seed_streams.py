"""The complete streams of specification 004 become exactly the AgentEvents that its tables say."""

from typing import Any

import pytest

from tests.projections.agent_event import streams
from tests.projections.projected import bare, seen

Items = list[dict[str, Any]]


def started(agent: str, **config: Any) -> dict[str, Any]:
    return {"type": "sessionStarted", "agentType": agent, "config": {"agentType": agent, **config}}


def text(content: str, *, partial: bool = False) -> dict[str, Any]:
    return {"type": "textChunk", "content": content, "isPartial": partial, "role": "assistant"}


def tool(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolStarted", "toolId": id, "toolName": name, "arguments": arguments}


def done(id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "toolCompleted", "toolId": id, "success": True, **fields}


def ended(reason: str, **fields: Any) -> dict[str, Any]:
    return {"type": "sessionEnded", "reason": reason, **fields}


CLAUDE: Items = [
    started("claude", workingDirectory="/project", model="claude-sonnet-4-20250514", approvalMode="ask"),
    text("I'll analyze the codebase..."),
    tool("toolu_01", "Read", file_path="/src/auth.ts"),
    done("toolu_01", result="export function login()..."),
    text("I found the auth module. Let me refactor it..."),
    tool(
        "toolu_02",
        "Edit",
        file_path="/src/auth.ts",
        old_string="function login()",
        new_string="async function login()",
    ),
    done("toolu_02", result="File updated"),
    text("Done! I've made the login function async."),
    ended("completed", finalUsage={"inputTokens": 5000, "outputTokens": 1200, "totalTokens": 6200}),
]

USED = {"inputTokens": 1250, "outputTokens": 487, "cachedTokens": 500, "totalTokens": 1737}
SAID = "I've refactored the login function to be async."
OUTPUT = "export function login() {..."
CHANGED = {"type": "fileChanged", "filePath": "src/auth.ts", "changeType": "modified"}
CODEX: Items = [
    started("codex"),
    tool("2", "shell", command="cat src/auth.ts"),
    {"type": "toolProgress", "toolId": "2", "output": OUTPUT},
    done("2", result=OUTPUT),
    CHANGED,
    CHANGED,
    text("", partial=True),
    text(SAID, partial=True),
    text(SAID),
    {"type": "turnCompleted", "usage": USED},
    ended("completed", finalUsage=USED),
]

THOUGHT = "I need to analyze the auth module first..."
CODEX_EXTENDED: Items = [
    CODEX[0],
    {"type": "turnStarted"},
    {"type": "reasoning", "content": "", "isPartial": True},
    {"type": "reasoning", "content": THOUGHT, "isPartial": True},
    {"type": "reasoning", "content": THOUGHT, "isPartial": False},
    *CODEX[1:],
]

COUNTED = {"inputTokens": 100, "outputTokens": 250, "totalTokens": 350}
GEMINI: Items = [
    started("gemini", model="gemini-2.0-flash-exp"),
    tool("bash-001", "Bash", command="cat src/auth.ts"),
    done("bash-001", result="export function login() {...}"),
    text("I found the login function. Let me make it async...", partial=True),
    tool("write-001", "write_file", file_path="./src/auth.ts", content="export async function login() {...}"),
    done("write-001"),
    text("Done! I've refactored the login function to be async."),
    {"type": "turnCompleted", "usage": COUNTED, "durationMs": 5000},
    ended("completed", finalUsage=COUNTED),
]


@pytest.mark.parametrize("profile", ["seed", "live"])
@pytest.mark.parametrize(
    ("stream", "dialect", "expected"),
    [
        (streams.CODEX, "codex_exec", CODEX),
        (streams.GEMINI, "gemini_stream", GEMINI),
    ],
    ids=["codex §4.9", "gemini §5.6"],
)
def test_the_example_in_both_profiles(stream: str, dialect: str, expected: Items, profile: Any) -> None:
    """Texts that Codex repeats whole are cut to what is new when live; in these streams that is the same."""
    assert bare(seen("agent-event", stream, dialect, profile=profile, exit=0)) == expected


def test_claude_3_6() -> None:
    assert bare(seen("agent-event", streams.CLAUDE, "claude_stream", exit=0)) == CLAUDE


def test_claude_3_6_live() -> None:
    """Live, a tool's signs of life are shown, and a turn's end when it comes."""
    live = bare(seen("agent-event", streams.CLAUDE, "claude_stream", profile="live", exit=0))
    progress, completed = (
        {"type": "toolProgress", "toolId": "toolu_02"},
        {
            "type": "turnCompleted",
            "usage": CLAUDE[-1]["finalUsage"],
            "durationMs": 12500,
        },
    )
    assert live == [*CLAUDE[:6], progress, *CLAUDE[6:-1], completed, CLAUDE[-1]]


def test_codex_4_9_extended() -> None:
    assert bare(seen("agent-event", streams.CODEX, "codex_exec", extended=True, exit=0)) == CODEX_EXTENDED


def test_the_mock_stream_of_9_5() -> None:
    """Its four checks, and every field."""
    items = seen("agent-event", streams.FLAT, "claude_stream", exit=0)
    assert bare(items) == [
        started("claude"),
        tool("toolu_01", "Edit", file="test.txt"),
        done("toolu_01", result="OK"),
        ended("completed"),
    ]
    assert {item["sessionId"] for item in items} == {"sess_123"}


def test_ids_and_times() -> None:
    """Ids are unique; a time is the agent's own, else the last that was known, else none that could be real."""
    items = seen("agent-event", streams.GEMINI, "gemini_stream", exit=0)
    assert len({item["id"] for item in items}) == len(items)
    assert all(item["id"].startswith("abc123-def456-") for item in items)
    assert [item["timestamp"][17:19] for item in items] == [
        "00",
        "02",
        "03",
        "04",
        "05",
        "06",
        "07",
        "08",
        "08",
    ]
    assert {item["timestamp"] for item in seen("agent-event", streams.CODEX, "codex_exec")} == {
        "1970-01-01T00:00:00Z"
    }
