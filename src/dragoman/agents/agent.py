"""The record of an agent: what it is called, what it can do, and how a run of it is planned."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from dragoman.model.capabilities import Capability
from dragoman.model.config import SessionConfig
from dragoman.runtime.plan import Plan

Planner = Callable[[SessionConfig, str, str], Plan]
"""Called with the configuration, the absolute path of the executable, and the dialect to speak."""


def nowhere(environment: Mapping[str, str]) -> list[Path]:
    """For agents that keep no sessions on disk."""
    return []


class Agent(Struct, frozen=True, kw_only=True):
    """A program that speaks one or more dialects."""

    name: str
    title: str
    executable: str
    """Its name on PATH."""
    dialects: tuple[str, ...]
    """The first is the one to drive it with."""
    plan: Planner
    capabilities: frozenset[Capability] = frozenset()
    install: str = ""
    """How to get it, in one line."""
    fetched: bool = False
    """The executable is a runner (npx, uvx) that fetches the agent: it being there says nothing about the agent."""
    family: str | None = None
    """The agent that it is at heart, where it is another one's adapter or descendant."""
    tested_versions: tuple[str, ...] = ()
    version_args: tuple[str, ...] = ("--version",)
    session_dirs: Callable[[Mapping[str, str]], list[Path]] = nowhere
    """Where its session files are, in a given environment."""
    native_options: dict[str, str] = field(default_factory=dict)
    """The keys of SessionConfig.native that it knows, and what they do."""


def environment(config: SessionConfig) -> dict[str, str]:
    """All that the agent shall see of the environment."""
    inherited = os.environ if config.inherit_env else {}
    return {**inherited, **config.env}
