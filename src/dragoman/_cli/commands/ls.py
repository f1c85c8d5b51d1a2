"""`dragoman ls`: the sessions of all agents in the library, or those that one agent lists itself, to go on with."""

import os
from datetime import UTC, datetime
from typing import Any, Final

import anyio
import click
import msgspec

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.agent_options import WithExtraArgs, agent_options, chosen_options
from dragoman._cli.terminal.amounts import cost_of, counted, dollars
from dragoman._cli.terminal.columns import Column, table
from dragoman._cli.terminal.formatting import ago, plural, short_path
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.session_filters import session_filters
from dragoman._library import sessions as stored
from dragoman._library.library import Library
from dragoman._library.sessions import SHORT, Filter, StoredSession, at
from dragoman._library.usage import Sums, of_sessions
from dragoman._model.errors import UsageError
from dragoman._model.sessions import SessionInfo
from dragoman._settings import own_prices

SHOWN: Final = 20
"""How many sessions are shown if not all are asked for."""
SUBJECT: Final = 100
"""Characters that are shown of a title or prompt."""


@click.command(cls=WithExtraArgs)
@click.argument("agent", required=False)
@click.option("--cwd", type=click.Path(), metavar="DIR", help="As --folder.")
@click.option("-a", "--all", "everything", is_flag=True, help="All folders, and all that there are.")
@click.option("--subagents", is_flag=True, help="Also those that work for another.")
@click.option("--text", metavar="TEXT", help="Only those whose title or first prompt has this in it.")
@click.option(
    "--archived", is_flag=True, help="With AGENT: those that were put away, in place of the others."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per session and line.")
@session_filters
@library_option
@agent_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    agent: str | None,
    cwd: str | None,
    everything: bool,
    subagents: bool,
    text: str | None,
    archived: bool,
    as_json: bool,
    wanted: Filter,
    library: str | None,
    **given: Any,
) -> None:
    """List the sessions of all agents, newest first: those of this folder, or of all with -a. `show`, `export` and `replay`
    take the beginning of an ID.

    With AGENT: those that the agent itself lists now, with the ids that `run --resume` takes. The files of Claude Code and
    Gemini CLI are read; Codex and agents that speak ACP are asked.
    """
    if agent is not None:
        _show_live(
            agent, archived, everything, as_json, {**chosen_options(ctx, given), "cwd": cwd or wanted.folder}
        )
        return
    if archived:
        raise UsageError("--archived needs an AGENT: only an agent puts its sessions away")
    folder = os.path.abspath(cwd) if cwd is not None else wanted.folder
    wanted = msgspec.structs.replace(wanted, folder=folder, subagents=subagents, text=text)
    with opened_library(library) as kept:
        _show_stored(kept, wanted, everything, as_json)


# --- the library -----------------------------------------------------------------------------------------


def _show_stored(kept: Library, wanted: Filter, everything: bool, as_json: bool) -> None:
    """Those of this folder, if there are any and no other is asked for."""
    here = _here()
    if not everything and wanted.folder is None and here is not None:
        nearer = msgspec.structs.replace(wanted, folder=here)
        wanted = nearer if stored.counted(kept.db, nearer) else wanted
    found = kept.sessions(wanted, None if everything else SHOWN)
    own = own_prices.load()
    if own.wrong is not None:
        telling.tell(own.wrong)
    sums = of_sessions(kept.db, [session.id for session in found], own.prices)
    if as_json:
        for session in found:
            row = msgspec.to_builtins(session) | {"usage": msgspec.to_builtins(sums[session.id])}
            click.echo(msgspec.json.encode(row))
    elif found:
        _table(found, sums)
        _foot(kept, wanted, found, sums)
    else:
        telling.tell("there are no sessions")


def _here() -> str | None:
    """The folder that we stand in, if it is still there."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _table(found: list[StoredSession], sums: dict[str, Sums]) -> None:
    from dragoman._cli.terminal.console import Pen, console

    now = datetime.now(UTC)
    columns = [
        Column("ID", style="bold"),
        Column("WHEN", style="dim"),
        Column("AGENT", style="cyan"),
        Column("FOLDER", goes=3, widest=24, style="dim"),
        Column("TURNS", goes=2, right=True),
        Column("CHANGED", goes=4),
        Column("TOKENS", goes=1, right=True),
        Column("COST", goes=6, right=True),
        Column("ENDED", goes=5),
        Column("ABOUT", fills=True),
    ]
    rows = [
        (
            session.id[:SHORT] + ("*" if session.pinned else ""),
            ago(at(session.updated), now).removesuffix(" ago"),
            session.agent,
            os.path.basename(session.cwd or "") or "–",
            session.turns,
            f"+{session.added} −{session.removed}" if session.files else "–",
            counted(sums[session.id].input_tokens + sums[session.id].output_tokens),
            _cost(sums[session.id]),
            ("gone, " if session.gone else "") + (session.outcome or "–"),
            " ".join((session.name or session.title or session.prompt or "(nothing was said)").split())[
                :SUBJECT
            ],
        )
        for session in found
    ]
    table(Pen(console()), columns, rows)


def _cost(sums: Sums) -> str:
    return cost_of(sums.cost_usd, sums.cost_estimated_usd, sums.unpriced_calls, sums.calls)


def _foot(kept: Library, wanted: Filter, found: list[StoredSession], sums: dict[str, Sums]) -> None:
    """How many there are, and what those that are shown came to."""
    from dragoman._cli.terminal.console import Pen, console

    number, of = stored.counted(kept.db, wanted), stored.counted(kept.db, Filter())
    shown = [sums[session.id] for session in found]
    tokens = sum(each.input_tokens + each.output_tokens for each in shown)
    cost = sum((each.cost_usd or 0.0) + (each.cost_estimated_usd or 0.0) for each in shown)
    unknown = sum(1 for each in shown if each.unpriced_calls)
    where = " here" if wanted.folder is not None and wanted.folder == _here() else ""
    parts = [
        f"{len(found)} of {number:,}{where}"
        if len(found) < number
        else f"{plural(number, 'session')}{where}",
        f"{of:,} in all (-a)" if of > number else "",
        f"{counted(tokens)} tokens",
        f"{dollars(cost)} known" + (f", {plural(unknown, 'session')} of unknown price" if unknown else ""),
    ]
    Pen(console()).line((" · ".join(filter(None, parts)), "dim"))


# --- an agent's own list ---------------------------------------------------------------------------------


def _show_live(agent: str, archived: bool, everything: bool, as_json: bool, options: dict[str, Any]) -> None:
    limit = None if everything else SHOWN + 1
    with telling.told(telling.tell):
        sessions = anyio.run(_list, agent, archived, limit, options)
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


async def _list(agent: str, archived: bool, limit: int | None, options: dict[str, Any]) -> list[SessionInfo]:
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
