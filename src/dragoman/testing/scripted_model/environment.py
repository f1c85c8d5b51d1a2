"""The environment in which an agent finds the scripted model and nothing else of this machine but its programs."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path


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
        **AGENTS[agent](url),
    }


def _claude(url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


AGENTS: Mapping[str, Callable[[str], Mapping[str, str]]] = {"claude": _claude}
