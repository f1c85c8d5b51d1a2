"""`dragoman agents`: the agents that this version knows, and what is known of them. Nothing is looked for or started."""

import click
import msgspec
from msgspec import Struct

from dragoman._agents import AGENTS
from dragoman._agents.agent import Agent


class Known(Struct, omit_defaults=True):
    """What is known of one agent."""

    agent: str
    title: str
    state: str
    """tested, starts, or not tried."""
    tested_versions: tuple[str, ...] = ()
    seen_versions: tuple[str, ...] = ()
    why: str = ""
    executable: str = ""
    fetched: bool = False
    install: str = ""
    vendor: str | None = None
    dialects: tuple[str, ...] = ()
    capabilities: list[str] = []
    native_options: dict[str, str] = {}
    project_files: dict[str, str] = {}


@click.command
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per agent and line, with all of it.")
def command(name: str | None, as_json: bool) -> None:
    """List the agents: which versions did a turn, which only started, how to install them.

    With NAME: all that is known of that one; what an ACP agent can is what the protocol has, less what it was seen to
    lack. What is on this machine, `dragoman doctor` says.
    """
    if name is not None and name not in AGENTS:
        raise click.UsageError(f"There is no agent {name!r}: `dragoman agents` lists them.")
    known = [known_of(AGENTS[each]) for each in ([name] if name is not None else AGENTS)]
    if as_json:
        for one in known:
            click.echo(msgspec.json.encode(one).decode())
    elif name is not None:
        _show_all_of(known[0])
    else:
        _show(known)


def known_of(agent: Agent) -> Known:
    return Known(
        agent=agent.name,
        title=agent.title,
        state=agent.state,
        tested_versions=agent.tested_versions,
        seen_versions=agent.seen_versions,
        why=agent.why,
        executable=agent.executable,
        fetched=agent.fetched,
        install=agent.install,
        vendor=agent.vendor,
        dialects=agent.dialects,
        capabilities=sorted(agent.capabilities),
        native_options=agent.native_options,
        project_files=dict(agent.project_files),
    )


_STYLES = {"tested": ("✓", "green"), "starts": ("!", "yellow")}


def _show(known: list[Known]) -> None:
    """Two columns and what fits behind them; the rest by name."""
    from dragoman._cli.terminal.console import Pen, console

    pen = Pen(console())
    width = max(len(one.agent) for one in known)
    for one in known:
        mark, style = _STYLES.get(one.state, ("·", "dim"))
        pen.line(
            (f"{mark} ", style), (one.agent.ljust(width), "bold"), f"  {one.title}  ", (_word(one), style)
        )
        if one.install:
            pen.line((f"    {one.install}", "dim"))


def _show_all_of(one: Known) -> None:
    from dragoman._cli.terminal.console import Pen, console

    pen = Pen(console())
    pen.line((one.agent, "bold"), f"  {one.title}")
    facts = {
        "state": _word(one),
        "speaks": ", ".join(one.dialects),
        "is": one.vendor,
        "program": f"{one.executable} (fetches it)" if one.fetched else one.executable,
        "install": one.install,
        "can": ", ".join(one.capabilities),
        "native": ", ".join(one.native_options),
        "projects": ", ".join(f"{file} ({what})" for file, what in one.project_files.items()),
    }
    for name, fact in facts.items():
        if fact:
            pen.line((f"    {name:9}", "dim"), fact)


def _word(one: Known) -> str:
    """The state, its versions, and the reason."""
    versions = ", ".join(one.tested_versions or one.seen_versions)
    return ": ".join(filter(None, (" ".join(filter(None, (one.state, versions))), one.why)))
