"""How agents that speak ACP find the scripted model: variables, or a file in their home. The versions that were seen to
take it so are those of acp_agents.toml."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def _written(path: Path, content: str | dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def _openai(url: str, home: Path) -> Mapping[str, str]:
    return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}


def _agentao(url: str, home: Path) -> Mapping[str, str]:
    return {**_openai(url, home), "LLM_PROVIDER": "OPENAI"}


def _claude_acp(url: str, home: Path) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _copilot(url: str, home: Path) -> Mapping[str, str]:
    """A provider of one's own needs no login."""
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "gpt-5.2",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _crow(url: str, home: Path) -> Mapping[str, str]:
    provider = f'providers:\n  scripted:\n    base_url: "{url}/v1"\n    api_key: dummy\n'
    models = "models:\n  scripted:\n    provider: scripted\n    model: scripted\n"
    _written(home / ".agents" / "crow" / "config.yaml", provider + models)
    return {}


def _fast_agent(url: str, home: Path) -> Mapping[str, str]:
    """Which model it takes is said by an argument: `--model generic.scripted`."""
    return {"GENERIC_BASE_URL": f"{url}/v1", "GENERIC_API_KEY": "dummy"}


def opencode_config(url: str, models: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of OpenCode and its descendants: a provider of one's own, which is asked for everything. Rules for edits
    and commands: without them nothing is asked for."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": dict(models),
    }
    return {
        "provider": {"scripted": provider},
        "enabled_providers": ["scripted"],
        "model": "scripted/first",
        "small_model": "scripted/first",
        "permission": {"edit": "ask", "bash": "ask"},
        "autoupdate": False,
        "share": "disabled",
    }


def _kilo(url: str, home: Path) -> Mapping[str, str]:
    """As OpenCode, whose descendant it is."""
    model = {"name": "Scripted", "tool_call": True, "limit": {"context": 128_000, "output": 8_000}}
    models = {"first": {**model, "cost": {"input": 1, "output": 2}}}
    _written(home / ".config" / "kilo" / "kilo.json", opencode_config(url, models))
    names = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS")
    return {f"KILO_DISABLE_{name}": "1" for name in names}


def _kimi(url: str, home: Path) -> Mapping[str, str]:
    return {
        "KIMI_MODEL_NAME": "scripted",
        "KIMI_MODEL_API_KEY": "dummy",
        "KIMI_MODEL_BASE_URL": f"{url}/v1",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_CODE_HOME": str(home / ".kimi-code"),
    }


VIBE_CONFIG = """\
active_model = "scripted"
enable_telemetry = false
enable_auto_update = false

[[providers]]
name = "scripted"
api_base = "{url}/v1"
api_key_env_var = "SCRIPTED_API_KEY"

[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
"""


def _vibe(url: str, home: Path) -> Mapping[str, str]:
    _written(home / ".vibe" / "config.toml", VIBE_CONFIG.format(url=url))
    return {"SCRIPTED_API_KEY": "dummy", "VIBE_HOME": str(home / ".vibe")}


def _openhands(url: str, home: Path) -> Mapping[str, str]:
    """It says that nobody is logged in where this file is not there, whatever its variables say."""
    llm = {"model": "openai/scripted", "api_key": "dummy", "base_url": f"{url}/v1"}
    tools: list[dict[str, Any]] = [{"name": name, "params": {}} for name in ("terminal", "file_editor")]
    settings = {"kind": "Agent", "llm": {**llm, "usage_id": "agent", "num_retries": 0}, "tools": tools}
    _written(home / ".openhands" / "agent_settings.json", settings)
    return {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def _pi(url: str, home: Path) -> Mapping[str, str]:
    """The adapter looks for `pi` on PATH."""
    model = {"id": "scripted", "contextWindow": 128_000, "maxTokens": 8_000}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [model]}
    folder = home / ".pi" / "agent"
    _written(folder / "models.json", {"providers": {"scripted": provider}})
    _written(
        folder / "settings.json",
        {"defaultProvider": "scripted", "defaultModel": "scripted", "quietStartup": True},
    )
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}


def _qwen(url: str, home: Path) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    _written(home / ".qwen" / "settings.json", settings)
    return _openai(url, home)


ACP_AGENTS: Mapping[str, Callable[[str, Path], Mapping[str, str]]] = {
    "agentao": _agentao,
    "claude-acp": _claude_acp,
    "crow-cli": _crow,
    "fast-agent": _fast_agent,
    "github-copilot-cli": _copilot,
    "kilo": _kilo,
    "kimi": _kimi,
    "mistral-vibe": _vibe,
    "openhands": _openhands,
    "pi-acp": _pi,
    "qwen-code": _qwen,
}
