"""Versions that are known before an agent is started."""

import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman import Capability, SpawnFailed, Unsupported
from dragoman._agents.versions import installed_version, is_older

SESSION = "11111111-2222-7333-8444-555555555555"


def installed(tmp_path: Path, name: str, version: object) -> Path:
    """A program as npm installs it: a link to a script in the folder of its package."""
    package = tmp_path / "node_modules" / "@maker" / name
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": f"@maker/{name}", "version": version}))
    script = package / "bin" / f"{name}.js"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o700)
    link = tmp_path / name
    link.symlink_to(script)
    return link


def test_the_version_that_npm_installed(tmp_path: Path) -> None:
    assert installed_version(str(installed(tmp_path, "claude", "2.1.325"))) == "2.1.325"
    assert installed_version("/bin/sh") is None
    assert installed_version(str(tmp_path / "nothing")) is None


@pytest.mark.parametrize("version", [None, 7, "", "next", ["1"]])
def test_a_package_without_a_version(tmp_path: Path, version: object) -> None:
    assert installed_version(str(installed(tmp_path, "claude", version))) is None


def test_what_is_older() -> None:
    assert is_older("2.0.50", "2.1.100")
    assert is_older("2.1.9", "2.1.100")
    assert not is_older("2.1.100", "2.1.100")
    assert not is_older(None, "2.1.100")


def test_one_that_is_too_old_is_not_started(tmp_path: Path) -> None:
    program = installed(tmp_path, "claude", "2.0.50")
    with pytest.raises(
        SpawnFailed, match=r"Claude Code 2\.0\.50 is too old: 2\.1\.100 is the oldest"
    ) as raised:
        dragoman.open("claude", executable=program)
    assert raised.value.exit_status == 3


def test_what_an_older_version_lacks(tmp_path: Path) -> None:
    program = installed(tmp_path, "codex", "0.135.0")
    with pytest.raises(Unsupported, match=r"fork in codex_exec before 0\.150\.0"):
        dragoman.open(
            "codex", prompt="Go on.", executable=program, dialect="codex_exec", resume=SESSION, fork=True
        )
    opened = dragoman.open("codex", executable=program, resume=SESSION, fork=True)
    assert opened._run.plan.cli_version == "0.135.0"
    assert Capability.DELETE not in opened.capabilities


def test_hooks_that_would_not_be_called(tmp_path: Path) -> None:
    """`codex exec` of 0.135.0 goes on without them."""
    hooks: Any = {"PreToolUse": lambda call: None}
    fields = {"prompt": "Go.", "executable": installed(tmp_path, "codex", "0.135.0")}
    with pytest.raises(Unsupported, match=r"hooks in codex_exec before 0\.150\.0"):
        dragoman.open("codex", dialect="codex_exec", hooks=hooks, **fields)
    dragoman.open("codex", hooks=hooks, **fields)
    dragoman.open("codex", dialect="codex_exec", **fields)


def test_a_container_with_the_users_settings_in_it_is_no_sandbox(tmp_path: Path) -> None:
    """0.45.2 mounts ~/.gemini to be written to."""
    (tmp_path / "docker").touch(0o755)
    fields = {"prompt": "Go.", "dialect": "gemini_stream", "env": {"PATH": str(tmp_path)}}
    program = installed(tmp_path, "gemini", "0.45.2")
    with pytest.raises(Unsupported, match=r"Before 0\.61\.0 its container could write to ~/\.gemini"):
        dragoman.open("gemini", executable=program, sandbox="workspace", **fields)
    dragoman.open("gemini", executable=program, **fields)
