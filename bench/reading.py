"""Lines to events, against what the peers' libraries do with the same lines. No process, no event loop of ours."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from bench import material
from bench.clock import side_by_side
from bench.material import Runs
from bench.ours import to_events
from bench.row import Figures, Row, faster

LINES = 4_000
"""How many lines there are of what no capture has enough of."""


def claude() -> Callable[[bytes], Any]:
    """Control messages are no messages to its parser: its reader hands them on as they are."""
    from claude_agent_sdk._internal.message_parser import parse_message

    def read(line: bytes) -> Any:
        value = json.loads(line)
        return value if value["type"].startswith("control_") else parse_message(value)

    return read


def codex_exec() -> Callable[[bytes], Any]:
    from openai_codex_sdk.parsing import parse_thread_event_line

    return lambda line: parse_thread_event_line(line.decode())


def codex_app() -> Callable[[bytes], Any]:
    """Notifications get their types; requests and answers its reader hands on as they are."""
    from openai_codex.client import CodexClient

    fitted = CodexClient()._coerce_notification

    def read(line: bytes) -> Any:
        value = json.loads(line)
        if "method" in value and "id" not in value:
            return fitted(value["method"], value.get("params"))
        return value

    return read


def plain() -> Callable[[bytes], Any]:
    return json.loads


def by_line(dialect: str, runs: Runs, peer: Callable[[], Callable[[bytes], Any]]) -> Figures:
    """Against a function that reads a line."""
    read = peer()
    runs = material.readable(runs, read)
    return _compared(dialect, runs, lambda: [read(line) for lines in runs for line in lines])


def by_connection(runs: Runs) -> Figures:
    """Against the connection of the ACP library."""
    from bench.acp_sdk import receive

    return _compared("acp", runs, lambda: receive(runs))


def _compared(dialect: str, runs: Runs, peer: Callable[[], object]) -> Figures:
    """µs a line, ours and the peer's; the floor is a plain dict by msgspec."""
    untyped = msgspec.json.Decoder()
    plain = [line for lines in runs for line in lines if b"\\ud" not in line]
    theirs, ours, floor = side_by_side(
        lambda: peer,
        lambda: to_events(dialect, runs),
        lambda: lambda: [untyped.decode(line) for line in plain],
    )
    number = sum(map(len, runs)) / 1e6
    return Figures(ours / number, theirs / number, floor / len(plain) * 1e6)


def _of_captures(dialect: str, peer: Callable[[], Callable[[bytes], Any]]) -> Callable[[], Figures]:
    return lambda: by_line(dialect, material.captured(dialect), peer)


SDK, ACP, US = "claude-agent-sdk", "agent-client-protocol", "µs a line"

ROWS = (
    Row(
        "claude-captures",
        "Claude captures → events",
        SDK,
        US,
        faster(1.5),
        _of_captures("claude_stream", claude),
    ),
    Row(
        "claude-deltas",
        "Claude deltas, 257 B",
        SDK,
        US,
        faster(2.2),
        lambda: by_line("claude_stream", material.claude_deltas(LINES), claude),
    ),
    Row(
        "acp-chunks",
        "ACP chunks, 204 B",
        ACP,
        US,
        faster(15),
        lambda: by_connection(material.acp_chunks(LINES)),
    ),
    Row(
        "acp-diffs",
        "ACP diffs of 2 kB, a tool each",
        ACP,
        US,
        faster(3),
        lambda: by_connection(material.acp_diffs(LINES // 4)),
    ),
    Row(
        "codex-exec-captures",
        "Codex exec captures → events",
        "openai-codex-sdk",
        US,
        faster(1.5),
        _of_captures("codex_exec", codex_exec),
    ),
    Row(
        "codex-app-captures",
        "Codex app-server captures → events",
        "openai-codex",
        US,
        faster(2.5),
        _of_captures("codex_app", codex_app),
    ),
    Row(
        "gemini-captures",
        "Gemini stream captures → events",
        "json.loads",
        US,
        faster(0.7),
        _of_captures("gemini_stream", plain),
    ),
)
