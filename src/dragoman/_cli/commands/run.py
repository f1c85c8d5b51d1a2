"""`dragoman run`: an agent on a prompt, watched live."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.agent_options import EXTRA, WithExtraArgs, pairs, value_of
from dragoman._cli.terminal.beside import Beside, beside
from dragoman._cli.terminal.chosen import settings
from dragoman._cli.terminal.handing_over import handed_over
from dragoman._cli.terminal.keeping import kept
from dragoman._cli.terminal.piped import prompt_of
from dragoman._cli.terminal.view_options import Viewer, extended_option, profile_option
from dragoman._cli.terminal.visible import visible
from dragoman._model.config import APPROVE_MODES, SANDBOX_MODES, SessionConfig
from dragoman._model.events import Event
from dragoman._model.sessions import LATEST
from dragoman._projections.published import VIEWS, Profile
from dragoman._reports.handover import BUDGET, LEAST
from dragoman._settings.settings import Settings


def _json_object(ctx: click.Context, param: click.Parameter, file: str | None) -> dict[str, Any] | None:
    if file is None:
        return None
    try:
        value = json.loads(Path(file).read_bytes())
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(value, dict):
        raise click.BadParameter(f"{file} holds no JSON object")
    return value


FILE = click.Path(dir_okay=False)
Show = Callable[[Event], None]
Tell = Callable[[str], None]


@click.command(cls=WithExtraArgs)
@click.argument("agent", required=False)
@click.argument("prompt", required=False)
@click.option("--cwd", type=click.Path(file_okay=False), help="Where it works; here, if not given.")
@click.option(
    "--add-dir",
    "add_dirs",
    multiple=True,
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="One more folder of the session. Repeatable.",
)
@click.option("--model", help="Which model it shall use.")
@click.option(
    "--approve", type=click.Choice(APPROVE_MODES), help="What is asked before it is done; ask, if not set."
)
@click.option(
    "--policy", type=FILE, metavar="FILE", help="Rules that come before your own and the project's."
)
@click.option(
    "--sandbox",
    type=click.Choice(SANDBOX_MODES),
    default="none",
    help="What the agent's sandbox lets it touch.",
)
@click.option(
    "--allow-tool", "allowed_tools", multiple=True, metavar="TOOL", help="Allow without asking. Repeatable."
)
@click.option("--block-tool", "blocked_tools", multiple=True, metavar="TOOL", help="Never allow. Repeatable.")
@click.option("--max-turns", type=click.IntRange(min=1), help="How often the model may answer.")
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="What it may cost.",
)
@click.option(
    "--allow-unknown-cost",
    is_flag=True,
    help="With --max-cost: go on where nobody knows what the model costs.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="How many tokens it may use.")
@click.option("--max-tool-calls", type=click.IntRange(min=0), help="How many tools it may call.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For the whole run."
)
@click.option(
    "--start-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For its first answer; 60, and 300 if npx or uvx fetches it.",
)
@click.option(
    "--idle-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For its silence while it works.",
)
@click.option(
    "--resume", metavar="SESSION", help="Go on with a session: its id, the beginning of that, or its title."
)
@click.option("--continue", "goes_on", is_flag=True, help="Go on with the last session of the folder.")
@click.option(
    "--resume-at",
    metavar="TURN",
    help="With --resume: after this turn, by its resume_at; the rest is forgotten.",
)
@click.option("--fork", is_flag=True, help="With --resume or --continue: in a copy of it.")
@click.option(
    "--mcp-config",
    type=FILE,
    callback=_json_object,
    metavar="FILE",
    help='MCP servers, as JSON: {"mcpServers": {...}}.',
)
@click.option(
    "--output-schema",
    type=FILE,
    callback=_json_object,
    metavar="FILE",
    help="JSON Schema of the final answer.",
)
@click.option(
    "--image",
    "images",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Show it an image. Repeatable.",
)
@click.option(
    "--record", type=FILE, metavar="FILE", help="Keep the traffic in this file as well as in the library."
)
@click.option("--no-record", is_flag=True, help="Keep nothing of it.")
@click.option(
    "--from",
    "taken_over",
    metavar="ID",
    help="Tell it first what was done in this session of the library, whichever agent's that is.",
)
@click.option(
    "--from-tokens",
    type=click.IntRange(min=LEAST),
    default=BUDGET,
    show_default=True,
    metavar="N",
    help="With --from: how much may be told.",
)
@click.option("--overwrite", is_flag=True, help="With --record: replace FILE if it is there.")
@click.option("--redact/--no-redact", default=True, help="Keep keys and tokens out of the recording.")
@click.option("--dialect", help="Which of its languages it shall speak.")
@click.option("--executable", metavar="PATH", help="The program, if not the agent's own on PATH.")
@click.option(
    "--env", multiple=True, callback=pairs, metavar="KEY=VALUE", help="Set for the agent. Repeatable."
)
@click.option("--clean-env", is_flag=True, help="The agent sees what --env sets and nothing else.")
@click.option("--all-env", is_flag=True, help="The agent sees all variables, not only what is meant for it.")
@click.option(
    "--option",
    "native",
    multiple=True,
    callback=pairs,
    metavar="KEY=VALUE",
    help="An option only this agent has; VALUE is JSON or text. Repeatable.",
)
@click.option("--web", is_flag=True, help="Show it in a browser too, where it can be answered.")
@click.option("--json", "as_json", is_flag=True, help="Canonical JSONL instead of text.")
@click.option(
    "--native", "keep_lines", is_flag=True, help="With --json: have events carry the agent's exact lines."
)
@click.option(
    "--view", type=click.Choice(list(VIEWS)), help="JSONL in the model that another program speaks."
)
@profile_option
@extended_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    agent: str | None,
    prompt: str | None,
    mcp_config: dict[str, Any] | None,
    native: dict[str, str],
    clean_env: bool,
    all_env: bool,
    goes_on: bool,
    web: bool,
    as_json: bool,
    view: str | None,
    profile: Profile | None,
    extended: bool,
    no_record: bool,
    taken_over: str | None,
    from_tokens: int,
    **fields: Any,
) -> None:
    """Run AGENT on PROMPT and show what it does, as it does it.

    AGENT, --model and --approve are as the settings say, where they are not given (dragoman config). A PROMPT that stands
    alone is one if there is a blank in it: a single word is an agent.

    PROMPT is read from stdin if it is "-", or if there is none and stdin is a pipe; what is piped in beside a PROMPT goes
    with it. Permissions are asked for at the keyboard; where there is no terminal, or with --json or --view, they are
    denied. Ctrl-C interrupts the turn and, if that takes more than ten seconds, stops the agent; SIGTERM and SIGHUP stop
    it in good order; a second signal stops it at once.

    The run is kept in the library (`dragoman show`), without keys and tokens, unless --no-record or the setting `record`
    says otherwise. With --web it is shown on a page as well, where permissions and questions can be answered too; closing the
    page changes nothing.

    \b
    Exits 0 completed, 1 failed, 2 wrong usage, 3 agent not found or not started,
    4 ended by a denial, 5 limit reached, 74 output cannot be written,
    77 not logged in, 124 timeout, 130 interrupted (143 SIGTERM, 129 SIGHUP).
    """
    if goes_on and fields["resume"] is not None:
        raise click.UsageError("--continue and --resume exclude each other.")
    fields["resume"] = LATEST if goes_on else fields["resume"]
    chosen = settings()
    agent, prompt = _agent_and_prompt(agent, prompt, chosen)
    for key in ("model", "approve"):
        fields[key] = fields[key] if fields[key] is not None else chosen.of(key, agent)
    if no_record and fields["record"] is not None:
        raise click.UsageError("--record and --no-record exclude each other.")
    given: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}
    said = prompt_of(prompt, agent)
    if taken_over is not None:
        said = handed_over(taken_over, said, from_tokens, asks=not as_json and view is None)
    config = SessionConfig(
        agent=agent,
        prompt=said,
        mcp_servers=_servers(mcp_config),
        native={key: value_of(text) for key, text in native.items()},
        inherit_env="known" if clean_env == all_env else all_env,
        extra_args=ctx.meta.get(EXTRA, []),
        **given,
    )
    if clean_env and all_env:
        raise click.UsageError("--clean-env and --all-env exclude each other.")
    if view is not None and as_json:
        raise click.UsageError("--json and --view exclude each other.")
    viewer = Viewer(view, profile=profile or "live", extended=extended) if view is not None else None
    with (
        kept(config, chosen["record"] and not no_record, quiet=as_json or view is not None) as config,
        beside(config, web) as page,
    ):
        status = drive(config, as_json=as_json, viewer=viewer, page=page)
    ctx.exit(status)


def _agent_and_prompt(agent: str | None, prompt: str | None, chosen: Settings) -> tuple[str, str | None]:
    """With the agent of the settings where none is named."""
    usual = chosen["agent"]
    if prompt is None and agent is not None and len(agent.split()) > 1 and usual is not None:
        return usual, agent
    if agent is None and usual is None:
        raise click.UsageError(
            "Missing argument 'AGENT'. Name one, or set `agent` in config.toml (dragoman config)."
        )
    return agent or usual, prompt


def drive(
    config: SessionConfig, *, as_json: bool, viewer: Viewer | None = None, page: Beside | None = None
) -> int:
    """Run it, shown or as JSON, and on a page as well; the exit status."""
    from dragoman._cli.terminal.live_run import LiveRun, interactive, nobody
    from dragoman._runtime.desk import left_to_others

    def seen(show: Show, tell: Tell = telling.tell) -> Show:
        """What gets every event, where the page has to be told of too."""
        if page is None:
            return show

        def see(event: Event) -> None:
            page.see(event, tell)
            show(event)

        return see

    alone: dict[str, Any] = (
        {"approve": nobody} if page is None else dict.fromkeys(("approve", "answer"), left_to_others)
    )
    if viewer is not None:
        status = LiveRun(config, seen(lambda event: _write(viewer.see(event))), **alone).run()
        _write(viewer.end())
        return status
    if as_json:
        return LiveRun(config, seen(_write_event), **alone).run()

    from dragoman._cli.terminal.console import console
    from dragoman._cli.terminal.keyboard import Keyboard
    from dragoman._cli.terminal.renderer import Renderer
    from dragoman._cli.terminal.request_queue import RequestQueue

    renderer = Renderer(console(), model=config.model)
    try:
        if interactive():
            config = _with_trust(config)
            keyboard = Keyboard(renderer)
            queue = RequestQueue(renderer.show, keyboard.permission, keyboard.question)
            run = LiveRun(
                config,
                seen(queue.see, renderer.remark),
                approve=queue.approve,
                answer=queue.answer,
                tell=renderer.remark,
            )
            keyboard.capabilities = run.capabilities
            return run.run()
        return LiveRun(config, seen(renderer.show, renderer.remark), **alone).run()
    finally:
        renderer.close()


def _with_trust(config: SessionConfig) -> SessionConfig:
    """With the answer of the person at the keyboard, where a project brings something that runs and is not trusted."""
    from dragoman._agents import AGENTS
    from dragoman._policy import trust

    folder = config.cwd or "."
    if config.trusted is not None or config.agent not in AGENTS or not os.path.isdir(folder):
        return config
    agent, project = AGENTS[config.agent], trust.project_of(folder)
    brought = trust.brought(folder, agent.project_files)
    if not brought or trust.is_trusted(folder):
        return config
    what = ", ".join(f"{agent.project_files[name]} ({name})" for name in brought)
    click.echo(f"This project brings {what}. {agent.title} would run them.")
    otherwise = "do not start" if set(brought) & set(agent.unheld) else "go on without them"
    if click.confirm(f"Trust {visible(project)} from now on? n = {otherwise}", default=False):
        trust.add(project)
        return structs.replace(config, trusted=True)
    return structs.replace(config, trusted=False)


def _write_event(event: Any) -> None:
    from dragoman._wire.event_json import encode

    _write((encode(event) + b"\n",))


def _write(lines: Iterable[bytes]) -> None:
    for line in lines:
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _servers(config: dict[str, Any] | None) -> dict[str, Any]:
    """The servers in a file as agents keep them, with or without the key around them."""
    servers = config.get("mcpServers", config) if config is not None else {}
    if not isinstance(servers, dict):
        raise click.UsageError('--mcp-config: "mcpServers" is no JSON object.')
    return servers
