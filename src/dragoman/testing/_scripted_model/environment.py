"""The environment in which an agent finds the scripted model and nothing else of this machine but its programs."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .acp_environment import ACP_AGENTS, opencode_config


def environment(agent: str, url: str, home: str | Path) -> dict[str, str]:
    """Complete: of this process's own environment only PATH is taken over."""
    if agent not in AGENTS:
        raise ValueError(f"no environment is known for {agent!r}; there is one for {', '.join(AGENTS)}")
    temp = Path(home) / "tmp"
    temp.mkdir(parents=True, exist_ok=True)
    # Whatever does not go to the model goes to its server as a proxy, which refuses and records it.
    proxy = url.partition("/s/")[0]
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(temp),
        "LANG": "C.UTF-8",
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "NO_PROXY": "127.0.0.1,localhost",
        **AGENTS[agent](url, Path(home)),
    }


def _claude(url: str, home: Path) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
enable_request_compression = false
plugins = false
"""
# gpt-5.5 is offered the classic tools (exec_command, apply_patch …); newer models get one that runs code.


def _codex(url: str, home: Path) -> Mapping[str, str]:
    """A provider of one's own can be named in config.toml only."""
    folder = home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(CODEX_CONFIG.format(url=url), "utf-8")
    return {"CODEX_HOME": str(folder), "SCRIPTED_API_KEY": "dummy"}


def _opencode(url: str, home: Path) -> Mapping[str, str]:
    model = {"name": "Scripted", "reasoning": True, "attachment": True, "tool_call": True}
    model |= {"modalities": {"input": ["text", "image"], "output": ["text"]}}
    model |= {"limit": {"context": 128_000, "output": 8_000}, "cost": {"input": 1, "output": 2}}
    folder = home / ".config" / "opencode"
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    config = opencode_config(url, {"first": model, "second": {**model, "name": "Second"}})
    (folder / "opencode.json").write_text(json.dumps(config), "utf-8")
    # So that it does not fetch the package that plugins are written with.
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(lock), "utf-8")
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


GEMINI_SETTINGS: Mapping[str, dict[str, Any]] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    # The CLI deletes both files of a session that was resumed in a later minute, unless told to keep them.
    "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
}


def _gemini(url: str, home: Path) -> Mapping[str, str]:
    """How to authenticate can be said in settings.json only. What the user has in there is kept."""
    folder = home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "settings.json").exists():
        (folder / "settings.json").write_text(json.dumps(GEMINI_SETTINGS), "utf-8")
    return {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "NO_COLOR": "1",
    }


AGENTS: Mapping[str, Callable[[str, Path], Mapping[str, str]]] = {
    "claude": _claude,
    "codex": _codex,
    "codex-acp": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    **ACP_AGENTS,
}
