"""The record of an agent that speaks the toy dialect."""

import sys

from msgspec import structs

from dragoman._agents.agent import Agent, environment
from dragoman._model.config import SessionConfig
from dragoman._runtime.plan import LaunchPlan
from tests.runtime.toy_dialect import CAN, FAKES, MANY, toy_plan


def plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    program = str(FAKES / str(config.native.get("program", "obedient.py")))
    argv = [executable, "-I", program, *config.extra_args]
    return toy_plan(argv=argv, env=environment(config), cwd=config.cwd, one_shot="one_shot" in config.native)


TOY = Agent(
    name="toy",
    title="The toy",
    executable=sys.executable,
    dialects=("toy",),
    plan=plan,
    capabilities=CAN,
    install="pip install toy",
)


def plural_plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    argv = [executable, "-I", str(FAKES / "plural.py"), *config.extra_args]
    return toy_plan(argv=argv, env=environment(config), cwd=config.cwd, capabilities=MANY)


PLURAL = structs.replace(TOY, plan=plural_plan, capabilities=MANY)
"""It has several sessions in one process."""
