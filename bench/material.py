"""What is read: the lines that agents wrote in the captures, and lines made in the shape of theirs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.agent import pieces
from dragoman._files.sources import open_source

CAPTURES = Path(__file__).parent.parent / "captures"
SESSION = "11111111-1111-4111-8111-111111111111"

Runs = list[list[bytes]]
"""The lines of each run."""


def captured(dialect: str) -> Runs:
    """The lines of JSON that agents wrote, capture by capture."""
    sources = [
        path
        for name in ("stdout.jsonl", "frames.jsonl")
        for path in sorted(CAPTURES.glob(f"{dialect}/*/*/{name}"))
    ]
    return [
        [frame.line for frame in open_source(path) if frame.dir == "out" and frame.line.startswith(b"{")]
        for path in sources
    ]


def readable(runs: Runs, read: Callable[[bytes], object]) -> Runs:
    """Those lines that a peer can read: it is not measured by how fast it fails."""

    def is_read(line: bytes) -> bool:
        try:
            return read(line) is not None
        except Exception:
            return False

    return [[line for line in lines if is_read(line)] for lines in runs]


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def claude_deltas(number: int) -> Runs:
    """Claude Code's partial messages, 257 bytes each."""
    return [[_claude_delta(text) for text in pieces(21, number)]]


def _claude_delta(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    return compact(
        {
            "type": "stream_event",
            "event": {"type": "content_block_delta", "index": 0, "delta": delta},
            "session_id": SESSION,
            "parent_tool_use_id": None,
            "uuid": "22222222-2222-4222-8222-222222222222",
        }
    )


def acp_update(**update: Any) -> bytes:
    params = {"sessionId": SESSION, "update": update}
    return compact({"jsonrpc": "2.0", "method": "session/update", "params": params})


def acp_chunks(number: int) -> Runs:
    """A message in pieces, 204 bytes each."""
    return [
        [
            acp_update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
            for text in pieces(14, number)
        ]
    ]


def acp_diffs(number: int) -> Runs:
    """Edits, each a tool of its own that is done when it is told, with a diff of 2 kB."""
    old = [f"    value_{n} = compute(value_{n}, {n})" for n in range(23)]
    new = [line if n % 5 else line.replace("compute", "computed_anew") for n, line in enumerate(old)]
    content = [
        {"type": "diff", "path": "/repo/src/a.py", "oldText": "\n".join(old), "newText": "\n".join(new)}
    ]
    return [
        [
            acp_update(
                sessionUpdate="tool_call",
                toolCallId=f"call-{n}",
                title="Edit src/a.py",
                kind="edit",
                status="completed",
                content=content,
            )
            for n in range(number)
        ]
    ]
