"""How a configuration becomes a command line of Claude Code."""

from pathlib import Path

import pytest

import dragoman
from dragoman._agents.claude import plan
from dragoman._model.config import SessionConfig
from dragoman._model.errors import UsageError


def argv(**fields: object) -> list[str]:
    return plan(SessionConfig(agent="claude", cwd="/w", **fields), "/bin/claude", "claude_stream").argv  # type: ignore[arg-type]


def test_what_a_project_brings_stays_out_unless_it_is_trusted() -> None:
    """Its hooks and MCP servers ran as soon as a session was opened there."""
    for fields in ({}, {"trusted": None}, {"trusted": False}):
        made = argv(**fields)
        assert made[made.index("--setting-sources") + 1] == "user"
        assert "--strict-mcp-config" in made
    trusted = argv(trusted=True)
    assert "--setting-sources" not in trusted
    assert "--strict-mcp-config" not in trusted


def test_sources_that_the_caller_names_are_the_caller_s() -> None:
    made = argv(native={"setting_sources": "user,local", "strict_mcp_config": True})
    assert made.count("--setting-sources") == made.count("--strict-mcp-config") == 1
    assert made[made.index("--setting-sources") + 1] == "user,local"


def test_servers_of_the_caller_are_named_all_the_same() -> None:
    made = argv(mcp_servers={"small": {"command": "x"}}, native={"sdk_mcp_servers": ["inside"]})
    assert '"small"' in made[made.index("--mcp-config") + 1]
    assert '"inside"' in made[made.index("--mcp-config") + 1]


def test_hooks_that_could_put_ours_aside_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError):
        argv(native={"hooks": {"PreToolUse": "x"}})


def test_a_folder_is_trusted_by_the_user_s_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragoman._policy import trust

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)

    def shown() -> object:
        return dragoman.open("claude", cwd=tmp_path)._run.plan.config.get("trusted")

    assert shown() is False
    trust.add(str(tmp_path))
    assert shown() is True
