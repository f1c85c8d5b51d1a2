"""Opening a session with an agent, and asking one thing of it."""

import os
import shutil
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from msgspec import Struct, field, structs

from dragoman._agents.agent import Agent, environment
from dragoman._files.redaction import RedactingSink, Redactor, secrets_in
from dragoman._model.capabilities import Capability
from dragoman._model.config import APPROVE_MODES, SANDBOX_MODES, SessionConfig
from dragoman._model.errors import ProcessExited, SpawnFailed, Unsupported, UsageError
from dragoman._model.events import (
    AnyEvent,
    ErrorInfo,
    FileChanged,
    RunEnded,
    RunOutcome,
    TurnEnded,
)
from dragoman._model.usage import Usage
from dragoman._policy import prices, rulebook
from dragoman._policy.limits import Limits
from dragoman._policy.policy import Policy
from dragoman._runtime.connection import Connection
from dragoman._runtime.host.host import OFFERS
from dragoman._runtime.locks import SessionLocks
from dragoman._runtime.plan import LaunchPlan
from dragoman._runtime.requests import Handlers
from dragoman._runtime.run import FrameSink
from dragoman._runtime.session import Session

_PATHS = ("cwd", "executable", "policy", "record")


def open(agent: str | Agent | SessionConfig, **fields: Any) -> Session:
    """A session with `agent`, for `async with`. `fields` are those of SessionConfig.

    `approve` is one of its modes, or a callable: then that one is the handler, and all is asked.
    """
    config, connection = _connected(agent, fields)
    return connection.alone(None if connection.run.plan.one_shot else config.prompt)


def connect(agent: str | Agent | SessionConfig, **fields: Any) -> Connection:
    """A process of `agent` for several sessions, for `async with`; `fields` are as in `open`.

    Its `session()` opens them. Raises Unsupported for agents that have one session per process.
    """
    config, connection = _connected(agent, fields, opens_session=False)
    if Capability.MANY_SESSIONS not in connection.capabilities:
        raise Unsupported(connection.agent, Capability.MANY_SESSIONS, "Open one process for each with open()")
    for name in ("prompt", "resume"):
        if getattr(config, name) is not None:
            raise UsageError(f"a connection has no {name}: give it to one of its sessions")
    return connection


def _connected(
    agent: str | Agent | SessionConfig,
    fields: dict[str, Any],
    opens_session: bool = True,
) -> tuple[SessionConfig, Connection]:
    handlers = _handlers(fields)
    record, config = _resolved(agent, fields)
    _check_price(record, config)
    plan = record.plan(config, _executable(record, config), _dialect(record, config))
    if config.policy is not None and Capability.PERMISSIONS not in plan.capabilities:
        raise Unsupported(
            record.name, f"policy in {plan.dialect}", "It asks nobody, so no rule could be obeyed"
        )
    plan.read_only = plan.read_only or config.sandbox == "read-only"
    plan.options = structs.replace(
        plan.options,
        opens_session=opens_session,
        keeps_lines=config.keep_lines,
        offers=OFFERS if config.host else frozenset(),
        seed=token_hex(16),
    )
    connection = Connection(
        plan,
        handlers=handlers,
        policy=Policy(config.approve, rulebook.load(config.cwd, config.policy)),
        limits=Limits.of(config),
        recorder=_recorder(config, plan),
        timeout=config.timeout,
        idle_timeout=config.idle_timeout,
        locks=_locks(record, config, plan) if config.serialize else None,
    )
    return config, connection


class Result(Struct, kw_only=True):
    """What came of asking an agent one thing."""

    outcome: RunOutcome
    text: str | None = None
    """The final answer."""
    error: ErrorInfo | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    changes: list[FileChanged] = field(default_factory=list)
    structured_output: Any = None
    session: str | None = None
    """The agent's session id, to resume it."""
    events: list[AnyEvent] = field(default_factory=list)


async def ask(
    agent: str | Agent | SessionConfig,
    prompt: str | None = None,
    **fields: Any,
) -> Result:
    """Give an agent one prompt and wait for what comes of it. Raises ProcessExited if no turn ever began."""
    if prompt is not None:
        fields["prompt"] = prompt
    async with open(agent, **fields) as session:
        stream = session.until_done()
        events = [event async for event in stream]
    events += stream.drain()
    return _result(events, session)


def _result(events: Sequence[AnyEvent], session: Session) -> Result:
    turn = next((event for event in reversed(events) if isinstance(event, TurnEnded)), None)
    run = events[-1]
    assert isinstance(run, RunEnded)
    if turn is None:
        said = f": {run.stderr_tail.strip()}" if run.stderr_tail else ""
        raise ProcessExited(
            f"{session.agent} exited before the turn began{said}",
            agent=session.agent,
            exit_code=run.exit_code,
            native=run.stderr_tail,
        )
    return Result(
        outcome=run.outcome,
        text=turn.text,
        error=turn.error,
        usage=run.usage,
        cost_usd=run.cost_usd,
        changes=[event for event in events if isinstance(event, FileChanged) and event.phase == "applied"],
        structured_output=turn.structured_output,
        session=session.id,
        events=list(events),
    )


# --- what was asked for, made exact --------------------------------------------------------------------------


def _resolved(agent: str | Agent | SessionConfig, fields: dict[str, Any]) -> tuple[Agent, SessionConfig]:
    for name in _PATHS:
        if fields.get(name) is not None:
            fields[name] = os.fspath(fields[name])
    if isinstance(agent, SessionConfig):
        config = structs.replace(agent, **fields)
    else:
        config = SessionConfig(agent=agent.name if isinstance(agent, Agent) else agent, **fields)
    if config.approve not in APPROVE_MODES:
        raise UsageError(
            f"approve is one of {', '.join(APPROVE_MODES)}, or a callable; not {config.approve!r}"
        )
    if config.sandbox not in SANDBOX_MODES:
        raise UsageError(f"sandbox is one of {', '.join(SANDBOX_MODES)}; not {config.sandbox!r}")
    return (agent if isinstance(agent, Agent) else _known(config.agent)), config


def _handlers(fields: dict[str, Any]) -> Handlers:
    """Those among the arguments."""
    return Handlers(
        approve=fields.pop("approve") if callable(fields.get("approve")) else None,
        answer=fields.pop("answer", None),
        serve=fields.pop("serve", None),
        timeout=fields.pop("handler_timeout", None),
    )


def _check_price(agent: Agent, config: SessionConfig) -> None:
    """A cost limit is kept by what the agent says it cost, or by the price of its model; else it cannot be kept."""
    if config.max_cost_usd is None or Capability.COST in agent.capabilities or config.allow_unknown_cost:
        return
    if prices.price_of(config.model) is None:
        raise UsageError(
            f"max_cost_usd cannot be kept: {agent.name} does not say what it costs and the price of the model "
            f"{config.model or '(its default)'} is not known; name a model whose price is, or set allow_unknown_cost"
        )


def _known(name: str) -> Agent:
    from dragoman._agents import AGENTS

    if name not in AGENTS:
        raise UsageError(f"no agent is called {name!r}; known are: {', '.join(AGENTS)}")
    return AGENTS[name]


def _dialect(agent: Agent, config: SessionConfig) -> str:
    dialect = config.dialect or agent.dialects[0]
    if dialect not in agent.dialects:
        raise UsageError(f"{agent.name} does not speak {dialect}; it speaks {', '.join(agent.dialects)}")
    return dialect


def _executable(agent: Agent, config: SessionConfig) -> str:
    """Its absolute path: a relative one would be looked for in the agent's working directory."""
    wanted = config.executable or agent.executable
    found = shutil.which(wanted, path=environment(config).get("PATH", os.defpath))
    if found is not None:
        return os.path.abspath(found)
    if os.path.dirname(wanted) and os.path.exists(wanted):
        return os.path.abspath(wanted)  # there, but not executable: starting it says so
    remedy = f"install it with `{agent.install}`" if agent.install else "install it"
    raise SpawnFailed(
        f"{agent.title} was not found: there is no program {wanted!r} on PATH; {remedy}, or say where it is "
        "with executable=...",
        agent=agent.name,
    )


def _locks(agent: Agent, config: SessionConfig, plan: LaunchPlan) -> SessionLocks:
    """A resumed session is waited for; of a copy, only the copy is ours."""
    first = plan.session if config.resume is None or config.fork else config.resume
    return SessionLocks(agent.family or agent.name, plan.cwd or os.getcwd(), first, config.timeout)


def _recorder(config: SessionConfig, plan: LaunchPlan) -> FrameSink | None:
    if config.record is None:
        return None
    from dragoman._files.recording import RecordingWriter

    writer = RecordingWriter(config.record)
    if not config.redact:
        return writer
    return RedactingSink(writer, Redactor(secrets_in(plan.env) | secrets_in(config.mcp_servers)))
