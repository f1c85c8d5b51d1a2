"""The plan: everything that must be known to start one run of an agent, speak with it and stop it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, field

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Reply
from dragoman._model.config import Approve
from dragoman._model.events import HostCalled
from dragoman._policy.policy import Updates, no_update
from dragoman._policy.rules import Rule
from dragoman._runtime.process.played import Player
from dragoman._wire.machine import Machine, StartOptions

StepName = Literal["interrupt", "eof", "SIGINT", "SIGTERM", "SIGKILL"]
Step = tuple[StepName, float]
"""What to do, and how many seconds to wait for it to take effect."""

MissingFiles = Literal["error", "empty"]
"""What an agent is told that has its client read a file which is not there: as a rule, that it is not there."""

GENTLE_STOP: Final[tuple[Step, ...]] = (
    ("interrupt", 5.0),
    ("eof", 5.0),
    ("SIGINT", 3.0),
    ("SIGTERM", 3.0),
    ("SIGKILL", 3.0),
)
"""From the gentlest to the last. claude orphans its running tool on SIGTERM, so SIGINT comes before it."""


class LaunchPlan(Struct, kw_only=True):
    """One run of one agent, not started yet."""

    agent: str
    dialect: str
    vendor: str | None = None
    """Whose agent it is at heart, where its name does not say it."""
    argv: list[str]
    """The first is an absolute path."""
    played: Player | None = None
    """Who plays the agent in this process; then nothing is started, and `argv` is only told."""
    host_replies: Callable[[HostCalled], Reply | None] | None = None
    """What is answered where the host is asked for something; then it does nothing. None from it: the host does it."""
    machine: Machine
    options: StartOptions = StartOptions()
    """How the machine shall begin."""
    env: dict[str, str]
    """All of it: nothing is inherited beside."""
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    """What the agent is given to read, by absolute path: in a folder of the run's own, which ends with it. See own_files."""
    cwd: str | None = None
    capabilities: frozenset[Capability] = frozenset()
    one_shot: bool = False
    """The prompt is in `argv` or in the opening lines: stdin is closed behind them."""
    spool: bool = False
    """Its stdout is a file that is read as it grows: for agents that exit before a pipe has taken everything."""
    stop: tuple[Step, ...] = GENTLE_STOP
    config: dict[str, Any] = field(default_factory=dict)
    """What `run.started` says of the configuration."""
    resume: str | None = None
    """The session to go on with: its id, or at first another name for it."""
    fork: bool = False
    """It goes on in a copy of that one."""
    session: str | None = None
    """The id that a new session will have, where we choose it."""
    roots: list[str] = field(default_factory=list)
    """Folders that belong to the session beside `cwd`: to the policy they are inside, and the host works in them."""
    read_only: bool = False
    """The host changes nothing."""
    missing_files: MissingFiles = "error"
    shows_all: bool = False
    """The agent was told to ask for every call, so that it is in doubt of none for which it asks."""
    unheld: tuple[str, ...] = ()
    """What a project can bring that this process would run: no session of it works where one of these is, unless the
    folder is trusted."""
    mode_meanings: Mapping[str, Approve] = field(default_factory=dict)
    """What the agent's own modes mean in ours."""
    granted: list[Rule] = field(default_factory=list)
    """What the agent may do unless a rule of a file says otherwise."""
    bounds: list[Rule] = field(default_factory=list)
    """What the agent may not do, whatever a rule, a mode or a person says: what its sandbox does not hold."""
    updates: Updates = no_update
    """How the agent words what it may do from now on."""
    cli_version: str | None = None
    fetched_by: str | None = None
    """The program that fetches the agent before it starts (npx, uvx)."""
    tested_versions: tuple[str, ...] = ()
    login: str = ""
    """How to log in to the agent, as the end of a sentence."""
