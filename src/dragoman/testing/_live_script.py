"""A short script of turns on an installed agent, with the scripted model: what `dragoman drift --live` plays.

Every step is a run of its own, recorded, in a home and a folder that are the script's own, with a dummy key: nothing of
the user's is seen or touched. A step is played if the agent declares what it needs; it fails if what it is there for
does not happen.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio

from dragoman import api
from dragoman._agents import AGENTS
from dragoman._contract.invariants import broken
from dragoman._drift.report import Trial
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.errors import DragomanError, SpawnFailed
from dragoman._model.events import Event
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.session import Session
from dragoman.testing._scripted_model import (
    Hold,
    Scenario,
    ScriptedModel,
    Step,
    ToolCall,
    script,
    thinking,
    tool,
    turn,
)

PATIENCE: Final = 120.0
"""Seconds for a step; most take two or three."""


class Kind(NamedTuple):
    """How a step is played with one agent."""

    command: Callable[[str], ToolCall]
    """Its model runs a command, for which we are asked."""
    model: str | None = None
    """The model to ask for, where it would take another by itself."""
    settle: Callable[[Path], None] = lambda home: None
    """Makes its sessions such that they can be resumed at once."""


def _age(home: Path) -> None:
    """Gemini CLI 0.61.0 empties a session that is loaded in the minute in which it began."""
    for number, path in enumerate(sorted(home.glob(".gemini/tmp/*/chats/session-*"))):
        path.rename(path.with_name(f"session-2020-01-01T00-{number:02}-{path.name[-14:]}"))


def _unconfined(command: str) -> ToolCall:
    """Codex 0.135.0 refuses this where it asks for every command; codex-acp asks for nothing else."""
    return tool("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="To see.")


KINDS: Final[Mapping[str, Kind]] = {
    "claude": Kind(lambda command: tool("Bash", command=command)),
    "codex": Kind(lambda command: tool("exec_command", cmd=command)),
    "codex-acp": Kind(_unconfined),
    "gemini": Kind(lambda command: tool("run_shell_command", command=command), "gemini-2.5-pro", _age),
    "opencode": Kind(lambda command: tool("bash", command=command, description="Runs it.")),
}
"""The agents that can be given the scripted model."""


class Failed(Exception):
    """What should have happened did not."""


class Stage:
    """Where an agent plays: its home, its folder, and its recordings."""

    def __init__(self, agent: str, place: Path, recordings: Path, executable: str | None) -> None:
        self.agent, self.kind = agent, KINDS[agent]
        self.home, self.cwd = place / "home", place / "work"
        self.recordings = recordings
        self.session: str | None = None
        """The session of an earlier step."""
        self._executable = executable
        for folder in (self.home, self.cwd, self.recordings):
            folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def open(self, name: str, lines: list[Step], **fields: Any) -> Iterator[tuple[Session, Scenario]]:
        """A session that is not begun yet, with a model that says these lines."""
        with ScriptedModel(script(lines)) as model:
            fields = self._fields(model, fields)
            session = api.open(self.agent, record=self.recordings / f"{name}.jsonl", **fields)
            try:
                yield session, model
            except Failed as error:
                complaint = (session.result.stderr_tail or "") if session.result is not None else ""
                raise Failed(": ".join((str(error), *complaint.splitlines()[-1:]))) from error

    def _fields(self, model: Scenario, fields: dict[str, Any]) -> dict[str, Any]:
        place = {"cwd": self.cwd, "env": model.env(self.agent, self.home), "inherit_env": False}
        place |= {"serialize": False}  # its locks would be in the user's home
        chosen = {"executable": self._executable, "model": self.kind.model}
        return {**place, **{key: value for key, value in chosen.items() if value is not None}, **fields}


def play(agent: str, place: Path, recordings: Path, executable: str | None = None) -> list[Trial]:
    """Every step that the agent can do, one after the other. Raises SpawnFailed if it cannot be started at all."""
    stage = Stage(agent, place, recordings, executable)
    able = AGENTS[agent].capabilities
    return [anyio.run(_play, stage, name) for name, (needs, _) in STEPS.items() if needs in able]


async def _play(stage: Stage, name: str) -> Trial:
    needs, step = STEPS[name]
    played = Trial(name, needs.value)
    try:
        with anyio.fail_after(PATIENCE):
            events = await step(stage, name)
        faults = broken(events)
        if faults:
            played.error = f"what always holds does not: {faults[0]}"
    except SpawnFailed:
        raise
    except TimeoutError:
        played.error = f"it was not over after {PATIENCE:g} s"
    except (DragomanError, Failed) as error:
        played.error = str(error)
    return played


# --- the steps -------------------------------------------------------------------------------------------------


async def _text(stage: Stage, name: str) -> list[Event]:
    """An answer with a thought before it."""
    with stage.open(name, [turn(thinking("Let me see."), "Hello there.")]) as (session, _):
        events = await _turns(session, ["Say hello."])
    _expect(_ended(events)[0].text == "Hello there.", f"the answer is {_ended(events)[0].text!r}")
    return events


async def _two_turns(stage: Stage, name: str) -> list[Event]:
    with stage.open(name, ["One.", "Two."]) as (session, _):
        events = await _turns(session, ["First.", "Second."])
    stage.session = session.id
    _expect(
        [end.text for end in _ended(events)] == ["One.", "Two."], "the answers are not those of the prompts"
    )
    return events


async def _allowed(stage: Stage, name: str) -> list[Event]:
    return await _asked(stage, name, allowed=True)


async def _denied(stage: Stage, name: str) -> list[Event]:
    return await _asked(stage, name, allowed=False)


async def _asked(stage: Stage, name: str, *, allowed: bool) -> list[Event]:
    """A command that makes a file, for which the agent asks."""
    file = stage.cwd / name.replace(" ", "-")
    asked: list[PermissionRequest] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return allowed

    lines: list[Step] = [stage.kind.command(f"touch {file.name}"), "Done."]
    with stage.open(name, lines, approve=approve) as (session, _):
        # Codex 0.135.0 may say that the command has ended after it said so of the turn.
        last = ev.ToolEnded if allowed else None
        events = await _turns(session, ["Make it."], completed=allowed, last=last)
    _expect(bool(asked), "it did not ask")
    _expect(
        file.exists() == allowed,
        "a denied command ran" if file.exists() else "an allowed command did not run",
    )
    statuses = [event.status for event in events if isinstance(event, ev.ToolEnded)]
    _expect((statuses[:1] == ["completed"]) == allowed, f"the tool is {', '.join(statuses) or 'not told of'}")
    return events


async def _interrupted(stage: Stage, name: str) -> list[Event]:
    """A turn that is interrupted while the model speaks; it never says more than that."""
    numbers = ", ".join(map(str, range(100)))
    lines: list[Step] = [turn(numbers, chunk=4, hold=Hold("in the middle", after=20))]
    outcomes: list[str] = []
    with stage.open(name, lines) as (session, _):
        async with session:
            events, cut = session.events(), False
            async for event in session.prompt("Go on."):
                if isinstance(event, ev.Delta) and not cut:
                    cut = True
                    await session.interrupt()
                elif isinstance(event, ev.TurnEnded):
                    outcomes.append(event.outcome)
        told: list[Event] = [event async for event in events]
    _expect(outcomes == ["cancelled"], f"the turn is {', '.join(outcomes) or 'not over'}")
    return told


async def _resumed(stage: Stage, name: str) -> list[Event]:
    """The session of the two turns goes on: the model is sent what was said in it."""
    return await _gone_on(stage, name)


async def _forked(stage: Stage, name: str) -> list[Event]:
    """A copy of that session goes on."""
    return await _gone_on(stage, name, fork=True)


async def _gone_on(stage: Stage, name: str, **fields: Any) -> list[Event]:
    _expect(stage.session is not None, "there is no session to go on with: the two turns failed")
    stage.kind.settle(stage.home)
    with stage.open(name, ["Three."], resume=stage.session, **fields) as (session, model):
        events = await _turns(session, ["Third."])
        texts = model.requests_of("main")[-1].texts if model.requests_of("main") else []
    _expect("First." in texts, "what was said before is gone")
    _expect((session.id == stage.session) != bool(fields), f"it goes on as {session.id}")
    return events


async def _mode(stage: Stage, name: str) -> list[Event]:
    """A mode that is changed between two turns."""
    with stage.open(name, ["One.", "Two."]) as (session, _):
        async with session:
            events = session.events()
            await _turn(session, "First.", completed=True)
            answer = await session.set_mode("plan")
            await _turn(session, "Second.", completed=True)
        told: list[Event] = [event async for event in events]
    _expect(answer is None or answer.ok, "it did not take the mode")
    return told


STEPS: Final[Mapping[str, tuple[Capability, Callable[[Stage, str], Awaitable[list[Event]]]]]] = {
    "text": (Capability.PROMPT, _text),
    "tool-allowed": (Capability.PERMISSIONS, _allowed),
    "tool-denied": (Capability.PERMISSIONS, _denied),
    "two-turns": (Capability.PROMPT, _two_turns),
    "interrupt": (Capability.INTERRUPT, _interrupted),
    "resume": (Capability.RESUME, _resumed),
    "fork": (Capability.FORK, _forked),
    "set-mode": (Capability.SET_MODE, _mode),
}
"""What is played, in this order, and what an agent must declare for it."""


async def _turns(
    session: Session, prompts: list[str], *, completed: bool = True, last: type[Event] | None = None
) -> list[Event]:
    """All that is said in a session with these prompts; with `last`, not before such an event is there."""
    told: list[Event] = []
    async with session:
        events = session.events()
        for prompt in prompts:
            await _turn(session, prompt, completed=completed)
        if last is not None:
            async for event in events:
                told.append(event)
                if isinstance(event, last):
                    break
    return told + [event async for event in events]


async def _turn(session: Session, prompt: str, *, completed: bool) -> None:
    ended = [event async for event in session.prompt(prompt) if isinstance(event, ev.TurnEnded)]
    _expect(bool(ended), "a turn is not over")
    why = ended[0].error.message if ended[0].error is not None else ended[0].reason
    told = f"a turn is {ended[0].outcome}" + (f" ({why})" if why else "")
    _expect(ended[0].outcome == "completed" or not completed, told)


def _ended(events: list[Event]) -> list[ev.TurnEnded]:
    return [event for event in events if isinstance(event, ev.TurnEnded)]


def _expect(holds: bool, else_: str) -> None:
    if not holds:
        raise Failed(else_)
