"""How a configuration becomes a command line of Claude Code."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman._agents.claude import plan
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError


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


# --- its sandbox -----------------------------------------------------------------------------------------------


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment in which the programs that the sandbox needs are there."""
    for name in ("bwrap", "socat"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return {"PATH": str(tmp_path), "HOME": str(tmp_path)}


def test_the_sandbox_is_set_over_the_caller_s_own_settings(programs: dict[str, str]) -> None:
    own = {"sandbox": {"enabled": False, "network": {"allowedDomains": ["example.com"]}}, "model": "m"}
    made = argv(sandbox="workspace", env=programs, inherit_env=False, native={"settings": own})
    assert made.count("--settings") == 1
    settings = json.loads(made[made.index("--settings") + 1])
    assert settings["model"] == "m"
    assert settings["sandbox"]["network"] == {"allowedDomains": ["example.com"]}
    assert settings["sandbox"]["enabled"] is settings["sandbox"]["failIfUnavailable"] is True
    assert settings["sandbox"]["allowUnsandboxedCommands"] is False
    made = argv(sandbox="read-only", env=programs, inherit_env=False, add_dirs=["/more"])
    written = json.loads(made[made.index("--settings") + 1])["sandbox"]["filesystem"]["denyWrite"]
    assert written == ["/", "/w", "/more"]


@pytest.mark.parametrize("sandbox", ["none", "full"])
def test_without_one_nothing_is_set(sandbox: str) -> None:
    assert "--settings" not in argv(sandbox=sandbox, env={"PATH": "/nowhere"}, inherit_env=False)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('{"sandbox": {"excludedCommands": ["docker"]}}', True),
        ('{"sandbox": {"excludedCommands": []}}', False),
        ('{"sandbox": 3}', False),
        ("[" * 100_000, False),
        ("no JSON", False),
    ],
)
def test_settings_of_the_user_that_let_commands_out(
    text: str, refused: bool, programs: dict[str, str]
) -> None:
    folder = Path(programs["HOME"]) / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(text)
    with pytest.raises(Unsupported, match="lets commands out") if refused else nullcontext():
        argv(sandbox="workspace", env=programs, inherit_env=False)


def test_settings_that_are_no_object_cannot_hold_a_sandbox(programs: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="must be a dict"):
        argv(sandbox="workspace", env=programs, inherit_env=False, native={"settings": "file.json"})


# --- its own words for permissions ------------------------------------------------------------------------------


def test_its_own_words_stand_in_place_of_ours() -> None:
    made = argv(native={"permission_mode": "acceptEdits", "permission_prompt_tool": "mcp__judge__approve"})
    assert made[made.index("--permission-mode") + 1] == "acceptEdits"
    assert made[made.index("--permission-prompt-tool") + 1] == "mcp__judge__approve"
    assert (made.count("--permission-mode"), made.count("--permission-prompt-tool")) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"native": {"permission_mode": "yolo"}}, "must be one of default, acceptEdits"),
        ({"native": {"permission_mode": ["plan"]}}, "must be one of"),
        ({"native": {"permission_mode": "default"}, "approve": "plan"}, "leave out"),
        ({"native": {"permission_prompt_tool": "stdio"}}, "must be mcp__SERVER__TOOL"),
        ({"native": {"permission_prompt_tool": 3}}, "must be mcp__SERVER__TOOL"),
    ],
)
def test_words_that_it_does_not_have(fields: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        argv(**fields)
