"""The demo agent: a script that speaks ACP, shipped with this package."""

import os
import sys
from pathlib import Path
from typing import Final

from dragoman._agents.agent import Agent, check_options, environment
from dragoman._dialects.acp.machine import Acp
from dragoman._dialects.acp.opening import Opening
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._runtime.plan import LaunchPlan
from dragoman._wire.machine import StartOptions

PROGRAM: Final = str(Path(__file__).parent.parent / "testing" / "_demo_agent.py")
VERSION: Final = "2.0"

CAPABILITIES: Final = frozenset(
    (
        Capability.PROMPT,
        Capability.INTERRUPT,
        Capability.PERMISSIONS,
        Capability.REMEMBER,
        Capability.HOST_CALLS,
        Capability.PARTIALS,
        Capability.THINKING,
        Capability.RESUME,
        Capability.COST,
        Capability.MANY_SESSIONS,
        Capability.LIST_SESSIONS,
    )
)

NATIVE_OPTIONS: Final = {
    "pace": "seconds per beat of its script; 0 for none",
    "sessions": "a directory to keep its sessions in, so that they can be resumed",
}


def plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    """How to start it. Whatever else was asked for, it knows one job; see testing/demo_agent.py."""
    check_options(config, "demo", NATIVE_OPTIONS)
    native = dict(config.native)
    if "sessions" in native:
        native["sessions"] = os.path.abspath(str(native["sessions"]))
    options = [(f"--{name}", str(native[name])) for name in NATIVE_OPTIONS if name in native]
    machine = Acp(config.agent)
    opening = Opening(cwd=os.path.abspath(config.cwd or os.getcwd()), resume=config.resume, replay=True)
    return LaunchPlan(
        agent=config.agent,
        dialect=dialect,
        argv=[
            executable,
            "-I",
            PROGRAM,
            *(word for option in options for word in option),
            *config.extra_args,
        ],
        machine=machine,
        options=StartOptions(opening=opening),
        env=environment(config),
        cwd=config.cwd,
        capabilities=CAPABILITIES,
        cli_version=VERSION,
    )


AGENT = Agent(
    name="demo",
    title="Demo agent (scripted)",
    executable=sys.executable,
    dialects=("acp",),
    plan=plan,
    capabilities=CAPABILITIES,
    tested_versions=(VERSION,),
    version_args=("-I", PROGRAM, "--version"),
    session_id=r"demo-[0-9a-f]{8}",
    native_options=NATIVE_OPTIONS,
)
