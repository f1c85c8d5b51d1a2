"""Permissions as Claude Code words them, as rules of ours: never wider than they were."""

from typing import Any

import pytest

from dragoman._agents import claude_rules
from dragoman._model import toolnames
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionRequested
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy


def request(tool: str, /, **input: Any) -> PermissionRequest:
    event = PermissionRequested(
        request_id="r", tool_name=tool, kind=toolnames.kind_of(tool), input=input, agent="claude"
    )
    return PermissionRequest(event, "/work")


def effect(allowed: list[str], tool: str, /, **input: Any) -> str:
    return (
        Policy("ask", granted=claude_rules.allowed(allowed, "allowed_tools"))
        .decide(request(tool, **input))
        .effect
    )


@pytest.mark.parametrize(
    ("allowed", "tool", "input"),
    [
        ("Bash", "Bash", {"command": "rm -rf x; y"}),
        ("Bash(touch:*)", "Bash", {"command": "touch a b"}),
        ("Bash(git log *)", "Bash", {"command": "git log -1"}),
        ("Bash(npm test)", "Bash", {"command": "npm test"}),
        ("Edit(src/**)", "Write", {"file_path": "/work/src/a.py"}),
        ("Edit(//etc/x)", "Edit", {"file_path": "/etc/x"}),
        ("Read(/docs/**)", "Read", {"file_path": "/work/docs/a/b.md"}),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com/a"}),
        ("mcp__small", "mcp__small__add", {}),
        ("mcp__small__*", "mcp__small__add", {}),
        ("mcp__small__add", "mcp__small__add", {}),
    ],
)
def test_what_is_allowed_by_name_is_not_asked(allowed: str, tool: str, input: dict[str, Any]) -> None:
    assert effect([allowed], tool, **input) == "allow"


@pytest.mark.parametrize(
    ("allowed", "tool", "input"),
    [
        ("Bash(touch:*)", "Bash", {"command": "touch a; rm x"}),
        ("Bash(touch:*)", "Bash", {"command": "touch $(rm x)"}),
        ("Bash(touch:*)", "Bash", {"command": "touchy"}),
        ("Bash(npm test)", "Bash", {"command": "npm test -- --x"}),
        ("Bash(npm * test)", "Bash", {"command": "npm x test"}),
        ("Edit(src/**)", "Write", {"file_path": "/work/src/../other"}),
        ("Edit(src/**)", "Bash", {"command": "touch src/x"}),
        ("Read(docs/**)", "Write", {"file_path": "/work/docs/a"}),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com.evil.org"}),
        ("mcp__small__add", "mcp__small__shout", {}),
        ("mcp__small__add", "mcp__other__add", {}),
        ("mcp__sm", "mcp__small__add", {}),
        ("mcp__small__add(x)", "mcp__small__add", {}),
        ("Skill(x)", "Skill", {"skill": "y"}),
        ("*", "Bash", {"command": "x"}),
        ("", "Bash", {"command": "x"}),
        ("B*", "Bash", {"command": "x"}),
    ],
)
def test_what_is_not_is_asked(allowed: str, tool: str, input: dict[str, Any]) -> None:
    assert effect([allowed], tool, **input) == "ask"


def test_a_suggestion_that_was_taken_holds() -> None:
    policy = Policy("ask", updates=claude_rules.suggested)
    update = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}],
        "behavior": "allow",
        "destination": "session",
    }
    policy.remember(request("Bash", command="touch a"), Answer(decision="allow", remember=[update]))
    assert policy.decide(request("Bash", command="touch b")).effect == "allow"
    assert policy.decide(request("Bash", command="rm b")).effect == "ask"


@pytest.mark.parametrize(
    ("native", "mode"),
    [
        ("acceptEdits", "edits"),
        ("plan", "plan"),
        ("default", "ask"),
        ("dontAsk", "never"),
        ("auto", "dangerous"),
    ],
)
def test_a_suggested_mode_is_ours_too_if_it_has_a_meaning(native: str, mode: str) -> None:
    policy = Policy("dangerous", updates=claude_rules.suggested)
    update = {"type": "setMode", "mode": native, "destination": "session"}
    policy.remember(request("Write", file_path="a"), Answer(decision="allow", remember=[update]))
    assert policy.mode == mode


@pytest.mark.parametrize(
    "update", [None, 1, "x", {}, {"type": "addRules"}, {"type": "addRules", "rules": [1, {}]}]
)
def test_anything_else_is_passed_over(update: Any) -> None:
    assert claude_rules.suggested(update) == ([], None)


def test_folders_that_were_added_may_be_looked_into() -> None:
    [rule], mode = claude_rules.suggested({"type": "addDirectories", "directories": ["/data"]})
    policy = Policy("ask", granted=[rule])
    assert mode is None
    assert policy.decide(request("Read", file_path="/data/a")).effect == "allow"
    assert policy.decide(request("Read", file_path="/database/a")).effect == "ask"
    assert policy.decide(request("Write", file_path="/data/a")).effect == "ask"
