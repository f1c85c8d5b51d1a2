"""Which events an agent has hooks for, and what a plan makes of them."""

from typing import Any

import pytest

import dragoman
from dragoman import UsageError
from dragoman._agents import AGENTS
from dragoman._model.config import SessionConfig
from dragoman._model.hooks import GUARDS
from dragoman._runtime.functions import Functions


def ignore(call: dragoman.HookCall) -> None: ...


def extended(agent: str, dialect: str, *events: str, **fields: Any) -> SessionConfig:
    config = SessionConfig(agent=agent, **fields)
    return AGENTS[agent].extended(config, dialect, Functions(agent, (), dict.fromkeys(events, ignore)))


DIALECTS = [
    ("claude", "claude_stream"),
    ("codex", "codex_app"),
    ("codex", "codex_exec"),
    ("gemini", "gemini_stream"),
]


@pytest.mark.parametrize(("agent", "dialect"), DIALECTS)
def test_events_that_there_are_not(agent: str, dialect: str) -> None:
    """Nor by an agent's own name for one: a guard must be known as such."""
    for event in ("PreToolUsed", "BeforeTool", "pre_tool_use", ""):
        with pytest.raises(UsageError, match=f"{agent} has no hook '{event}'; it has: PreToolUse"):
            extended(agent, dialect, event)
    for event in GUARDS:
        assert extended(agent, dialect, event).native


@pytest.mark.parametrize(("agent", "dialect"), DIALECTS)
def test_without_functions_nothing_changes(agent: str, dialect: str) -> None:
    config = SessionConfig(agent=agent, native={"x": 1}, mcp_servers={"a": {"command": "b"}})
    assert AGENTS[agent].extended(config, dialect, Functions(agent)) == config


def test_hooks_of_the_native_options_stay() -> None:
    mine = {"hookCallbackIds": ["mine"]}
    hooks = extended(
        "claude", "claude_stream", "PreToolUse", native={"hooks": {"PreToolUse": [mine]}}
    ).native["hooks"]
    assert hooks["PreToolUse"][0] == mine
    assert hooks["PreToolUse"][1]["hookCallbackIds"] == ["dragoman.hook.PreToolUse"]
    with pytest.raises(UsageError, match="dict of lists"):
        extended("claude", "claude_stream", "PreToolUse", native={"hooks": [mine]})
    theirs = {"hooks": [{"type": "command", "command": "x"}]}
    config = extended("codex", "codex_app", "Stop", native={"config": {"hooks": {"Stop": [theirs]}, "a": 1}})
    assert config.native["config"]["hooks"]["Stop"][0] == theirs
    assert len(config.native["config"]["hooks"]["Stop"]) == 2
    assert config.native["config"]["a"] == 1


def test_codex_exec_is_told_by_a_flag() -> None:
    """As a setting it does nothing there (0.166.0), and the hooks would not run."""
    config = extended("codex", "codex_exec", "PreToolUse", prompt="x")
    argv = AGENTS["codex"].plan(config, "/bin/codex", "codex_exec").argv
    assert "--dangerously-bypass-hook-trust" in argv
    assert not any("bypass_hook_trust" in word for word in argv)
