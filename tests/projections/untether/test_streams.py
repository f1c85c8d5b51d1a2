"""Whole runs, as the program's own runners tell them: lines of an agent in `streams/<run>.jsonl`, and in
`<run>.untether.jsonl` what becomes of them in the seed profile, key by key."""

import json
from pathlib import Path

import pytest

from dragoman._projections.published import encode
from tests.projections.untether.showing import seen

STREAMS = Path(__file__).parent / "streams"
DIALECTS = {
    "claude_tools": "claude_stream",
    "codex_items": "codex_exec",
    "codex_phases": "codex_exec",
    "gemini_refused": "gemini_stream",
    "gemini_tools": "gemini_stream",
}


@pytest.mark.parametrize("run", DIALECTS)
def test_a_whole_run(run: str) -> None:
    lines = (STREAMS / f"{run}.jsonl").read_bytes()
    told = (STREAMS / f"{run}.untether.jsonl").read_text().splitlines()
    items = seen(lines, DIALECTS[run])
    assert [json.loads(encode(item)) for item in items] == [json.loads(line) for line in told]


def test_no_run_is_forgotten() -> None:
    assert {path.name.split(".")[0] for path in STREAMS.iterdir()} == set(DIALECTS)
