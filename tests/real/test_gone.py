"""What the specification (004) names and the pinned agents no longer have: each is refused, so that the day on which one is
back is seen. What stands in its place is in docs/seed-coverage-004.md."""

import json
import subprocess

import pytest

from dragoman.testing import ScriptedModel
from tests.real.driving import PATIENCE, Pinned
from tests.real.pins import pins


def words(agent: Pinned, arguments: list[str]) -> str:
    """All that it writes."""
    with ScriptedModel(["Never said."]) as model:
        done = subprocess.run(
            [agent.executable, *arguments],
            stdin=subprocess.DEVNULL,
            cwd=agent.cwd,
            env=dict(model.env(agent.name, agent.home)),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    return done.stdout + done.stderr


GONE = [
    ("claude", "--list-sessions", "unknown option '--list-sessions'"),
    ("codex", "exec --json --full-auto go", "unexpected argument '--full-auto'"),
    ("codex", "exec --json -a untrusted go", "unexpected argument '-a'"),
    ("codex", "exec --output-jsonl go", "unexpected argument '--output-jsonl'"),
    ("codex", "app-server --full-auto", "unexpected argument '--full-auto'"),
    ("codex", "app-server -a never", "unexpected argument '-a'"),
    ("codex", "app-server -s read-only", "unexpected argument '-s'"),
    ("codex", "app-server -m gpt-5.5", "unexpected argument '-m'"),
    ("codex", "app-server --search", "unexpected argument '--search'"),
    ("gemini", "--auto-edit -p go", "Unknown argument"),
    ("gemini", "--sandbox-image x -p go", "Unknown argument"),
]
"""Arguments of the specification, and the words with which an agent refuses them."""


@pytest.mark.parametrize(
    ("agent", "arguments", "refusal"),
    [(pin, arguments, refusal) for name, arguments, refusal in GONE for pin in pins(name)],
    indirect=["agent"],
    ids=str,
)
def test_arguments(agent: Pinned, arguments: str, refusal: str) -> None:
    if arguments.startswith("exec --json --full-auto") and agent.differs("full_auto_is_an_argument"):
        refusal = "`--full-auto` is deprecated"
    assert refusal in words(agent, arguments.split())


@pytest.mark.parametrize(
    "method", ["respondToApproval", "newConversation", "sendUserMessage", "createThread", "createTurn"]
)
def test_requests(codex: Pinned, method: str) -> None:
    opening = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "x", "version": "1"}}}
    with (
        ScriptedModel(["Never said."]) as model,
        subprocess.Popen(
            [codex.executable, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(model.env("codex", codex.home)),
            text=True,
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        for line in (opening, {"method": "initialized"}, {"id": 2, "method": method, "params": {}}):
            server.stdin.write(json.dumps(line) + "\n")
        server.stdin.flush()  # it is ended by the end of what it is told, so that comes after its answer
        refusal = next(line for line in server.stdout if '"error"' in line)
        server.stdin.close()
    assert f"unknown variant `{method}`" in refusal
