"""Uses that a type checker must accept, at its strictest."""
# pyright: strict

import os
from pathlib import Path
from typing import assert_type

import dragoman
from dragoman import Approve, Options, Result, Session, SessionConfig

config = SessionConfig(agent="claude", blocked_tools=["Bash"], timeout=3, approve="edits")
mode: Approve = "plan"
options: Options = {"cwd": Path("here"), "timeout": 2.5}

assert_type(dragoman.open("claude"), Session)
dragoman.open(config, prompt="Fix it", approve=mode, **options)
dragoman.open(
    "codex",
    allowed_tools=["Read"],
    blocked_tools=("Bash", "Write"),
    cwd=Path("here"),
    record="run.jsonl",
    env=os.environ,
    inherit_env=False,
    mcp_servers={"db": {"command": "db", "args": ["-v"], "env": {"A": "1"}}},
    output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    native={"effort": "high"},
    max_turns=3,
    timeout=60,
    sandbox="workspace",
    model=None,
)
assert_type(dragoman.connect("gemini", approve="never"), dragoman.Connection)


async def right() -> None:
    result = await dragoman.ask("claude", "Fix it", check=True, **options)
    assert_type(result, Result)
    assert_type(result.text, str | None)
    try:
        await dragoman.ask(config, check=True)
    except dragoman.LimitReached as error:
        assert_type(error.result, Result | None)
