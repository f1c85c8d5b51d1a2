"""The demo agent: a script that speaks Claude's stream-json, shipped with this package."""

import sys
from pathlib import Path
from typing import Final

from dragoman.agents.agent import Agent, environment
from dragoman.dialects.claude_stream.machine import ClaudeStream
from dragoman.model.capabilities import Capability
from dragoman.model.config import SessionConfig
from dragoman.model.errors import UsageError
from dragoman.runtime.plan import Plan

PROGRAM: Final = str(Path(__file__).parent.parent / "testing" / "demo_agent.py")
VERSION: Final = "1.0"

CAPABILITIES: Final = frozenset(
    (
        Capability.PROMPT,
        Capability.INTERRUPT,
        Capability.PERMISSIONS,
        Capability.UPDATED_INPUT,
        Capability.REMEMBER,
        Capability.PARTIALS,
        Capability.THINKING,
        Capability.COST,
    )
)


def plan(config: SessionConfig, executable: str, dialect: str) -> Plan:
    """How to start it. Whatever else was asked for, it knows one job; see testing/demo_agent.py."""
    if unknown := config.native.keys() - {"pace"}:
        raise UsageError(f"demo has no native option {sorted(unknown)[0]!r}; it has: pace")
    pace = config.native.get("pace")
    return Plan(
        agent=config.agent,
        dialect=dialect,
        argv=[
            executable,
            "-I",
            PROGRAM,
            *(["--pace", str(pace)] if pace is not None else []),
            *config.extra_args,
        ],
        machine=ClaudeStream(config.agent),
        env=environment(config),
        cwd=config.cwd,
        capabilities=CAPABILITIES,
        cli_version=VERSION,
    )


AGENT = Agent(
    name="demo",
    title="Demo agent (scripted)",
    executable=sys.executable,
    dialects=("claude_stream",),
    plan=plan,
    capabilities=CAPABILITIES,
    tested_versions=(VERSION,),
    version_args=("-I", PROGRAM, "--version"),
    native_options={"pace": "seconds per beat of its script; 0 for none"},
)
