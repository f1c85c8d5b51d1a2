"""A model that says what is written, so that real agents run with no key, no network and no chance.

    from dragoman.testing import ScriptedModel, text, tool

    with ScriptedModel([tool("Bash", command="ls"), text("Two files.")]) as model:
        run = subprocess.run(
            ["claude", "-p", "what is here?", "--output-format", "stream-json", "--verbose"],
            env=model.env("claude", home=tmp_path), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )
        assert len(model.requests_of("main")) == 2
        assert model.strays == []

Each item of the list is one answer of the model. It may be several blocks, and it may misbehave:

    [thinking("Hm."), text("Let me see."), tool("Read", file_path="a.txt")]
    turn("Half of this is l", cut=Cut(5))
    error(429, "slow down", headers={"retry-after": "0"})
    turn("Not yet.", hold=Hold("go"))        # waits for model.open("go"); see wait_for_request, wait_for_hold
    lambda request: text(request.texts[-1])  # made of what was asked

Subagents have conversations of their own; a marker in their prompt names the route that answers them:

    script([tool("Task", prompt="[[count]] Count.", …), "Done."], routes={"count": ["Seven."]})

From a shell: `python -m dragoman.testing --script s.json` prints the URL of such a model.
"""

from .request import Request
from .scenario import Scenario
from .script import (
    Cut,
    Error,
    Hold,
    Native,
    RedactedThinking,
    Script,
    Step,
    Text,
    Thinking,
    ToolCall,
    Turn,
    Usage,
    error,
    load,
    script,
    text,
    thinking,
    tool,
    turn,
)
from .server import ScriptedModel

__all__ = [
    "Cut",
    "Error",
    "Hold",
    "Native",
    "RedactedThinking",
    "Request",
    "Scenario",
    "Script",
    "ScriptedModel",
    "Step",
    "Text",
    "Thinking",
    "ToolCall",
    "Turn",
    "Usage",
    "error",
    "load",
    "script",
    "text",
    "thinking",
    "tool",
    "turn",
]
