"""What we and other tools count at a home: tokens by model. Each tool runs in a clean environment, with that home."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.usage_peers.install import PROGRAMS


class Tokens(NamedTuple):
    input: int = 0
    """With all that was cached."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        return Tokens(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


Counted = dict[str, Tokens]
"""By model; one without any tokens is left out."""


def ours(home: Path, agent: str) -> Counted:
    dragoman = [sys.executable, "-m", "dragoman"]
    _run(home, *dragoman, "sync")
    rows = json.loads(_run(home, *dragoman, "usage", "--agent", agent, "--by", "model", "--json"))["rows"]
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    return _by_model((row["key"], Tokens(*(row[name] for name in names))) for row in rows)


def ccusage(home: Path, agent: str) -> Counted:
    """Its form is another for each agent: a list of models, or an object of them."""
    days = json.loads(_run(home, PROGRAMS["ccusage"], agent, "daily", "--json", "--offline"))["daily"]
    return _by_model(
        each
        for day in days
        for each in (
            [(name, _tokens(counts)) for name, counts in day["models"].items()]
            if "models" in day
            else _broken_down(day)
        )
    )


def agentsview(home: Path, agent: str) -> Counted:
    _run(home, PROGRAMS["agentsview"], "sync")
    said = _run(
        home,
        PROGRAMS["agentsview"],
        *("usage", "daily", "--json", "--all", "--no-sync", "--offline", "--breakdown", "--agent", agent),
    )
    return _by_model(each for day in json.loads(said)["daily"] or [] for each in _broken_down(day))


TOOLS: dict[str, Callable[[Path, str], Counted]] = {"ccusage": ccusage, "agentsview": agentsview}


def _broken_down(day: Mapping[str, Any]) -> list[tuple[str, Tokens]]:
    return [(model["modelName"], _tokens(model)) for model in day["modelBreakdowns"]]


def _tokens(counts: Mapping[str, int]) -> Tokens:
    read, write = counts["cacheReadTokens"], counts["cacheCreationTokens"]
    return Tokens(counts["inputTokens"] + read + write, read, write, counts["outputTokens"])


def _by_model(rows: Iterable[tuple[str, Tokens]]) -> Counted:
    found: Counted = {}
    for name, tokens in rows:
        if any(tokens):
            found[name] = found.get(name, Tokens()).plus(tokens)
    return found


def _run(home: Path, *command: str | Path) -> str:
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "AGENTSVIEW_NO_DAEMON": "1",
    }
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
