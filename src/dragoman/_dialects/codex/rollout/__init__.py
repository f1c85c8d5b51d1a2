"""Codex's session files: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.

Read only: every line is an `out` frame. Both forms are read, the paginated (lines have an ordinal, history is
items) and the legacy one (history is event messages beside the model's own items). A fork or a revert does not
repeat its parent's history (`history_base`): to have it, read the parent's file first and then this one, as one
run. Subagents have files of their own; read after their parent's they become part of it. NOTES.md says what
maps to what.
"""

from typing import Any

from dragoman._dialects.codex.rollout.messages import TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    known = isinstance(value.get("type"), str) and value["type"] in TYPES
    return known and "timestamp" in value and isinstance(value.get("payload"), dict)
