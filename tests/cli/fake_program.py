"""What the tests of the command line share: starting the program, and programs that play an agent."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Invoke = Callable[..., Result]
Program = Callable[..., str]


def dragoman(*args: object, **options: Any) -> "subprocess.Popen[bytes]":
    """Start the program as a shell would."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-W", "error", "-m", "dragoman", *map(str, args)], **options)


PLAYER = """#!{python}
import json, sys, time
script = json.loads({script!r})
for line in sys.stdin:
    if json.loads(line)["type"] == "user":
        break
for step in script:
    if step == "answer":
        sys.stdin.readline()
    elif step == "hang":
        import signal
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)
    else:
        print(json.dumps(step), flush=True)
"""


def write_program(path: Path, *steps: Any) -> str:
    """A program that waits for the prompt, then writes `steps`; "answer" waits for a line, "hang" never ends."""
    path.write_text(PLAYER.format(python=sys.executable, script=json.dumps(steps)))
    path.chmod(0o755)
    return str(path)


INIT: dict[str, Any] = {
    "type": "system",
    "subtype": "init",
    "session_id": "s1",
    "cwd": "/x",
    "tools": [],
    "mcp_servers": [],
    "model": "m",
    "permissionMode": "default",
    "claude_code_version": "2.1.197",
    "uuid": "u1",
}
HELLO: dict[str, Any] = {
    "type": "assistant",
    "message": {
        "id": "m1",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello."}],
    },
    "parent_tool_use_id": None,
    "session_id": "s1",
    "uuid": "u2",
}


def result(subtype: str = "success", **fields: Any) -> dict[str, Any]:
    """The line that ends a turn."""
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": subtype != "success",
        "duration_ms": 5,
        "duration_api_ms": 5,
        "num_turns": 1,
        "result": "Hello.",
        "session_id": "s1",
        "total_cost_usd": 0.01,
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "permission_denials": [],
        "uuid": "u3",
        **fields,
    }
