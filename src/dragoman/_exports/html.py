"""A session as one HTML file: readable on a phone and in the dark, without a network, and inert whatever stands in it.

Everything of the session's is escaped here. The page allows no request, and of scripts only its own, by its hash.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

import msgspec
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from msgspec import Struct

from dragoman._exports import markdown_tokens
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock
from dragoman._model.events import Event
from dragoman._wire.redaction import REDACTED

KINDS: Final = {
    "user": "Prompts",
    "answer": "Answers",
    "thinking": "Thinking",
    "tool": "Tools",
    "change": "Changes",
    "permission": "Permissions",
    "other": "Other",
}
"""What can be shown or not, and what that is called."""

_IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_HIDDEN: Final = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
"""Characters that would not be seen, or turn text around."""


class About(Struct, frozen=True, kw_only=True):
    """What stands at the top."""

    title: str
    facts: list[str]
    """One line each."""


def page(about: About, events: Iterable[Event], *, redacted: bool) -> Iterator[str]:
    """The file, piece by piece. `redacted`: secrets were taken out of the events, which is then said at the top."""
    style, script = _own("page.css"), _own("page.js")
    allowed = "'sha256-" + base64.b64encode(sha256(script.encode()).digest()).decode() + "'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:; base-uri 'none'; form-action 'none'"
    boxes = "".join(
        f'<label><input type="checkbox" name="{kind}" checked> {name}</label>' for kind, name in KINDS.items()
    )
    facts = "".join(f'<p class="facts">{shown(fact)}</p>' for fact in about.facts)
    note = (
        f"Keys and tokens that were recognised are replaced by {REDACTED.decode()}."
        if redacted
        else "Secrets were not taken out of this file."
    )
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{shown(about.title)}</title><style>{style}</style></head><body>\n"
        f'<header><h1>{shown(about.title)}</h1>{facts}<p class="note">{shown(note)}</p></header>\n'
        f'<nav aria-label="What is shown">{boxes}<input type="search" placeholder="Find" aria-label="Find in this session">'
        '<button type="button">Unfold all</button></nav>\n<main>\n'
    )
    yield from _Sheet().of(events)
    yield f"</main>\n<script>{script}</script></body></html>\n"


def _own(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def shown(text: str) -> str:
    """Text as HTML that shows it; what would not be seen as an escape."""
    return escape(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


class _Sheet:
    """Turns events into sections, a turn each."""

    def __init__(self) -> None:
        self._open = False
        self._cwd = ""
        self._tools: dict[str, ev.ToolStarted] = {}
        self._inside: dict[str, list[str]] = {}
        """What is shown of a call before it has ended: its changes, its permissions, what its subagent does."""
        self._requests: dict[str, ev.PermissionRequested] = {}

    def of(self, events: Iterable[Event]) -> Iterator[str]:
        for event in events:
            show = _SHOWN.get(type(event))
            if show is None or event.replay:
                continue
            yield from show(self, event)
        yield from self._left_open()
        yield from self._close()

    def _item(self, kind: str, body: str, event: Event) -> Iterator[str]:
        text = f'<div class="item k-{kind}">{body}</div>\n'
        within = self._inside.get(event.parent or "")
        if within is not None:
            within.append(text)
            return
        if not self._open:
            yield "<section>"
            self._open = True
        yield text

    def _close(self) -> Iterator[str]:
        if self._open:
            self._open = False
            yield "</section>\n"

    def _left_open(self) -> Iterator[str]:
        """Calls that never ended."""
        for started in reversed(list(self._tools.values())):
            yield from self._call(started, None)

    def _session(self, event: ev.SessionFields) -> Iterator[str]:
        self._cwd = event.cwd or self._cwd
        yield from ()

    # --- turns --------------------------------------------------------------------------------------------

    def _turn_started(self, event: ev.TurnStarted) -> Iterator[str]:
        yield from self._close()
        when = f" · {_time(event)}" if _time(event) else ""
        yield f'<section id="turn-{event.turn}"><h2>Turn {event.turn}{shown(when)}</h2>\n'
        self._open = True

    def _turn_ended(self, event: ev.TurnEnded) -> Iterator[str]:
        facts: list[str] = [event.outcome]
        if event.reason and event.outcome != "completed":
            facts.append(event.reason)
        if event.usage is not None:
            counts = ((event.usage.input_tokens, "in"), (event.usage.output_tokens, "out"))
            facts += [f"{count:,} tokens {way}" for count, way in counts if count is not None]
        if event.cost_usd is not None:
            facts.append(f"${event.cost_usd:.4f}")
        if event.duration_ms is not None:
            facts.append(f"{event.duration_ms / 1000:.1f} s")
        good = "good" if event.outcome == "completed" else "bad"
        error = f"<pre>{shown(event.error.message)}</pre>" if event.error is not None else ""
        body = f'<p class="foot {good}">{shown(" · ".join(facts))}</p>{error}'
        yield from self._item("other", body, event)

    # --- what is said -------------------------------------------------------------------------------------

    def _message(self, event: ev.Message) -> Iterator[str]:
        if event.echo or event.synthetic:
            return
        text = (event.text or "").strip("\n")
        images = "".join(_image(block) for block in event.blocks if isinstance(block, ImageBlock))
        if not text and not images:
            return
        if event.role == "user":
            yield from self._item("user", f'<div class="user">{shown(text)}{images}</div>', event)
        elif event.kind == "thinking":
            body = f'<details class="thinking"><summary>Thinking</summary><div class="prose">{prose(text)}</div></details>'
            yield from self._item("thinking", body, event)
        else:
            bad = " bad" if event.kind == "error" else ""
            yield from self._item("answer", f'<div class="prose{bad}">{prose(text)}{images}</div>', event)

    # --- tools --------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> Iterator[str]:
        self._tools[event.call_id] = event
        self._inside[event.call_id] = []
        yield from ()

    def _tool_ended(self, event: ev.ToolEnded) -> Iterator[str]:
        started = self._tools.get(event.call_id)
        if started is not None:
            yield from self._call(started, event)

    def _call(self, started: ev.ToolStarted, ended: ev.ToolEnded | None) -> Iterator[str]:
        self._tools.pop(started.call_id, None)
        inside = "".join(self._inside.pop(started.call_id, []))
        name = f"{started.server}: {started.name}" if started.server else started.name
        title = f" <code>{shown(_one_line(started.title))}</code>" if started.title else ""
        status = ended.status if ended is not None else "not ended"
        facts: list[str] = [] if status == "completed" else [status]
        if ended is not None and ended.exit_code:
            facts.append(f"exit {ended.exit_code}")
        if ended is not None and ended.duration_ms is not None:
            facts.append(f"{ended.duration_ms / 1000:.1f} s")
        style = "good" if status == "completed" else "bad"
        mark = "✓" if status == "completed" else "✗"
        parts = [_json(started.input)]
        output = ended.output if ended is not None else None
        if output:
            parts.append(f"<pre>{shown(output)}</pre>")
        elif ended is not None and ended.error is not None:
            parts.append(f'<pre class="bad">{shown(ended.error.message)}</pre>')
        body = (
            f'<details class="tool"><summary><span class="{style}">{mark}</span> <b>{shown(name)}</b>{title} '
            f"{shown(' · '.join(facts))}</summary>{''.join(parts)}</details>"
        )
        # changes and permissions of a call are seen while it is folded
        nested = f'<div class="nested">{inside}</div>' if inside else ""
        yield from self._item("tool", body, started)
        if nested:
            yield from self._item("within", nested, started)

    def _file_changed(self, event: ev.FileChanged) -> Iterator[str]:
        if event.phase == "proposed":
            return
        where = " → ".join(self._near(path) for path in (event.path, event.move_to) if path)
        failed = "not applied: " if event.phase == "failed" else ""
        lines = [line for line in (event.diff or "").splitlines() if not line.startswith(("--- ", "+++ "))]
        body = (
            f"<details open><summary>{shown(failed + event.change)} <code>{shown(where)}</code></summary>"
            f"{diff(lines) if lines else ''}</details>"
        )
        yield from self._of_call("change", body, event.call_id, event)

    def _of_call(self, kind: str, body: str, call_id: str | None, event: Event) -> Iterator[str]:
        within = self._inside.get(call_id or "")
        if within is not None:
            within.append(f'<div class="item k-{kind}">{body}</div>\n')
        else:
            yield from self._item(kind, body, event)

    def _near(self, path: str) -> str:
        """A path as seen from the folder that the session works in."""
        return path.removeprefix(self._cwd.rstrip("/") + "/") if self._cwd else path

    # --- what was asked -----------------------------------------------------------------------------------

    def _permission_requested(self, event: ev.PermissionRequested) -> Iterator[str]:
        self._requests[event.request_id] = event
        yield from ()

    def _permission_resolved(self, event: ev.PermissionResolved) -> Iterator[str]:
        request = self._requests.pop(event.request_id, None)
        if request is None:
            return
        what = _one_line(request.title or request.tool_name or request.kind)
        style = "good" if event.outcome == "allowed" else "bad"
        by = f" by {event.by}" + (f" ({event.rule})" if event.rule else "")
        body = f'<p class="foot">May it: {shown(what)} — <span class="{style}">{shown(event.outcome)}</span>{shown(by)}</p>'
        yield from self._of_call("permission", body, request.call_id, event)

    # --- what happens beside it ---------------------------------------------------------------------------

    def _plan(self, event: ev.PlanUpdated) -> Iterator[str]:
        marks = {"completed": "☑", "in_progress": "▶", "pending": "☐"}
        lines = "\n".join(f"{marks[entry.status]} {entry.text}" for entry in event.entries)
        yield from self._item(
            "other", f"<details><summary>Plan</summary><pre>{shown(lines)}</pre></details>", event
        )

    def _error(self, event: ev.Error) -> Iterator[str]:
        yield from self._item("other", f'<p class="bad">{shown(event.message)}</p>', event)

    def _notice(self, event: ev.Notice) -> Iterator[str]:
        yield from self._item("other", f'<p class="foot odd">{shown(event.message)}</p>', event)

    def _compacted(self, event: ev.ContextCompacted) -> Iterator[str]:
        yield from self._item(
            "other", f'<p class="foot">context compacted ({shown(event.trigger)})</p>', event
        )

    def _subagent(self, event: ev.SubagentStarted) -> Iterator[str]:
        who = ": ".join(filter(None, (event.agent_type or "subagent", event.description)))
        yield from self._of_call("other", f'<p class="foot">↳ {shown(who)}</p>', event.call_id, event)


_SHOWN: Final[dict[type[Event], Callable[[_Sheet, Any], Iterator[str]]]] = {
    ev.SessionStarted: _Sheet._session,
    ev.SessionUpdated: _Sheet._session,
    ev.TurnStarted: _Sheet._turn_started,
    ev.TurnEnded: _Sheet._turn_ended,
    ev.Message: _Sheet._message,
    ev.ToolStarted: _Sheet._tool_started,
    ev.ToolEnded: _Sheet._tool_ended,
    ev.FileChanged: _Sheet._file_changed,
    ev.PermissionRequested: _Sheet._permission_requested,
    ev.PermissionResolved: _Sheet._permission_resolved,
    ev.PlanUpdated: _Sheet._plan,
    ev.Error: _Sheet._error,
    ev.Notice: _Sheet._notice,
    ev.ContextCompacted: _Sheet._compacted,
    ev.SubagentStarted: _Sheet._subagent,
}


# --- pieces ----------------------------------------------------------------------------------------------------


def diff(lines: list[str]) -> str:
    """A unified diff in colours."""
    rows = (f'<span class="{_DIFF.get(line[:1], "c")}">{shown(line)}</span>' for line in lines)
    return f'<pre class="diff">{"".join(rows)}</pre>'


_DIFF: Final = {"+": "p", "-": "m", "@": "h"}


def _json(value: Any) -> str:
    if value is None or value == {}:
        return ""
    text = (
        value
        if isinstance(value, str)
        else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    )
    return f"<pre>{shown(text)}</pre>"


def _image(block: ImageBlock) -> str:
    """An image that is in the session itself; one that is elsewhere is named, not fetched."""
    if block.mime_type in _IMAGES and block.data and _BASE64.fullmatch(block.data):
        return f'<img alt="image" src="data:{block.mime_type};base64,{"".join(block.data.split())}">'
    return f'<p class="foot">image{shown(f": {block.uri}" if block.uri else "")}</p>'


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())[:200]


def _time(event: Event) -> str:
    if event.time is not None:
        return f"{event.time:%Y-%m-%d %H:%M:%S}"
    try:
        return f"{datetime.fromisoformat(event.agent_time or ''):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return ""


def prose(text: str) -> str:
    """Markdown as HTML. HTML in it is shown as text, images are named and not fetched, links lead only to the web."""
    visible = _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    tokens = markdown_tokens.tokens(visible)
    if tokens is None:
        return f"<pre>{escape(visible)}</pre>"
    return _renderer.render(tokens, markdown_tokens.parser.options, {})


class _Renderer(RendererHTML):
    def link_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        tokens[at].attrSet("rel", "noopener noreferrer nofollow")
        return self.renderToken(tokens, at, options, env)

    def image(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return f"[image: {escape(tokens[at].content)} {escape(str(tokens[at].attrGet('src') or ''))}]"


_renderer: Final = _Renderer()
