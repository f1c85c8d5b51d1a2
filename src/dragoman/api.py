"""Opening a session with an agent, and asking one thing of it."""

import os
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from logging import DEBUG
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, Final, Unpack

from anyio import to_thread
from msgspec import structs, to_builtins

from dragoman._agents.agent import FETCHERS, REPLAY, Agent, AnyAgent, StandIn, environment
from dragoman._agents.versions import installed_version, is_older
from dragoman._files import images, stores
from dragoman._files.recording import RecordingWriter, is_passage
from dragoman._model.capabilities import Capability
from dragoman._model.config import Approve, Options, SessionConfig, checked, configured, did_you_mean
from dragoman._model.content import ImageBlock
from dragoman._model.errors import DragomanError, SpawnFailed, Unsupported, UsageError
from dragoman._model.events import AnyEvent, FileChanged
from dragoman._model.hooks import HookHandler, checked_hooks
from dragoman._model.result import NEVER_BEGAN, Result, Verdict
from dragoman._model.sessions import LATEST, SessionInfo, may_be_an_id, newest_first
from dragoman._model.tools import Function, Tool, checked_tools
from dragoman._policy import rulebook, trust
from dragoman._policy.limits import UNKNOWN_COST_REMEDY, Limits
from dragoman._policy.policy import Policy
from dragoman._prices.spending import Cost, spent
from dragoman._runtime.connection import Connection
from dragoman._runtime.functions import Functions, check_server_names
from dragoman._runtime.host.host import OFFERS
from dragoman._runtime.locks import SessionLocks
from dragoman._runtime.log import log, logger
from dragoman._runtime.plan import LaunchPlan
from dragoman._runtime.requests import AnswerHandler, ApproveHandler, Handlers, ServeHandler
from dragoman._runtime.resuming import SessionFinder
from dragoman._runtime.run import FrameSink
from dragoman._runtime.session import Session
from dragoman._settings import own_prices
from dragoman._wire.redaction import Redactor, secrets_in

__all__ = [
    "Result",
    "archive_session",
    "ask",
    "connect",
    "delete_session",
    "list_sessions",
    "open",
    "rename_session",
]

_started = logger("dragoman.start")
_told: set[tuple[str, str]] = set()
"""The agents and folders of which it was said that they are not trusted."""


def open(
    agent: AnyAgent,
    *,
    prompt: str | None = None,
    once: bool = False,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> Session:
    """A session with an agent, to be entered with `async with`; the agent is started there.

    With `once` it ends by itself as soon as `prompt` is done (see `Session.busy`), so that `events()` and `view()` are
    the whole run, from run.started to run.ended; up to 10,000 events are kept for who begins to listen late.

    `agent` is its name (`replay:PATH` or `replay:ID` for a recording in its place), what plays one in a test (see docs/testing.md), or a
    configuration that the other arguments change. `approve` is a mode (`ask`, if absent),
    or a handler that decides what neither the rules nor the mode settle. `answer` hears questions, `serve` what the
    agent wants its client to do. A handler is a function of one argument, async or not; `handler_timeout` is how many
    seconds it may take before the answer is no. `tools` are functions that the agent may call, `hooks` functions that it
    calls at its own events, by name; see docs/tools.md. Everything else is an option: see `Options`.

    Raises UsageError, naming the option, for what cannot be; Unsupported for what this agent cannot do; SpawnFailed
    if it is not installed. Entering the session raises SpawnFailed if the agent does not start.
    """
    mode, handlers = _handlers(approve, answer, serve, tools, hooks, handler_timeout)
    given = {**_stated({"prompt": prompt, "approve": mode}), **options}
    config, connection = _config_and_connection(agent, given, handlers)
    if once and config.prompt is None:
        raise UsageError("once needs prompt: what the run shall do before it ends")
    if connection._run.plan.one_shot:
        return connection._alone(once=once)
    return connection._alone(config.prompt, _shown(config, connection), once=once)


def connect(
    agent: AnyAgent,
    *,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> Connection:
    """A process of an agent for several sessions, to be entered with `async with`; its `session()` opens them.

    The arguments are those of `open`, but for `prompt` and `resume`, which belong to a session. Raises what `open`
    raises, and Unsupported for agents that have one session per process.
    """
    mode, handlers = _handlers(approve, answer, serve, tools, hooks, handler_timeout)
    given = {**_stated({"approve": mode}), **options}
    _, connection = _config_and_connection(agent, given, handlers, opens_session=False)
    return connection


async def ask(
    agent: AnyAgent,
    prompt: str | None = None,
    *,
    check: bool = False,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Give an agent one prompt and wait for what comes of it. The arguments are those of `open`.

    Raises what `open` raises, and whatever kept the work from beginning: SessionNotFound, LoginRequired, ProtocolBroken,
    NotJson, ProcessExited. With `check` it also raises if the turn did not complete: TimedOut, LimitReached,
    PermissionDenied, else AgentFailed. The error's `result` is the Result, whose `error` has the same `kind`.
    """
    async with open(
        agent,
        prompt=prompt,
        once=True,
        approve=approve,
        answer=answer,
        serve=serve,
        tools=tools,
        hooks=hooks,
        handler_timeout=handler_timeout,
        **options,
    ) as session:
        events = [event async for event in session.events()]
    return _result(events, session, check, options.get("model"))


# --- sessions that need not be open --------------------------------------------------------------------------

USUAL: Final = ("claude", "codex", "gemini")
"""Whose sessions are listed where no agent is named."""

_WHOSE: Final = ("env", "inherit_env", "executable", "extra_args", "native")
"""The options that say which program is asked for sessions, and whose they are."""


async def list_sessions(
    agent: AnyAgent | None = None,
    *,
    archived: bool = False,
    limit: int | None = None,
    **options: Unpack[Options],
) -> list[SessionInfo]:
    """The sessions that an agent keeps, newest first: those of the folder `cwd`, or all; with `archived` those that were
    put away; no more than `limit`. Without an agent: those of Claude Code, Codex and Gemini CLI, as far as they are here;
    one that fails is warned of.

    Claude Code and Gemini CLI are not started: their files are read. Codex and agents that speak ACP are asked. The
    options are those of `open`. Raises Unsupported for an agent that does not list its sessions, and what `connect`
    raises.
    """
    limit = checked("max_turns", limit, called="limit")
    if agent is not None:
        return await _listed(agent, archived, limit, options)
    found: list[SessionInfo] = []
    for name in USUAL:
        try:
            if _is_here(_known(name), configured(name, options)):
                found += await _listed(name, archived, limit, options)
        except DragomanError as error:
            log.warning("the sessions of %s are not listed: %s", name, error.message)
    return newest_first(found)[:limit]


async def archive_session(
    agent: AnyAgent, session: str, *, archived: bool = True, **options: Unpack[Options]
) -> None:
    """Put a session of an agent away, or back with `archived` False. It is named by its id, or by the beginning of it.
    Raises Unsupported if the agent cannot do that, SessionNotFound if it has no such session."""
    async with _aside(agent, options, Capability.ARCHIVE) as connection:
        await connection.archive_session(session, archived=archived)


async def delete_session(agent: AnyAgent, session: str, **options: Unpack[Options]) -> None:
    """Delete a session of an agent for good. As `archive_session`."""
    async with _aside(agent, options, Capability.DELETE) as connection:
        await connection.delete_session(session)


async def rename_session(agent: AnyAgent, session: str, title: str, **options: Unpack[Options]) -> None:
    """Give a session of an agent a title. As `archive_session`."""
    async with _aside(agent, options, Capability.RENAME) as connection:
        await connection.rename_session(session, title)


async def _listed(
    agent: AnyAgent,
    archived: bool,
    limit: int | None,
    options: Mapping[str, Any],
    prefix: str = "",
) -> list[SessionInfo]:
    """The sessions of an agent. Of those in files that are looked into, only the ones whose ids begin with `prefix`, unless
    there are none."""
    record, config = _chosen(agent, options)
    asked = Capability.LIST_SESSIONS in record.capabilities
    if asked and (record.store is None or archived or _is_installed(record, config)):
        async with _aside(agent, options, Capability.LIST_SESSIONS) as connection:
            return await connection.list_sessions(config.cwd, archived=archived, limit=limit)
    if record.store is None:
        raise Unsupported(record.name, Capability.LIST_SESSIONS, "Look for them with the agent itself")
    if not _is_here(record, config):
        _executable(record, config)
    folders = record.session_dirs(environment(config, record.env_prefixes))
    read = partial(stores.sessions, record.name, record.store, folders, cwd=config.cwd, limit=limit)
    if archived:
        return []
    return await to_thread.run_sync(partial(read, prefix=prefix)) or await to_thread.run_sync(read)


def _is_here(agent: Agent, config: SessionConfig) -> bool:
    """Whether the agent is installed, or has left sessions here."""
    folders = agent.session_dirs(environment(config, agent.env_prefixes))
    return any(folder.is_dir() for folder in folders) or _is_installed(agent, config)


def _is_installed(agent: Agent, config: SessionConfig) -> bool:
    try:
        return bool(_executable(agent, config))
    except SpawnFailed:
        return False


@asynccontextmanager
async def _aside(agent: AnyAgent, options: Mapping[str, Any], needs: Capability) -> AsyncIterator[Connection]:
    """A process of the agent in a folder of its own, where no project takes part. Raises Unsupported, before anything
    starts, if the agent cannot do what it is started for."""
    record, _ = _chosen(agent, options)
    if needs not in record.capabilities:
        raise Unsupported(record.name, needs)
    with TemporaryDirectory(prefix="dragoman-") as folder:
        async with connect(agent, **{**options, "cwd": folder, "trusted": False}) as connection:
            yield connection


def _config_and_connection(
    agent: AnyAgent,
    options: dict[str, Any],
    handlers: Handlers,
    opens_session: bool = True,
) -> tuple[SessionConfig, Connection]:
    record, config = _record_and_config(agent, options)
    _check_price(record, config)
    functions = Functions(record.name, handlers.tools, handlers.hooks, handlers.timeout)
    if functions.tools:
        check_server_names([*config.mcp_servers, *config.native.get("sdk_mcp_servers", ())])
    asked, config = config, record.extended(config, _dialect(record, config), functions)
    plan = _planned(record, config, functions, opens_session)
    if not opens_session:
        _check_many(config, plan)
    _started.info("%s speaks %s in %s: %s", record.name, plan.dialect, plan.cwd or ".", plan.argv[0])
    if _started.isEnabledFor(DEBUG):
        words = (plan.options.redactor or Redactor()).text(shlex.join(plan.argv[1:]))
        _started.debug("arguments: %s; variables: %s", words, " ".join(sorted(plan.env)))
    connection = Connection(
        plan,
        handlers=handlers,
        functions=functions,
        policy=Policy(
            config.approve, rulebook.load(config.cwd, config.policy), plan.granted, plan.updates, plan.bounds
        ),
        limits=Limits.of(config, says_cost=Capability.COST in record.capabilities),
        recorder=_recorder(config, plan.options.redactor),
        timeout=config.timeout,
        idle_timeout=config.idle_timeout,
        start_timeout=config.start_timeout,
        locks=SessionLocks(record.vendor or record.name, config.timeout) if config.serialize else None,
        finder=SessionFinder(record.name, record.session_id, partial(_candidates, record, asked)),
        plan_for=lambda id: _planned(record, structs.replace(config, resume=id), functions, opens_session),
        shares=os.path.abspath(config.record) if config.share and config.record is not None else None,
    )
    return config, connection


def _check_many(config: SessionConfig, plan: LaunchPlan) -> None:
    """A connection has sessions, and is none."""
    if Capability.MANY_SESSIONS not in plan.capabilities:
        raise Unsupported(plan.agent, Capability.MANY_SESSIONS, "Open one process for each with open()")
    for name in ("prompt", "resume"):
        if getattr(config, name) is not None:
            raise UsageError(f"a connection has no {name}: give it to one of its sessions")


def _planned(record: Agent, config: SessionConfig, functions: Functions, opens_session: bool) -> LaunchPlan:
    executable = _executable(record, config)
    version = installed_version(executable)
    if record.oldest is not None and is_older(version, record.oldest):
        raise SpawnFailed(
            f"{record.title} {version} is too old: {record.oldest} is the oldest version that works; `{record.install}` "
            "installs the newest",
            agent=record.name,
        )
    plan = record.plan(config, executable, _dialect(record, config))
    plan.cli_version = plan.cli_version or version
    if functions.tools and Capability.MCP not in plan.capabilities:
        raise Unsupported(record.name, f"tools in {plan.dialect}", "It takes no MCP servers")
    plan.granted = [*plan.granted, *functions.granted()]
    if config.policy is not None and Capability.PERMISSIONS not in plan.capabilities:
        raise Unsupported(
            record.name, f"policy in {plan.dialect}", "It asks nobody, so no rule could be obeyed"
        )
    if config.resume_at is not None and Capability.RESUME_AT not in plan.capabilities:
        raise Unsupported(
            record.name, f"resume_at in {plan.dialect}", "It can only go on where the session ended"
        )
    plan.read_only = plan.read_only or config.sandbox == "read-only"
    plan.vendor = record.vendor
    plan.tested_versions = record.tested_versions
    plan.login = record.login
    program = os.path.basename(plan.argv[0])
    plan.fetched_by = program if program in FETCHERS else None
    plan.resume, plan.fork = config.resume, config.fork
    plan.roots = config.add_dirs
    plan.unheld = (*plan.unheld, *record.unheld)
    redactor = Redactor(secrets_in(plan.env) | secrets_in(config.mcp_servers)) if config.redact else None
    plan.options = structs.replace(
        plan.options,
        redactor=redactor,
        opens_session=opens_session,
        keeps_lines=config.keep_lines,
        offers=OFFERS if config.host else frozenset(),
        seed=token_hex(16),
    )
    return plan


async def _candidates(record: Agent, config: SessionConfig, wanted: str, cwd: str) -> list[SessionInfo]:
    """The sessions of the agent that may be meant by `wanted`, which is LATEST, the beginning of an id, or a title."""
    options = {name: getattr(config, name) for name in _WHOSE}
    if wanted == LATEST:
        return await _listed(record, False, 1, {**options, "cwd": cwd})
    return await _listed(record, False, None, options, prefix=wanted)


def _result(events: Sequence[AnyEvent], session: Session, check: bool, model: str | None) -> Result:
    verdict = Verdict(events)
    turn, run = verdict.turn, verdict.run
    assert run is not None
    cost = (
        Cost(reported=run.cost_usd)
        if run.cost_usd is not None
        else spent(events, own_prices.load().prices, model)
    )
    result = Result(
        outcome=run.outcome,
        text=turn.text if turn is not None else None,
        error=verdict.error,
        usage=run.usage,
        cost_usd=cost.reported,
        cost_estimated_usd=cost.estimated,
        unpriced_calls=cost.unpriced,
        changes=[event for event in events if isinstance(event, FileChanged) and event.phase == "applied"],
        structured_output=turn.structured_output if turn is not None else None,
        session=session.id,
        events=list(events),
    )
    raised = verdict.raised(session.agent, session._run.plan.login, result)
    if raised is not None and (check or not verdict.began or raised.kind in NEVER_BEGAN):
        raise raised
    return result


# --- what was asked for, made exact --------------------------------------------------------------------------


def _stated(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that were given; None stands for the configuration's own."""
    return {name: value for name, value in options.items() if value is not None}


def _handlers(
    approve: Approve | ApproveHandler | None,
    answer: AnswerHandler | None,
    serve: ServeHandler | None,
    tools: Sequence[Function | Tool] | None,
    hooks: Mapping[str, HookHandler] | None,
    timeout: float | None,
) -> tuple[Approve | None, Handlers]:
    """The approve mode, if that is what was given, and who is asked. Raises UsageError for what cannot be called."""
    for name, handler in (("answer", answer), ("serve", serve)):
        if handler is not None and not callable(handler):
            raise UsageError(f"{name} must be a function of one argument; not {handler!r:.60}")
    timeout = checked("timeout", timeout, called="handler_timeout")
    asked = Handlers(
        approve=approve if callable(approve) else None,
        answer=answer,
        serve=serve,
        tools=checked_tools(tools),
        hooks=checked_hooks(hooks),
        timeout=timeout,
    )
    return None if callable(approve) else approve, asked


def _record_and_config(agent: AnyAgent, options: dict[str, Any]) -> tuple[Agent, SessionConfig]:
    """The record of the agent and the checked configuration. Nothing was started yet."""
    record, config = _chosen(agent, options)
    _check_places(config)
    folders = [os.path.abspath(folder) for folder in config.add_dirs]
    shown = [os.path.abspath(file) for file in config.images]
    return record, structs.replace(config, trusted=_trusted(record, config), add_dirs=folders, images=shown)


def _recording(name: str) -> Path | bytes:
    """The recording that is meant by `replay:…`: a file, or the session of the library whose id begins so. Raises
    SessionNotFound."""
    path = Path(name).expanduser()
    if path.exists() or not may_be_an_id(name):
        return path
    from dragoman._library.library import Library

    with Library() as library:
        return b"".join(library.recorded(library.session(name)).lines)


def _chosen(agent: AnyAgent, options: Mapping[str, Any]) -> tuple[Agent, SessionConfig]:
    """Which agent is meant, and what is asked of it. Raises UsageError for what cannot be."""
    if isinstance(agent, SessionConfig) and agent.agent.startswith(REPLAY):
        said = to_builtins(agent)  # without what is as ever
        agent, options = str(said.pop("agent")), {**said, **options}
    if isinstance(agent, str) and agent.startswith(REPLAY):
        from dragoman._agents import replay  # few need it

        agent = replay.Replayed(_recording(agent.removeprefix(REPLAY)))
    if isinstance(agent, StandIn):
        return agent.record, configured(agent.record.name, {**agent.options, **options})
    if isinstance(agent, Agent):
        return agent, configured(agent.name, options)
    config = configured(agent, options)
    return _known(config.agent), config


def _trusted(agent: Agent, config: SessionConfig) -> bool:
    """Whether what the project brings may take part; if not, that is said once for each folder. Raises UsageError if the
    agent cannot be kept from running it."""
    folder = config.cwd or os.getcwd()
    if config.trusted or (config.trusted is None and trust.is_trusted(folder)):
        return True
    brought = trust.brought(folder, agent.project_files)
    what = ", ".join(f"{agent.project_files[name]} ({name})" for name in brought)
    if any(name in agent.unheld for name in brought):
        raise UsageError(
            f"{folder} is not trusted, and {agent.name} cannot be kept from its {what}; trust it with `dragoman trust`, "
            "or let it work in another folder"
        )
    if brought and config.trusted is None and (agent.name, folder) not in _told:
        _told.add((agent.name, folder))
        log.warning(
            "%s is not trusted: %s goes on without its %s; `dragoman trust` changes that",
            folder,
            agent.name,
            what,
        )
    return False


def _check_places(config: SessionConfig) -> None:
    """Paths that must lead somewhere. Those of `policy` and `executable` are tried where they are read."""
    if config.cwd is not None and not os.path.isdir(config.cwd):
        raise UsageError(f"cwd must be a folder that is there; not {config.cwd!r}")
    for folder in config.add_dirs:
        if not os.path.isdir(folder):
            raise UsageError(f"add_dirs must be folders that are there; not {folder!r}")
    if config.record is not None:
        folder = os.path.dirname(os.path.abspath(config.record))
        if not os.path.isdir(folder) or os.path.isdir(config.record):
            raise UsageError(f"record must be a file in a folder that is there; not {config.record!r}")
        if os.path.lexists(config.record) and not config.overwrite and not is_passage(config.record):
            raise UsageError(
                f"record would replace {config.record!r}, which is there: name another file, or set overwrite "
                "(--overwrite)"
            )


def _shown(config: SessionConfig, connection: Connection) -> list[ImageBlock]:
    """The images that go with the first prompt."""
    if config.images and Capability.IMAGES not in connection.capabilities:
        raise Unsupported(config.agent, Capability.IMAGES)
    return images.blocks(config.images)


def _check_price(agent: Agent, config: SessionConfig) -> None:
    """A cost limit is kept by what the agent says it cost, or by the price of its model. That of a model which only the
    agent knows is looked up when it is told: see Limits.every_cost."""
    if config.max_cost_usd is None:
        return
    own = own_prices.load()
    if own.wrong is not None:
        log.warning("%s", own.wrong)
    if Capability.COST in agent.capabilities or config.allow_unknown_cost or config.model is None:
        return
    if not own.prices.knows(config.model):
        raise UsageError(
            f"max_cost_usd cannot be kept: {agent.name} does not say what it costs and the price of the model "
            f"{config.model} is not known; {UNKNOWN_COST_REMEDY}"
        )


def _known(name: str) -> Agent:
    from dragoman._agents import AGENTS

    if name not in AGENTS:
        raise UsageError(f"no agent is called {name!r}{did_you_mean(name, AGENTS)}")
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


def _recorder(config: SessionConfig, redactor: Redactor | None) -> FrameSink | None:
    if config.record is None:
        return None
    return RecordingWriter(config.record, redactor, overwrite=config.overwrite)
