"""A session of the library as one file, in each of the forms that there are."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from dragoman._exports import html
from dragoman._exports.html import About
from dragoman._files.convert import convert
from dragoman._library.library import Library
from dragoman._library.sessions import StoredSession, at
from dragoman._model.events import Event
from dragoman._reports.transcript import transcript
from dragoman._wire.event_json import encode

Writer = Callable[[About, Iterator[Event], bool], Iterator[str]]


def _html(about: About, events: Iterator[Event], redacted: bool) -> Iterator[str]:
    return html.page(about, events, redacted=redacted)


def _markdown(about: About, events: Iterator[Event], redacted: bool) -> Iterator[str]:
    yield transcript(events)


def _jsonl(about: About, events: Iterator[Event], redacted: bool) -> Iterator[str]:
    return (encode(event).decode() + "\n" for event in events)


FORMATS: Final[dict[str, Writer]] = {"html": _html, "md": _markdown, "jsonl": _jsonl}
"""What writes a file, by its ending."""


def events_of(library: Library, session: StoredSession, *, redact: bool) -> Iterator[Event]:
    """All events of a session, read anew from its agent's own lines, without secrets if they are to be kept out."""
    return chain.from_iterable(
        convert(told.lines, told.dialect, agent=told.agent, redact=redact) for told in library.told(session)
    )


def about(session: StoredSession) -> About:
    """What stands at the top of the file."""
    when = at(session.created)
    counts = (
        f"{when:%Y-%m-%d %H:%M}" if when is not None else None,
        _counted(session.turns, "turn"),
        _counted(session.tools, "tool call"),
        f"{_counted(session.files, 'file')} changed, +{session.added} −{session.removed}"
        if session.files
        else None,
        session.outcome,
    )
    facts = [
        " · ".join(filter(None, (session.agent, session.cli_version, session.model))),
        session.cwd or "",
        " · ".join(filter(None, counts)),
        f"session {session.native_id}",
    ]
    return About(
        title=session.name or session.title or session.prompt or session.id, facts=[f for f in facts if f]
    )


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
