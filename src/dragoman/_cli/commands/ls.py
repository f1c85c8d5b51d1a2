"""`dragoman ls`: the sessions that agents keep, to go on with."""

from datetime import UTC, datetime
from typing import Any, Final

import anyio
import click
import msgspec

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.agent_options import WithExtraArgs, agent_options, chosen_options
from dragoman._cli.terminal.formatting import ago, short_path
from dragoman._model.sessions import SessionInfo

SHOWN: Final = 20
"""How many sessions are shown if not all are asked for."""
SUBJECT: Final = 100
"""Characters that are shown of a title or prompt."""


@click.command(cls=WithExtraArgs)
@click.argument("agent", required=False)
@click.option("--cwd", type=click.Path(), metavar="DIR", help="Only those of this folder.")
@click.option("--all", "everything", is_flag=True, help=f"All of them, not only the {SHOWN} newest.")
@click.option("--archived", is_flag=True, help="Those that were put away, in place of the others.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per session and line.")
@agent_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    agent: str | None,
    cwd: str | None,
    everything: bool,
    archived: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """List the sessions of AGENT, newest first: their ids are what `run --resume` takes.

    Without AGENT: those of Claude Code, Codex and Gemini CLI. The files of Claude Code and Gemini CLI are read; Codex
    and agents that speak ACP are asked.
    """
    limit = None if everything else SHOWN + 1
    with telling.told(telling.tell):
        sessions = anyio.run(_list, agent, archived, limit, {**chosen_options(ctx, given), "cwd": cwd})
    more = not everything and len(sessions) > SHOWN
    shown = sessions[:SHOWN] if more else sessions
    if as_json:
        for info in shown:
            click.echo(msgspec.json.encode(info).decode())
    else:
        _show(shown)
    if more:
        telling.tell(f"these are the {SHOWN} newest; --all shows all")
    if not sessions:
        telling.tell("there are no sessions")


async def _list(
    agent: str | None, archived: bool, limit: int | None, options: dict[str, Any]
) -> list[SessionInfo]:
    from dragoman.api import list_sessions

    return await list_sessions(agent, archived=archived, limit=limit, **options)


def _show(sessions: list[SessionInfo]) -> None:
    """Two lines for each: when, whose, its id and its folder in columns; then what it is about."""
    from dragoman._cli.terminal.console import Pen, console

    pen, now = Pen(console()), datetime.now(UTC)
    rows = [(ago(info.updated, now), info.agent, info.id) for info in sessions]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for info, row in zip(sessions, rows, strict=True):
        when, agent, id = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        folder = short_path(info.cwd) if info.cwd is not None else ""
        pen.line((when, "dim"), "  ", (agent, "cyan"), "  ", (id, "bold"), "  ", (folder, "dim"))
        about = " ".join((info.title or info.prompt or "").split())
        pen.line(
            f"  {about[:SUBJECT]}{'…' if len(about) > SUBJECT else ''}" if about else "  (nothing was said)"
        )
