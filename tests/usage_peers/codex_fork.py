"""A thread of Codex and its fork, as older versions wrote them: a count that is logged twice, and a copy of the parent's
turns with new times."""

import json
from pathlib import Path
from typing import Any

PARENT, FORK = "01a1e0b8-0000-7000-8000-000000000001", "01a1e0b9-0000-7000-8000-000000000002"


def placed(home: Path) -> None:
    """Three calls: 7,000 tokens in, 3,000 of them cached, 70 out."""
    meta = {"cwd": "/repo", "originator": "codex_cli_rs", "cli_version": "0.135.0", "source": "cli"}
    parent = ("session_meta", meta | {"id": PARENT, "timestamp": "2026-11-01T12:00:00Z"})
    fork = (
        "session_meta",
        meta | {"id": FORK, "timestamp": "2026-11-02T12:00:00Z", "forked_from_id": PARENT},
    )
    first, second = _turn("t1", 1, (1_000, 0, 10)), _turn("t2", 2, (2_000, 1_000, 20))
    third = _turn("t3", 3, (4_000, 2_000, 40))
    _write(home, PARENT, 1, [parent, *first, *second, second[-2]])
    _write(home, FORK, 2, [fork, parent, *first, *second, *third])


def _turn(id: str, number: int, tokens: tuple[int, int, int]) -> list[tuple[str, dict[str, Any]]]:
    counts = dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), tokens, strict=True))
    sums = {1: (1_000, 0, 10), 2: (3_000, 1_000, 30), 3: (7_000, 3_000, 70)}[number]
    so_far = dict(zip(counts, sums, strict=True))
    info = {"last_token_usage": _whole(counts), "total_token_usage": _whole(so_far)}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": id}]}
    return [
        ("event_msg", {"type": "task_started", "turn_id": id}),
        (
            "turn_context",
            {
                "turn_id": id,
                "cwd": "/repo",
                "model": "gpt-5.5",
                "approval_policy": "never",
                "sandbox_policy": {"type": "read-only"},
            },
        ),
        ("event_msg", {"type": "user_message", "message": "go"}),
        ("response_item", said),
        ("event_msg", {"type": "agent_message", "message": id}),
        ("event_msg", {"type": "token_count", "info": info}),
        ("event_msg", {"type": "task_complete", "turn_id": id}),
    ]


def _whole(counts: dict[str, int]) -> dict[str, int]:
    return counts | {
        "reasoning_output_tokens": 0,
        "total_tokens": counts["input_tokens"] + counts["output_tokens"],
    }


def _write(home: Path, id: str, day: int, lines: list[tuple[str, dict[str, Any]]]) -> None:
    folder = home / f".codex/sessions/2026/11/{day:02}"
    folder.mkdir(parents=True)
    text = "".join(
        json.dumps(
            {"timestamp": f"2026-11-{day:02}T12:00:{n:02}.000Z", "type": kind, "payload": payload},
            separators=(",", ":"),  # ccusage reads nothing else
        )
        + "\n"
        for n, (kind, payload) in enumerate(lines)
    )
    (folder / f"rollout-2026-11-{day:02}T12-00-00-{id}.jsonl").write_text(text, "utf-8")
