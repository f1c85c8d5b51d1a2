"""A home in which three agents have kept sessions: real ones of the captures, as if of three days ago."""

import re
from datetime import datetime, timedelta
from pathlib import Path

CAPTURES = Path(__file__).parents[2] / "captures"
THEN = datetime.now().astimezone() - timedelta(days=3)
"""So that all of them are told as of some days ago, at whatever hour the tests run."""

_UUID = re.compile(rb'"(?:sessionId|session_id|id)":"([0-9a-f]{8}-[0-9a-f-]{27})"')
STORES = {
    "claude_transcript/2.1.325/parallel_tools": ".claude/projects/-home-dev-work/{id}.jsonl",
    "claude_transcript/2.1.325/refusal": ".claude/projects/-home-dev-work/{id}.jsonl",
    "codex_rollout/0.166.0/apply_patch": ".codex/sessions/2026/11/15/rollout-2026-11-15T19-36-06-{id}.jsonl",
    "codex_rollout/0.166.0/sigint_in_command": ".codex/sessions/2026/11/15/rollout-2026-11-15T19-40-06-{id}.jsonl",
    "gemini_chat/0.61.0/tools_yolo": ".gemini/tmp/proj/chats/session-2026-11-15T19-36-{id:.8}.jsonl",
    "gemini_chat/0.61.0/unicode2": ".gemini/tmp/proj/chats/session-2026-11-15T19-50-{id:.8}.jsonl",
}


def keep_sessions(home: Path) -> None:
    """Put the sessions where their agents would have them."""
    for source, place in STORES.items():
        content = (CAPTURES / source / "session.jsonl").read_bytes()
        found = _UUID.search(content)
        assert found is not None, source
        path = home / place.format(id=found[1].decode())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(re.sub(rb"2026-11-15T\d\d:", f"{THEN:%Y-%m-%d}T12:".encode(), content))
