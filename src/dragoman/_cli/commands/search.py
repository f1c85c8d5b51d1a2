"""`dragoman search`: where something was said, in all sessions of the library."""

from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

import click
import msgspec
from msgspec.structs import asdict, replace

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.console import Part, Pen, console
from dragoman._cli.terminal.formatting import ago, plural, short_path
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.session_filters import session_filters
from dragoman._library.query import Search
from dragoman._library.searching import Answer, Hit, search
from dragoman._library.sessions import SHORT, Filter, StoredSession, at
from dragoman._library.snippets import Snippet, narrowed
from dragoman._library.tokens import ROLES
from dragoman._model.errors import UsageError

SHOWN: Final = 20
"""Places that are shown if no other number is asked for."""
EACH: Final = 3
"""Of these, how many of one session, so that others are seen too."""
MARKED: Final = "bold yellow"
NARROWEST: Final = 20
"""Characters that a line always has."""


@click.command
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(ROLES), help="Only what these said. Repeatable."
)
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", help="Only what this tool was given or gave; * is any."
)
@click.option(
    "--path",
    metavar="PATH",
    help="Only what was done with files whose path has this in it, or is like src/*.py.",
)
@click.option("--session", metavar="ID", help="Only in this session, and all of its places.")
@session_filters
@click.option("--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, help="Places at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per place and line.")
@library_option
def command(
    query: tuple[str, ...],
    roles: tuple[str, ...],
    tools: tuple[str, ...],
    path: str | None,
    session: str | None,
    wanted: Filter,
    limit: int,
    as_json: bool,
    library: str | None,
) -> None:
    """Find where all words of QUERY stand together, newest sessions first.

    parse_message means these words one after the other, however they are written: parseMessage, parse message. So does
    '"a phrase in quotes"'. val* and *alue* are parts of words. Case and accents do not matter.
    """
    with opened_library(library) as kept:
        one = kept.session(session).id if session is not None else None
        answer = search(
            kept.db,
            Search(
                text=" ".join(query), roles=roles, tools=tools, path=path, session=one,
                among=replace(wanted, subagents=True), limit=limit, each=EACH if one is None else None,
            ),
        )  # fmt: skip
    if answer.problem is not None and not answer.hits:
        raise UsageError(answer.problem)
    if as_json:
        for hit in answer.hits:
            click.echo(msgspec.json.encode(_told(hit, answer.sessions[hit.session])).decode())
    else:
        _show(answer)
    _tell(answer)


def _told(hit: Hit, session: StoredSession) -> dict[str, Any]:
    """A hit as JSON: with what its session is, and its time as people write it."""
    facts = {name: getattr(session, name) for name in ("agent", "native_id", "title", "name", "cwd")}
    return {**asdict(hit), "at": at(hit.at), **facts}


def _show(answer: Answer) -> None:
    """For each session what it is about; then its places: its id, turn, who, and the line."""
    pen, now = Pen(console()), datetime.now(UTC)
    width = max((len(_who(hit)) for hit in answer.hits), default=0)
    turns = max((len(str(hit.turn)) for hit in answer.hits), default=0)
    for id, hits in groupby(answer.hits, lambda hit: hit.session):
        pen.line(*_head(answer.sessions[id], now))
        for hit in hits:
            before = f"  {id[:SHORT]}  turn {hit.turn:<{turns}}  {_who(hit):<{width}}  "
            room = max(pen.console.width - len(before), NARROWEST)
            line = narrowed(hit.snippet, room) if pen.console.is_terminal else hit.snippet
            pen.line((before, "dim"), *_marked(line))


def _head(session: StoredSession, now: datetime) -> list[Part]:
    about = " ".join((session.name or session.title or session.prompt or "(nothing was said)").split())
    facts = (session.agent, session.cwd and short_path(session.cwd), ago(at(session.updated), now))
    return [(narrowed(Snippet(about, []), 60).text, "bold"), ("  " + "  ".join(filter(None, facts)), "cyan")]


def _who(hit: Hit) -> str:
    return f"{hit.tool} {hit.role}" if hit.tool is not None else hit.role


def _marked(line: Snippet) -> list[Part]:
    parts: list[Part] = []
    end = 0
    for first, last in line.marks:
        parts += [line.text[end:first], (line.text[first:last], MARKED)]
        end = last
    return [*parts, line.text[end:]]


def _tell(answer: Answer) -> None:
    if not answer.hits:
        telling.tell("it was not found")
        return
    first = answer.hits[0]
    sessions = f"{'at least ' if answer.at_least else ''}{plural(answer.count, 'session')}"
    more = "; --limit and --session show more" if answer.more is not None else ""
    telling.tell(
        f"it is in {sessions}{more}; `dragoman show {first.session[:SHORT]} --turn {first.turn}` shows the first"
    )
    if answer.problem is not None:
        telling.tell(answer.problem)
