"""A recording in place of an agent: the record of whoever was recorded, with a plan by which nothing is started."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from dragoman._agents import AGENTS, acp
from dragoman._agents.agent import Agent, StandIn
from dragoman._files import likeness
from dragoman._files.playback import Playback, host_replies
from dragoman._files.sources import Source, open_source
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import NotAsRecorded, UsageError
from dragoman._model.frames import Launch
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan
from dragoman._wire.redaction import Redactor, secrets_in

_ASKED: Final = (
    *("model", "approve", "sandbox", "allowed_tools", "blocked_tools", "output_schema"),
    *("native", "resume", "resume_at", "fork", "host"),
)
"""What the run was asked that was recorded, and is asked now where the caller says nothing else."""


class Replayed(StandIn):
    """Plays the agent of a recording, a file or its content: at once, or at `speed` times its own."""

    def __init__(self, recording: str | os.PathLike[str] | bytes, *, speed: float | None = None) -> None:
        if speed is not None and not speed > 0:
            raise UsageError(f"speed must be a number above 0, or None for at once; not {speed!r}")
        self._recording = recording if isinstance(recording, bytes) else Path(recording)
        self._speed = speed
        self._playbacks: list[Playback] = []
        with_header = self._opened()
        with_header.close()
        launch = with_header.launch
        self.name: str = with_header.name
        """What is played: the path of a file."""
        if with_header.kind != "stream":
            raise UsageError(f"{with_header.name} is no recording of a run: it has not what the client said")
        played = _played(launch)
        self.options: Mapping[str, Any] = {
            name: launch.config[name] for name in _ASKED if name in launch.config
        }
        self.record: Agent = structs.replace(
            played,
            name=launch.agent or played.name,
            executable="/dev/null",
            dialects=(launch.dialect,),
            plan=partial(self._plan, played, launch),
            extended=partial(_extended, played),
            capabilities=played.capabilities - {Capability.LIST_SESSIONS},
            oldest=None,
            store=None,
            session_id=".*",
            project_files={},
            unheld=(),
        )

    def _opened(self) -> Source:
        return open_source(self._recording)

    def _plan(
        self, played: Agent, launch: Launch, config: SessionConfig, executable: str, dialect: str
    ) -> LaunchPlan:
        plan = played.plan(config, executable, dialect)
        if plan.one_shot:
            _check_prompt(self.name, launch, config.prompt or "")
        recorded, here = launch.cwd, os.path.abspath(config.cwd or os.getcwd())
        playback = Playback(
            self._opened,
            speed=self._speed,
            places=[(recorded, here)] if recorded is not None else [],
            redactor=Redactor(secrets_in(plan.env) | secrets_in(config.mcp_servers)),
            waits_for_end=not plan.one_shot and not self._ended_alone(launch),
        )
        self._playbacks.append(playback)
        return structs.replace(
            plan,
            argv=launch.argv or [self.record.name],
            played=playback,
            host_replies=host_replies(self._opened()) if dialect == "acp" else None,
            files={},
            spool=False,
            session=_chosen_session(launch.argv) if plan.session is not None else None,
            cli_version=launch.cli_version,
        )

    def _ended_alone(self, launch: Launch) -> bool:
        """Whether the agent exited by itself; where nobody says why it did, it was because its client hung up."""
        if launch.started is None:
            return False
        source = self._opened()
        for _ in source:
            pass
        return source.exit is not None and source.exit.reason is None


def _played(launch: Launch) -> Agent:
    """The record of whoever was recorded; of any agent that speaks its dialect, where it has none."""
    named = AGENTS[launch.agent] if launch.agent != acp.GENERIC and launch.agent in AGENTS else None
    if named is not None and launch.dialect in named.dialects:
        return named
    if launch.dialect == "acp":
        generic = acp.record(acp.GENERIC)
        return structs.replace(
            generic, plan=lambda config, executable, _: acp.plan(config, acp.ANY, [executable])
        )
    return next(
        AGENTS[name] for name in ("claude", "codex", "gemini") if launch.dialect in AGENTS[name].dialects
    )


def _extended(played: Agent, config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """A recording is in nobody's way: several may be played at once."""
    return structs.replace(played.extended(config, dialect, functions), serialize=False)


def _chosen_session(argv: list[str]) -> str | None:
    """The id that the client had chosen (Claude Code)."""
    return argv[argv.index("--session-id") + 1] if "--session-id" in argv[:-1] else None


def _check_prompt(name: str, launch: Launch, prompt: str) -> None:
    """Raise NotAsRecorded for another prompt than the one on the recorded command line."""
    redacted = Redactor().text(prompt)
    told = launch.config.get("prompt")
    words = [told] if isinstance(told, str) else [word.removeprefix("--prompt=") for word in launch.argv]
    if not any(likeness.difference(word, redacted) is None for word in words):
        recorded = " ".join(words)
        raise NotAsRecorded(
            f"the program sends another prompt than was recorded ({name})\n  recorded: {recorded}\n  sent:     {redacted}\n"
            "Let it send the same, or record anew",
            recorded=recorded,
            sent=redacted,
        )
