"""`dragoman show`: a session of the library, as `run` drew it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from io import StringIO

import click
from rich.console import Console

from dragoman._cli.terminal.console import Pen, console
from dragoman._cli.terminal.formatting import plural, short_path
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.renderer import Renderer
from dragoman._cli.terminal.tool_preview import diff_lines
from dragoman._library.library import Library
from dragoman._library.sessions import SHORT, StoredSession, at
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._reports.changes import changes
from dragoman._wire.event_json import encode

Drawn = Iterator[None]
"""Each step has written a little."""


@click.command
@click.argument("id")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only its Nth turn.")
@click.option("--diff", "what", flag_value="diff", help="Only what it changed in files.")
@click.option("--tools", "what", flag_value="tools", help="Only the tools it called.")
@click.option("--permissions", "what", flag_value="permissions", help="Only who allowed what.")
@click.option("--raw", "what", flag_value="raw", help="The bytes that its agent wrote, exactly.")
@click.option("--json", "what", flag_value="json", help="Canonical JSONL.")
@click.option("--pager/--no-pager", default=None, help="Through $PAGER; so on a terminal.")
@library_option
def command(id: str, turn: int | None, what: str | None, pager: bool | None, library: str | None) -> None:
    """Show the session whose id begins with ID, or that was given this name."""
    with opened_library(library) as kept:
        session = kept.session(id)
        if what == "raw":
            _write_raw(kept, session)
            return
        events: Iterable[Event] = kept.events(session)
        if turn is not None:
            events = (event for event in events if event.turn == turn)
        if what == "json":
            for event in events:
                sys.stdout.buffer.write(encode(event) + b"\n")
            return
        draw = _WAYS[what or ""]
        paged = sys.stdout.isatty() if pager is None else pager
        if not paged:
            for _ in draw(console(), session, events):
                pass
        else:
            click.echo_via_pager(_pages(draw, session, events))


def _write_raw(kept: Library, session: StoredSession) -> None:
    for file in kept.files(session):
        for piece in file.content(kept.db):
            sys.stdout.buffer.write(piece)


def _pages(
    draw: Callable[[Console, StoredSession, Iterable[Event]], Drawn],
    session: StoredSession,
    events: Iterable[Event],
) -> Iterator[str]:
    """What is drawn, a little at a time: a pager shows the first screen while the rest is still being made."""
    screen = console()
    page = StringIO()
    paper = Console(
        file=page, width=screen.width, force_terminal=screen.is_terminal, no_color=screen.no_color,
        color_system="auto" if screen.is_terminal else None, highlight=False, markup=False, emoji=False, soft_wrap=True,
    )  # fmt: skip
    for _ in draw(paper, session, events):
        if page.tell():
            yield page.getvalue()
            page.seek(0)
            page.truncate()
    yield page.getvalue()


# --- ways of showing it ----------------------------------------------------------------------------------


def _whole(paper: Console, session: StoredSession, events: Iterable[Event]) -> Drawn:
    _head(Pen(paper), session)
    yield
    renderer = Renderer(paper, settled=True)
    for event in events:
        renderer.show(event)
        yield
    renderer.close()


def _head(pen: Pen, session: StoredSession) -> None:
    """What it is, when, where, and how to go on with it."""
    pen.line((session.name or session.title or session.prompt or "(nothing was said)", "bold"))
    when = at(session.created)
    facts = [
        session.id[:SHORT],
        " ".join(filter(None, (session.agent, session.cli_version))),
        session.model,
        session.cwd and short_path(session.cwd),
        f"{when:%Y-%m-%d %H:%M}" if when is not None else None,
        plural(session.turns, "turn"),
        "deleted by its agent, kept here" if session.gone else None,
    ]
    pen.block(" · ".join(filter(None, facts)), "dim")
    pen.line((f"go on with it: dragoman run {session.agent} --resume {session.native_id}", "dim"))


def _diff(paper: Console, session: StoredSession, events: Iterable[Event]) -> Drawn:
    pen = Pen(paper)
    found = [file for file in changes(events) if file.change != "none"]
    for file in found:
        moved = f"{file.moved_from} → " if file.moved_from else ""
        pen.line((f"{file.change} {moved}{file.path}", "bold"))
        for step in file.steps:
            for line in diff_lines(step.diff or ""):
                pen.whole(line)
        pen.gap()
        yield
    if not found:
        pen.line("it changed no file")
    yield


def _tools(paper: Console, session: StoredSession, events: Iterable[Event]) -> Drawn:
    yield from _only(
        paper, events, (ev.ToolStarted, ev.ToolUpdated, ev.ToolEnded, ev.FileChanged), "it called no tool"
    )


def _permissions(paper: Console, session: StoredSession, events: Iterable[Event]) -> Drawn:
    yield from _only(paper, events, (ev.PermissionRequested, ev.PermissionResolved), "nothing was asked")


def _only(paper: Console, events: Iterable[Event], kinds: tuple[type[Event], ...], nothing: str) -> Drawn:
    renderer, shown = Renderer(paper, settled=True), False
    for event in events:
        if isinstance(event, kinds):
            renderer.show(event)
            shown = True
            yield
    if not shown:
        renderer.pen.line(nothing)
    renderer.close()
    yield


_WAYS: dict[str, Callable[[Console, StoredSession, Iterable[Event]], Drawn]] = {
    "": _whole,
    "diff": _diff,
    "tools": _tools,
    "permissions": _permissions,
}
