"""The calls of the API, in one table: where each is, what it takes and gives, and what does it. Requests are answered by it, and
the description of the API is made of it."""

from collections.abc import Awaitable, Callable
from functools import partial
from platform import node
from typing import Any, Final, Literal, NamedTuple

from anyio import to_thread
from msgspec import Struct

from dragoman._library.usage import UsageReport
from dragoman._model import commands
from dragoman._model.config import SessionConfig
from dragoman._model.errors import SessionNotFound, UsageError
from dragoman._reports.deed_entries import DeedsSummary
from dragoman._runtime.desk_lines import Asked
from dragoman._server import given, live_sessions, starting, stored
from dragoman._server.answers import (
    About,
    Agents,
    Begun,
    Diff,
    Done,
    Entered,
    Found,
    Me,
    NewLink,
    Prompted,
    Sessions,
    WholeEvent,
    Window,
)
from dragoman._server.asks import answer
from dragoman._server.guard import LOST, Refused
from dragoman._server.hub import Hub
from dragoman._server.live import LiveRun
from dragoman._server.tokens import Tab, Tokens
from dragoman._settings import settings
from dragoman._version import __version__


class Desk(Struct):
    """What a call is answered with, and who asks."""

    hub: Hub
    tokens: Tokens
    url: str
    """Of the server, by the name that was asked for."""
    tab: Tab
    user_agent: str = ""


NOBODY: Final = Tab("nobody", read_only=True)
"""Who asks at the entrance."""


# --- who asks ------------------------------------------------------------------------------------------------


async def enter(desk: Desk, wanted: given.Link) -> Entered:
    """Trade a link for a token. It works once."""
    came = desk.tokens.enter(wanted.link, desk.user_agent)
    if came is None:
        raise Refused(401, "token", LOST)
    token, tab = came
    return Entered(token=token, read_only=tab.read_only, name=tab.name)


async def links(desk: Desk, wanted: given.Wish) -> NewLink:
    """A link for another browser, device or tab; of who only watches, one that only lets watch."""
    link = desk.tokens.link(read_only=wanted.read_only or desk.tab.read_only)
    return NewLink(url=f"{desk.url}/#t={link}")


async def me(desk: Desk, wanted: given.Nothing) -> Me:
    """Who asks, and whom."""
    return Me(read_only=desk.tab.read_only, name=desk.tab.name, version=__version__, host=node())


# --- what there is -------------------------------------------------------------------------------------------


async def agents(desk: Desk, wanted: given.Nothing) -> Agents:
    """What a new session can be begun with."""
    return await desk.hub.ask(starting.agents)


async def sessions(desk: Desk, wanted: given.Wanted) -> Sessions:
    """Sessions of the library, newest first. The feed tells of live ones."""
    ask = partial(
        stored.rows,
        text=wanted.text,
        agent=wanted.agent,
        folder=wanted.folder,
        limit=wanted.limit,
        offset=wanted.offset,
    )
    found = await desk.hub.ask(ask)
    found.unread = desk.hub.unread
    return found


async def session(desk: Desk, wanted: given.OfSession) -> About:
    """All that is known of a session, without its events."""
    run = await desk.hub.awaited(wanted.id)
    if run is None:
        return await desk.hub.ask(lambda library: stored.about(library, wanted.id))
    return live_sessions.about(run, await desk.hub.ask(lambda library: live_sessions.before(library, run)))


async def events(desk: Desk, wanted: given.Window) -> Window:
    """Some events of a run that follow each other: those before a number, those after one, or the newest."""
    run = desk.hub.runs.get(wanted.run)
    if run is not None:
        return live_sessions.window(run, wanted.before, wanted.after, wanted.limit, wanted.deltas)
    ask = partial(
        stored.window,
        run=wanted.run,
        before=wanted.before,
        after=wanted.after,
        limit=wanted.limit,
        deltas=wanted.deltas,
    )
    return await desk.hub.ask(ask)


async def deeds(desk: Desk, wanted: given.OfSession) -> DeedsSummary:
    """What a session did, summed up."""
    run = desk.hub.find(wanted.id)
    if run is None:
        return await desk.hub.ask(lambda library: stored.deeds(library, wanted.id))
    return await desk.hub.ask(lambda library: live_sessions.deeds(library, run))


async def diff(desk: Desk, wanted: given.OfSession) -> Diff:
    """What a session did to files."""
    run = desk.hub.find(wanted.id)
    if run is None:
        return await desk.hub.ask(lambda library: stored.diff(library, wanted.id))
    return await desk.hub.ask(lambda library: live_sessions.diff(library, run))


async def event(desk: Desk, wanted: given.Place) -> WholeEvent:
    """An event whole, with the raw line that said it."""
    run = desk.hub.runs.get(wanted.run)
    if run is None:
        return await desk.hub.ask(lambda library: stored.whole_event(library, wanted.run, wanted.seq))
    found = await to_thread.run_sync(live_sessions.whole, run, wanted.seq)
    if found is None:
        raise SessionNotFound(f"run {wanted.run} has no event {wanted.seq}; it has {len(run.log)} so far")
    return found


async def search(desk: Desk, wanted: given.Search) -> Found:
    """Where something was said."""
    fields = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    return await desk.hub.ask(partial(stored.search, **fields))


async def usage(desk: Desk, wanted: given.Usage) -> UsageReport:
    """What model calls took and cost, as `dragoman usage --json` says it."""
    fields = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    return await desk.hub.ask(partial(stored.usage, **fields))


# --- what is done --------------------------------------------------------------------------------------------


async def begin(desk: Desk, wanted: given.Begin) -> Begun:
    """A new session, which the server drives."""
    usual = settings.load()
    config = SessionConfig(
        agent=wanted.agent,
        prompt=wanted.prompt or None,
        cwd=starting.folder(wanted.cwd),
        model=wanted.model or usual.of("model", wanted.agent),
        approve=wanted.approve or usual.of("approve", wanted.agent),
    )
    run = await desk.hub.begin(config)
    return Begun(id=run.session, run=run.id)


async def prompt(desk: Desk, wanted: given.Say) -> Prompted:
    """Say something to a session. One in which nothing runs is gone on with, driven by the server, in its folder."""
    run = desk.hub.find(wanted.id)
    if run is not None and not run.is_over:
        await run.tell(commands.Prompt(text=wanted.text), desk.tab.name)
        return Prompted(run=run.id)
    known = await desk.hub.ask(lambda library: library.session(run.session if run is not None else wanted.id))
    config = SessionConfig(
        agent=known.agent,
        prompt=wanted.text,
        resume=known.native_id,
        cwd=known.cwd,
        approve=settings.load().of("approve", known.agent),
    )
    return Prompted(run=(await desk.hub.begin(config)).id)


async def steer(desk: Desk, wanted: given.Say) -> Done:
    """Say something into the open turn, at once."""
    return await _tell(desk, wanted.id, commands.Steer(text=wanted.text))


async def interrupt(desk: Desk, wanted: given.OfSession) -> Done:
    """Stop the open turn."""
    return await _tell(desk, wanted.id, commands.Interrupt())


async def close(desk: Desk, wanted: given.OfSession) -> Done:
    """End what runs in a session."""
    return await _tell(desk, wanted.id, commands.Close())


async def mode(desk: Desk, wanted: given.Mode) -> Done:
    """Change who is asked for what."""
    return await _tell(desk, wanted.id, commands.SetMode(mode=wanted.mode))


async def model(desk: Desk, wanted: given.Model) -> Done:
    """Change the model."""
    return await _tell(desk, wanted.id, commands.SetModel(model=wanted.model))


async def reply(desk: Desk, wanted: given.Reply) -> Done:
    """Answer a permission or a question."""
    run = desk.hub.runs.get(wanted.run)
    given_answer = (
        answer(
            run,
            wanted.request,
            mark=wanted.mark,
            choice=wanted.choice,
            message=wanted.message,
            input=wanted.input,
            answers=wanted.answers,
            declined=wanted.declined,
        )
        if run is not None
        else None
    )
    if run is None or given_answer is None:
        raise Refused(
            409, "answered", "this is not asked any more; somebody has answered it, or the agent took it back"
        )
    await run.tell(given_answer, desk.tab.name)
    return Done()


async def label(desk: Desk, wanted: given.Label) -> Done:
    """Give a session a name, or pin it."""

    def change(library: Any) -> None:
        library.label(library.session(wanted.id), name=wanted.name, pinned=wanted.pinned)

    await desk.hub.ask(change)
    desk.hub.renewed()
    return Done()


async def _tell(desk: Desk, id: str, command: Asked) -> Done:
    await _live(desk, id).tell(command, desk.tab.name)
    return Done()


def _live(desk: Desk, id: str) -> LiveRun:
    run = desk.hub.find(id)
    if run is None:
        raise UsageError(f"nothing runs in session {id}; a prompt goes on with it")
    return run


# --- the table -----------------------------------------------------------------------------------------------


class Call(NamedTuple):
    method: Literal["GET", "POST"]
    path: str
    does: Callable[[Desk, Any], Awaitable[Struct]]
    takes: type[given.Given]
    gives: type[Struct]


def _call(method: Literal["GET", "POST"], path: str, does: Callable[[Desk, Any], Awaitable[Struct]]) -> Call:
    """A call, whose types are those of the function that does it."""
    types = does.__annotations__
    return Call(method, f"/api/{path}", does, types["wanted"], types["return"])


CALLS: Final = (
    _call("POST", "enter", enter),
    _call("POST", "links", links),
    _call("GET", "me", me),
    _call("GET", "agents", agents),
    _call("GET", "sessions", sessions),
    _call("POST", "sessions", begin),
    _call("GET", "sessions/{id}", session),
    _call("GET", "sessions/{id}/events", events),
    _call("GET", "sessions/{id}/deeds", deeds),
    _call("GET", "sessions/{id}/diff", diff),
    _call("GET", "sessions/{id}/event", event),
    _call("POST", "sessions/{id}/prompt", prompt),
    _call("POST", "sessions/{id}/steer", steer),
    _call("POST", "sessions/{id}/interrupt", interrupt),
    _call("POST", "sessions/{id}/close", close),
    _call("POST", "sessions/{id}/mode", mode),
    _call("POST", "sessions/{id}/model", model),
    _call("POST", "sessions/{id}/answer", reply),
    _call("POST", "sessions/{id}/label", label),
    _call("GET", "search", search),
    _call("GET", "usage", usage),
)
"""All but those whose answer is no JSON: the feed, and a session as a file."""
