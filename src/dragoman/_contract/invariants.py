"""What always holds in a stream of events, and where it does not: the contract that every dialect keeps.

Each rule is a small book-keeper that is shown every event and says what breaks it, one sentence each.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from dragoman._dialects import tools_end_with_turns
from dragoman._model import events as ev
from dragoman._model.content import text_of
from dragoman._model.events import Answered, Event, Request

Session = str | None


class Rule:
    """One thing that holds."""

    def see(self, event: Event) -> Iterator[str]:
        """What `event` breaks."""
        yield from ()

    def close(self) -> Iterator[str]:
        """What is missing at the end."""
        yield from ()

    def name_session(self, session: str) -> None:
        """The session that had no name so far is called `session`."""


# --- the run ---------------------------------------------------------------------------------------------


class RunRule(Rule):
    """Starts with run.started, ends with exactly one run.ended, which agrees with the last turn; seq is gapless."""

    def __init__(self) -> None:
        self._seq = 0
        self._ended = False
        self._sessions: set[Session] = set()
        self._last_turn: ev.TurnOutcome | None = None

    def see(self, event: Event) -> Iterator[str]:
        if event.seq != self._seq + 1:
            yield f"seq is {event.seq}, not {self._seq + 1}."
        if isinstance(event, ev.RunStarted) != (self._seq == 0):
            yield "run.started must come first and only once."
        self._seq = event.seq
        if self._ended:
            yield f"{_name(event)} comes after run.ended."
        if isinstance(event, ev.SessionStarted):
            if event.session in self._sessions:
                yield f"session {event.session} starts a second time."
            self._sessions.add(event.session)
        elif isinstance(event, ev.TurnEnded):
            self._last_turn = event.outcome
        elif isinstance(event, ev.RunEnded):
            self._ended = True
            yield from self._outcome(event)

    def _outcome(self, event: ev.RunEnded) -> Iterator[str]:
        """A time or other limit of ours ends the run whatever became of its last turn."""
        expected: ev.RunOutcome | None
        if self._last_turn is not None:
            expected = "failed" if self._last_turn == "refused" else self._last_turn
        else:
            expected = "completed" if event.exit_code == 0 else None
        if expected is not None and event.outcome not in (expected, "timeout", "limited"):
            because = (
                f"the last turn was {self._last_turn}" if self._last_turn else "no turn began and it exited 0"
            )
            yield f"run.ended is {event.outcome}, but {because}."

    def close(self) -> Iterator[str]:
        if not self._ended:
            yield "there is no run.ended."


# --- turns -----------------------------------------------------------------------------------------------


class TurnRule(Rule):
    """Numbered over the run, at most one open per session, each ended once; every event says its turn."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[Session, int] = {}
        """By number."""
        self._last: dict[Session, int] = {}

    def name_session(self, session: str) -> None:
        _rename(self._open, session)
        _rename(self._last, session)

    def see(self, event: Event) -> Iterator[str]:
        session = event.session
        if isinstance(event, ev.TurnStarted):
            if session in self._open:
                yield f"turn {event.turn} starts while turn {self._open[session]} of the session is open."
            self._count += 1
            if event.turn != self._count:
                yield f"turn.started has number {event.turn}, not {self._count}."
            self._open[session] = self._last[session] = event.turn
            return
        expected = self._last.get(session, 0)
        if event.turn != expected:
            yield f"{_name(event)} says turn {event.turn}, but its session is in turn {expected}."
        if isinstance(event, ev.TurnEnded):
            if self._open.pop(session, None) is None:
                yield f"turn {event.turn} ends, but no turn of its session is open."
            if event.cost_usd is not None and event.cost_usd < 0:
                yield f"turn {event.turn} cost less than nothing: {event.cost_usd}."

    def close(self) -> Iterator[str]:
        for turn in self._open.values():
            yield f"turn {turn} has no turn.ended."


class PromptRule(Rule):
    """A turn's prompt is the one that it answers: where the agent says which of the user's messages a turn took, the
    message that it began with is among them."""

    def __init__(self) -> None:
        self._began: dict[Session, str | None] = {}
        """The prompt of the open turn whose message is still to come."""
        self._message: dict[Session, str] = {}
        """The id of the message that the open turn began with."""

    def name_session(self, session: str) -> None:
        _rename(self._began, session)
        _rename(self._message, session)

    def see(self, event: Event) -> Iterator[str]:
        session = event.session
        if isinstance(event, ev.TurnStarted):
            self._began[session] = event.prompt if event.origin == "client" else None
            self._message.pop(session, None)
        elif isinstance(event, ev.Message) and event.role == "user" and event.origin == "client":
            prompt = self._began.pop(session, None)
            if prompt is not None and prompt == event.text and event.message_id is not None:
                self._message[session] = event.message_id
        elif isinstance(event, ev.TurnEnded):
            began = self._message.pop(session, None)
            if began is not None and event.message_ids and began not in event.message_ids:
                yield f"turn {event.turn} began with message {began}, but took others: {', '.join(event.message_ids)}."


# --- tools and subagents ---------------------------------------------------------------------------------

ToolKey = tuple[Session, str, bool]


class ToolRule(Rule):
    """One tool.started and then one tool.ended per (session, call_id), replayed ones among themselves."""

    def __init__(self) -> None:
        self._open: dict[ToolKey, int] = {}
        """By the seq of their tool.started."""
        self._done: set[ToolKey] = set()

    def name_session(self, session: str) -> None:
        self._open = {(key[0] or session, *key[1:]): seq for key, seq in self._open.items()}
        self._done = {(key[0] or session, *key[1:]) for key in self._done}

    def see(self, event: Event) -> Iterator[str]:
        if isinstance(event, (ev.ToolStarted, ev.ToolUpdated, ev.ToolEnded)):
            yield from self._see_tool(event)
        elif isinstance(event, ev.TurnEnded) and tools_end_with_turns(event.dialect):
            for session, call_id, _ in self._open:
                if session == event.session:
                    yield f"turn {event.turn} ends while tool {call_id} is open."

    def _see_tool(self, event: ev.ToolStarted | ev.ToolUpdated | ev.ToolEnded) -> Iterator[str]:
        key = (event.session, event.call_id, event.replay)
        done = key in self._done
        if isinstance(event, ev.ToolStarted):
            if done or key in self._open:
                yield f"tool {event.call_id} starts a second time."
            self._open[key] = event.seq
        elif not done and key not in self._open:
            yield f"{_name(event)} of tool {event.call_id} comes before its tool.started."
        elif isinstance(event, ev.ToolEnded):
            if done:
                yield f"tool {event.call_id} ends a second time."
            self._open.pop(key, None)
            self._done.add(key)
        elif event.late != done:
            yield f"tool.updated of tool {event.call_id} {'is' if done else 'is not'} late, but says otherwise."

    def close(self) -> Iterator[str]:
        for (_, call_id, _), seq in self._open.items():
            yield f"tool {call_id}, begun by event {seq}, has no tool.ended."


class SubagentRule(Rule):
    """One subagent.started and then one subagent.ended each."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._done: set[str] = set()

    def see(self, event: Event) -> Iterator[str]:
        if not isinstance(event, (ev.SubagentStarted, ev.SubagentEnded)):
            return
        key = event.call_id or event.agent_id or ""
        if isinstance(event, ev.SubagentStarted):
            if key in self._open or key in self._done:
                yield f"subagent {key} starts a second time."
            self._open[key] = event.seq
        elif self._open.pop(key, None) is None:
            yield f"subagent {key} ends {'a second time' if key in self._done else 'before it started'}."
        else:
            self._done.add(key)

    def close(self) -> Iterator[str]:
        for key, seq in self._open.items():
            yield f"subagent {key}, begun by event {seq}, has no subagent.ended."


# --- requests --------------------------------------------------------------------------------------------


ANSWER_TO: Final[dict[type[Request], type[Answered]]] = {
    ev.PermissionRequested: ev.PermissionResolved,
    ev.QuestionAsked: ev.QuestionAnswered,
    ev.HostCalled: ev.HostAnswered,
}


class RequestRule(Rule):
    """Whatever the agent asks is answered exactly once, at the latest when its turn ends."""

    def __init__(self) -> None:
        self._pending: dict[str, Request] = {}
        self._session: dict[str, Session] = {}

    def name_session(self, session: str) -> None:
        self._session = {request: known or session for request, known in self._session.items()}

    def see(self, event: Event) -> Iterator[str]:
        if isinstance(event, Request):
            if event.request_id in self._pending:
                yield f"request {event.request_id} is asked again while it is pending."
            self._pending[event.request_id] = event
            self._session[event.request_id] = event.session
        elif isinstance(event, Answered):
            asked = self._pending.pop(event.request_id, None)
            if asked is None:
                yield f"{_name(event)} answers request {event.request_id}, which is not pending."
            elif not isinstance(event, ANSWER_TO[type(asked)]):
                yield f"request {event.request_id} is a {_name(asked)}, but {_name(event)} answers it."
        elif isinstance(event, ev.TurnEnded):
            for request_id in self._pending:
                if self._session[request_id] == event.session:
                    yield f"turn {event.turn} ends while request {request_id} is pending."

    def close(self) -> Iterator[str]:
        for request_id, asked in self._pending.items():
            yield f"{_name(asked)} {request_id}, event {asked.seq}, has no answer."


# --- text ------------------------------------------------------------------------------------------------

BlockKey = tuple[Session, str | None, str | None, int | None, str]


class TextRule(Rule):
    """One message per block of text, thinking or plan, equal to its deltas joined."""

    def __init__(self) -> None:
        self._open: dict[BlockKey, tuple[int, list[str]]] = {}
        """The seq of the first delta, and the text so far."""

    def name_session(self, session: str) -> None:
        self._open = {(key[0] or session, *key[1:]): block for key, block in self._open.items()}

    def see(self, event: Event) -> Iterator[str]:
        if isinstance(event, ev.Delta):
            if event.kind in ("text", "thinking", "plan"):
                key = (event.session, event.parent, event.message_id, event.block, event.kind)
                self._open.setdefault(key, (event.seq, []))[1].append(event.text)
        elif isinstance(event, ev.Message):
            yield from self._whole(event)
        elif isinstance(event, ev.Retry):
            for gone in [key for key in self._of(event.session) if key[2] in event.discards]:
                del self._open[gone]
        elif isinstance(event, ev.TurnEnded):
            for left in self._of(event.session):
                yield f"turn {event.turn} ends while {_block(left)} has deltas but no message."

    def _of(self, session: Session) -> list[BlockKey]:
        return [key for key in self._open if key[0] == session]

    def _whole(self, message: ev.Message) -> Iterator[str]:
        # Whether text is commentary or an error is often known only when it is whole.
        kind = message.kind if message.kind in ("thinking", "plan") else "text"
        key = (message.session, message.parent, message.message_id, message.block, kind)
        block = self._open.pop(key, None)
        if block is None:
            return
        joined = "".join(block[1])
        text = message.text if message.text is not None else text_of(message.blocks)
        if text != joined:
            yield f"the message of {_block(key)} has {_differs(text, joined)}."

    def close(self) -> Iterator[str]:
        for key, (seq, _) in self._open.items():
            yield f"{_block(key)}, begun by event {seq}, has deltas but no message."


def _block(key: BlockKey) -> str:
    _, parent, message_id, block, kind = key
    within = f" in {parent}" if parent is not None else ""
    return f"the {kind} block {message_id or '-'}/{'-' if block is None else block}{within}"


def _differs(text: str, joined: str) -> str:
    same = next((i for i, (a, b) in enumerate(zip(text, joined, strict=False)) if a != b), None)
    where = min(len(text), len(joined)) if same is None else same
    return (
        f"{len(text)} characters and its deltas {len(joined)}; they differ at {where}: "
        f"{text[where : where + 20]!r}, {joined[where : where + 20]!r}"
    )


# --- frames ----------------------------------------------------------------------------------------------


class FrameRule(Rule):
    """Every frame the agent wrote is named; with native lines, the first event of each carries its line."""

    def __init__(self, frames: Collection[int] | None) -> None:
        self._unnamed = dict.fromkeys(frames or ())
        self._known = frozenset(frames) if frames is not None else None
        self._seen: set[int] = set()
        self._native: bool | None = None

    def see(self, event: Event) -> Iterator[str]:
        if (event.frame is None) != (event.origin == "dragoman"):
            yield f"its origin is {event.origin}, its frame {event.frame}: only what no frame says is dragoman's."
        has_line = event.line is not None or event.line_b64 is not None
        if event.line is not None and event.line_b64 is not None:
            yield "it carries its line twice, as text and as base64."
        if not event.eol and not has_line:
            yield "it lacks a newline at the end of no line."
        if event.frame is None or event.origin != "agent":
            if has_line:
                yield "it carries a line that the agent did not write."
            return
        if self._known is not None and event.frame not in self._known:
            yield f"it names frame {event.frame}, which the agent did not write."
        self._unnamed.pop(event.frame, None)
        first = event.frame not in self._seen
        self._seen.add(event.frame)
        if first and self._native is None:
            self._native = has_line
        if has_line and not first:
            yield f"it carries the line of frame {event.frame} again."
        elif first and has_line != self._native:
            yield f"it is the first of frame {event.frame} and {'lacks' if self._native else 'carries'} its line, unlike the others."

    def close(self) -> Iterator[str]:
        for frame in self._unnamed:
            yield f"frame {frame} is named by no event."


# ---------------------------------------------------------------------------------------------------------


def _name(event: Event) -> str:
    return str(event.__struct_config__.tag)


def _rename(books: dict[Session, Any], session: str) -> None:
    if None in books and session not in books:
        books[session] = books.pop(None)


# --- all of them ------------------------------------------------------------------------------------------


class Invariants:
    """All the rules, fed event by event."""

    def __init__(self, frames: Collection[int] | None = None) -> None:
        """`frames`: the numbers of the frames that the agent wrote, where they are known."""
        self._rules: tuple[Rule, ...] = (
            RunRule(),
            TurnRule(),
            PromptRule(),
            ToolRule(),
            RequestRule(),
            TextRule(),
            SubagentRule(),
            FrameRule(frames),
        )
        self._named = False

    def feed(self, event: Event) -> list[str]:
        """What `event` breaks, each a sentence."""
        if event.session is not None and not self._named:
            self._named = True
            for rule in self._rules:
                rule.name_session(event.session)
        return [f"event {event.seq}: {what}" for rule in self._rules for what in rule.see(event)]

    def end(self) -> list[str]:
        """What is still missing now that the stream is over."""
        return [f"at the end: {what}" for rule in self._rules for what in rule.close()]


def broken(events: Iterable[Event], *, frames: Collection[int] | None = None) -> list[str]:
    """Everything in `events` that should not be so, one sentence each; empty if all holds."""
    rules = Invariants(frames)
    return [what for event in events for what in rules.feed(event)] + rules.end()
