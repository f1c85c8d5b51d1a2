"""A run as Markdown: what a reviewer reads first.

In the order of the events, each turn under its heading, subagents quoted once deeper than the call that started
them. Deltas are not shown, their messages are; what a message replaces is not shown; nothing depends on when it
ran, so two runs that did the same read the same.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.content import ContentBlock
from dragoman._model.events import Answered, Event, Request
from dragoman._reports.markdown import (
    code,
    content,
    excerpt,
    fenced,
    fields,
    joined,
    one_line,
    plain,
    prefixed,
    quoted,
)
from dragoman._reports.phrases import PHRASES, dollars, inferred, tokens
from dragoman._wire.jsontext import repaired_text

MESSAGE_LINES: Final = 200

MessageKey = tuple[str | None, str | None, str | None, int | None, str, bool]


def transcript(events: Iterable[Event]) -> str:
    """The whole run as one Markdown document."""
    listed = list(events)
    page = _Page(listed)
    for event in listed:
        page.show(event)
    return page.text()


class _Page:
    """What has been written so far, and what is needed to write the next event."""

    def __init__(self, events: list[Event]) -> None:
        self._parts: list[str] = []
        self._replaying = False
        self._depth: dict[str, int] = {}
        """How deep a tool call stands, by call_id."""
        self._tools: dict[str, str] = {}
        """Names of tools, by call_id."""
        self._grown: dict[str, ev.ToolUpdated] = {}
        """The last update of each tool that brought output."""
        self._pending: dict[str, Request] = {}
        """What is pending, by request_id: its answer stands as deep."""
        self._prompt: str | None = None
        """The prompt of the turn, shown with its heading."""
        self._prompt_said = False
        """Its message has come; what is said again is shown again."""
        self._answer: str | None = None
        """What the assistant said last."""
        self._session: str | None = None
        self._standing = {_key(event): event for event in events if isinstance(event, ev.Message)}
        """The messages that stand, where a later one replaces an earlier."""
        self._shown_keys: set[MessageKey] = set()

    def text(self) -> str:
        return repaired_text("".join(f"{part}\n\n" for part in self._parts)[:-1])

    def show(self, event: Event) -> None:
        text = _phrase(self, event)
        if not text:
            return
        parent = event.parent
        if isinstance(event, Request):
            self._pending[event.request_id] = event
        elif isinstance(event, Answered) and event.request_id in self._pending:
            parent = self._pending.pop(event.request_id).parent
        if event.replay != self._replaying:
            self._replaying = event.replay
            self._parts.append("*— history, played back —*" if event.replay else "*— end of history —*")
        for _ in range(self._below(parent)):
            text = quoted(text)
        self._parts.append(text)

    def _below(self, parent: str | None) -> int:
        """How deep stands what `parent` began."""
        return self._depth.get(parent, 0) + 1 if parent is not None else 0

    def turn_started(self, event: ev.TurnStarted) -> str:
        self._prompt, self._prompt_said, self._answer = event.prompt, False, None
        other = event.session is not None and self._session is not None and event.session != self._session
        self._session = event.session or self._session
        heading = f"## Turn {event.turn}" + (f" of session {code(event.session or '')}" if other else "")
        return f"{heading}\n\n{_speech('User', event.prompt)}" if event.prompt is not None else heading

    def message(self, event: ev.Message) -> str:
        if event.message_id is not None:
            key = _key(event)
            if key in self._shown_keys:
                return ""
            self._shown_keys.add(key)
            event = self._standing[key]
        text = content(event.text, event.blocks)
        if event.role == "user":
            if text == self._prompt and (event.echo or not self._prompt_said):
                self._prompt_said = True
                return ""
            who = "User"
        else:
            who = "System" if event.role == "system" else "Assistant"
            if event.role == "assistant" and event.kind == "text":
                self._answer = text
        marks = [
            event.kind if event.kind != "text" else None,
            "echo" if event.echo else None,
            "written by the agent" if event.synthetic else None,
        ]
        return _speech(joined(who, *marks), text)

    def turn_ended(self, event: ev.TurnEnded) -> str:
        line = joined(
            f"**Turn {event.turn} {event.outcome}**" + inferred(event),
            event.reason if event.reason != event.outcome else None,
            tokens(event.usage),
            dollars(event.cost_usd),
            f"{event.steps} {'step' if event.steps == 1 else 'steps'}" if event.steps is not None else None,
        )
        rows = [line]
        if event.error is not None:
            rows.append(f"Error: {one_line(joined(event.error.code, event.error.message))}")
        rows += [f"Error: {one_line(error)}" for error in event.errors]
        rows += [
            joined(f"Denied: {denial.tool_name or '?'}", code(denial.call_id or "?"))
            for denial in event.denials
        ]
        if event.structured_output is not None:
            rows.append(f"Structured output:\n\n{fenced(excerpt(plain(event.structured_output)), 'json')}")
        if event.text and event.text != self._answer:
            rows.append(_speech("Final answer", event.text))
        return "\n\n".join(rows)

    def tool_started(self, event: ev.ToolStarted) -> str:
        self._depth[event.call_id] = self._below(event.parent)
        self._tools[event.call_id] = event.name
        title = one_line(event.title) if event.title and event.title != event.name else None
        head = joined(
            f"**{event.name}**" + inferred(event),
            event.kind,
            event.server,
            title,
            code(event.call_id),
        )
        return head if event.input in (None, {}) else f"{head}\n\n{fields(event.input)}"

    def tool_updated(self, event: ev.ToolUpdated) -> str:
        if event.output is not None or event.content:
            self._grown[event.call_id] = event
        head = joined(f"… {self._tool(event.call_id)}", "after its end" if event.late else None, event.title)
        said = _output(event.output, event.content) if event.late else ""
        given = "" if event.input in (None, {}) else f"\n\n{fields(event.input)}"
        return f"{head}{given}{said}" if given or event.late else ""

    def tool_ended(self, event: ev.ToolEnded) -> str:
        grown = self._grown.pop(event.call_id, None)
        said = _output(event.output, event.content) or (_output(grown.output, grown.content) if grown else "")
        error = None
        if event.error is not None and event.error.message != event.output:
            error = one_line(joined(event.error.code, event.error.message))
        status = f"{event.status}{inferred(event)}"
        return (
            joined(f"↳ {self._tool(event.call_id)} {status}", prefixed("exit ", event.exit_code), error)
            + said
        )

    def _tool(self, call_id: str | None) -> str:
        return f"**{self._tools.get(call_id or '', 'tool')}** {code(call_id or '?')}"

    def permission_requested(self, event: ev.PermissionRequested) -> str:
        head = joined(
            f"**Permission asked** for {event.tool_name or event.title or event.kind}",
            one_line(event.title) if event.title and event.tool_name else None,
            event.reason,
            prefixed("path ", event.blocked_path),
            prefixed("options: ", ", ".join(option.id for option in event.options)),
            code(event.call_id) if event.call_id else None,
        )
        known = event.call_id in self._tools
        return head if known or event.input in (None, {}) else f"{head}\n\n{fields(event.input)}"

    def permission_resolved(self, event: ev.PermissionResolved) -> str:
        asked = self._pending.get(event.request_id)
        head = joined(
            f"↳ **{event.outcome}** by {event.by}" + inferred(event),
            prefixed("rule ", event.rule),
            prefixed("option ", event.option_id),
            one_line(event.message) if event.message else None,
            code(asked.call_id) if asked is not None and asked.call_id else None,
        )
        if event.updated_input is None:
            return head
        return f"{head}\n\nwith the input\n\n{fields(event.updated_input)}"


WITH_PAGE: Final[dict[type[Event], Callable[[_Page, Any], str]]] = {
    ev.TurnStarted: _Page.turn_started,
    ev.Message: _Page.message,
    ev.TurnEnded: _Page.turn_ended,
    ev.ToolStarted: _Page.tool_started,
    ev.ToolUpdated: _Page.tool_updated,
    ev.ToolEnded: _Page.tool_ended,
    ev.PermissionRequested: _Page.permission_requested,
    ev.PermissionResolved: _Page.permission_resolved,
}
"""What is said with an eye on what the page says already; all else is in PHRASES."""

SILENT: Final = frozenset(
    (ev.Delta, ev.UsageUpdated, ev.TurnDiff, ev.NativeKnown, ev.SessionOptions, ev.SessionCommands)
)
"""What a reader need not see: said elsewhere, or nothing to say."""


def _phrase(page: _Page, event: Event) -> str:
    kind = type(event)
    if kind in WITH_PAGE:
        return WITH_PAGE[kind](page, event)
    return "" if kind in SILENT else PHRASES[kind](event)


def _key(message: ev.Message) -> MessageKey:
    """What makes one message replace another."""
    return (message.session, message.parent, message.message_id, message.block, message.role, message.echo)


def _speech(who: str, text: str) -> str:
    return f"**{who}**\n\n{quoted(excerpt(text, MESSAGE_LINES))}"


def _output(output: str | None, blocks: list[ContentBlock]) -> str:
    text = content(output, blocks)
    return f"\n\n{fenced(excerpt(text))}" if text.strip() else ""
