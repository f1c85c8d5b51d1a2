"""A fake agent: a script in a few lines that goes through all of the runtime, for tests without any CLI, model or network."""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from uuid import uuid4

from msgspec import structs

from dragoman._agents import acp, claude
from dragoman._agents.agent import Agent, StandIn
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan
from dragoman._runtime.process.played import Stage
from dragoman.testing._fake_agent.speaker import Heard
from dragoman.testing._fake_agent.steps import FakeScript, FakeTurn, Steps, steps_of

_LACKS = frozenset(
    (
        *(Capability.HOOKS, Capability.SUBAGENTS, Capability.BACKGROUND, Capability.REWIND_FILES),
        *(Capability.LIST_SESSIONS, Capability.DELETE, Capability.FORK, Capability.LIVE_FORK),
        *(Capability.RESUME_AT, Capability.COMPACT, Capability.OUTPUT_SCHEMA, Capability.MAX_TURNS),
    )
)
"""What others can do who speak these dialects, and no script can say."""


class FakeAgent(StandIn):
    """An agent that does what a script says: give it in place of an agent's name. It is played in this process, in a thread,
    and everything between it and you is real: permissions, handlers, limits, recordings.

    Each entry of the script is a turn: a text, a step, a list of them, or a function of the prompt that returns one of
    these. The next prompt takes the next turn, whichever session it is in. With `dialect="acp"` it speaks ACP and has several
    sessions (`connect`); else it speaks as Claude Code does.
    """

    def __init__(self, script: FakeScript, *, name: str = "fake") -> None:
        if isinstance(script, str) or not (callable(script) or isinstance(script, list | tuple)):
            raise UsageError(
                f"the script of a FakeAgent must be a list of turns, or a function; not {script!r:.60}"
            )
        self._script = script
        self._next = 0
        self._lock = threading.Lock()
        self._heard = Heard()
        self.record: Agent = Agent(
            name=name,
            title="Fake agent (scripted)",
            executable=sys.executable,
            dialects=tuple(_PLANS),
            plan=self._plan,
            extended=_extended,
            capabilities=claude.AGENT.capabilities - _LACKS,
        )

    @property
    def prompts(self) -> list[str]:
        """The prompts that it was given."""
        return self._heard.prompts

    @property
    def steers(self) -> list[str]:
        """What it was told within a turn."""
        return self._heard.steers

    @property
    def answers(self) -> list[bool | dict[str, Any] | None]:
        """What it was answered: whether it was allowed, and to questions the answers, or None."""
        return self._heard.answers

    @property
    def interrupts(self) -> int:
        """How many turns were interrupted."""
        return self._heard.interrupts

    @property
    def turns_left(self) -> int:
        """How many turns of the script nobody has prompted for; 0 for a function."""
        return 0 if callable(self._script) else len(self._script) - self._next

    def _steps_for(self, prompt: str) -> Steps:
        return steps_of(self._turn(prompt), prompt)

    def _turn(self, prompt: str) -> FakeTurn:
        if callable(self._script):
            return self._script
        with self._lock:
            if self._next == len(self._script):
                raise UsageError(
                    f"the script of the FakeAgent has {len(self._script)} turns, and none for the prompt {prompt!r:.200}; "
                    "add a turn"
                )
            self._next += 1
            turn: FakeTurn = self._script[self._next - 1]
            return turn

    def _plan(self, config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
        made = _PLANS[dialect](config, executable)
        return structs.replace(
            made,
            argv=[config.agent, *made.argv[1:]],
            played=partial(self._play, config, made),
            capabilities=made.capabilities - _LACKS,
        )

    def _play(self, config: SessionConfig, plan: LaunchPlan, stage: Stage) -> int:
        from dragoman.testing._fake_agent.acp_speaker import AcpSpeaker
        from dragoman.testing._fake_agent.claude_speaker import ClaudeSpeaker

        cwd = os.path.abspath(config.cwd or os.getcwd())
        if plan.dialect == "acp":
            return AcpSpeaker(stage, self._steps_for, self._heard, cwd).serve()
        session = plan.session or config.resume or str(uuid4())
        mode = plan.argv[plan.argv.index("--permission-mode") + 1]
        return ClaudeSpeaker(
            stage, self._steps_for, self._heard, cwd, session=session, mode=mode, model=config.model
        ).serve()


_PLANS: Final[Mapping[str, Callable[[SessionConfig, str], LaunchPlan]]] = {
    "claude_stream": lambda config, executable: claude.plan(config, executable, "claude_stream"),
    "acp": lambda config, executable: acp.plan(config, acp.ANY, [executable]),
}
"""By dialect: what is told to the agent is what is told to one that speaks it."""


def _extended(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """Its sessions are nowhere kept, so that nobody is in another one's way."""
    if functions.hooks.events:
        raise Unsupported(config.agent, "hooks", "It is a script: call the function in the test")
    if dialect == "acp" and functions.tools:
        raise Unsupported(
            config.agent, "tools in acp", "Leave out the dialect: it calls them in claude_stream"
        )
    extended = claude.extended(config, dialect, functions) if dialect == "claude_stream" else config
    return structs.replace(extended, serialize=False)
