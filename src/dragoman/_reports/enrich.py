"""Enrich: a stream's events, put right by the session file that the agent wrote at the same time.

Gemini CLI's stream leaves out what most tools answered, the diffs, the thoughts and their tokens, and says an
answer again that it had to begin anew. Its session file has all that, under the same call ids. The stream's
events stay, in their order, with their frames; what the file adds has no frame.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from msgspec import Struct, field, structs

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Bill
from dragoman._reports.stored_turns import Step, StoredCall, StoredTurn, stored_turns

E = TypeVar("E", bound=Event)


def enrich(stream: Iterable[Event], chat: Iterable[Event]) -> list[Event]:
    """The events of `stream`, completed from those of its session file. Neither is changed."""
    events, stored = list(stream), stored_turns(chat)
    told = {event.call_id for event in events if isinstance(event, ev.ToolStarted)}
    result: list[Event] = []
    turn: list[Event] = []
    for event in events:
        if isinstance(event, ev.TurnStarted) or turn:
            turn.append(event)
            if isinstance(event, ev.TurnEnded):
                same = _same(turn, stored)
                if same is not None:
                    stored.remove(same)
                    turn = Rewriting(turn, same, told).done()
                result += turn
                turn = []
        else:
            result.append(event)
    return _renumber([*result, *turn])


def _renumber(events: list[Event]) -> list[Event]:
    """All in order again, and the run's usage that of its turns."""
    bill = Bill()
    for seq, event in enumerate(events, 1):
        event = events[seq - 1] = structs.replace(event, seq=seq)
        if isinstance(event, ev.TurnEnded):
            bill.add(event.usage, event.model_usage, event.cost_usd)
        elif isinstance(event, ev.RunEnded):
            event.usage = bill.usage
    return events


def _same(events: list[Event], stored: Sequence[StoredTurn]) -> StoredTurn | None:
    """The stored turn that these events are of: it has the same calls, or else began with the same prompt, not
    before the stream did. Both were timed by the same clock."""
    calls = {event.call_id for event in events if isinstance(event, ev.ToolStarted)}
    for turn in reversed(stored):
        if calls & turn.calls.keys():
            return turn
    start = events[0]
    assert isinstance(start, ev.TurnStarted)
    asked = [turn for turn in stored if turn.prompt == start.prompt]
    later = [turn for turn in asked if turn.time and start.agent_time and turn.time >= start.agent_time]
    return later[0] if later else asked[-1] if asked and not start.agent_time else None


# --- the steps of a stream -----------------------------------------------------------------------------------


class Block(Struct):
    """A text that grew: where its deltas and its message are."""

    deltas: list[int]
    message: int | None = None


class Piece(Struct):
    """One step of a stream: what came between the results of tools."""

    first: int
    last: int
    blocks: dict[str | None, Block] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)


def _pieces(events: list[Event]) -> list[Piece]:
    pieces: list[Piece] = []
    answered = True
    for index, event in enumerate(events):
        if event.parent is not None or event.replay:
            continue
        if isinstance(event, ev.ToolEnded):
            answered = True
            continue
        text = (
            isinstance(event, (ev.Delta, ev.Message)) and event.role == "assistant" and event.kind == "text"
        )
        if not text and not isinstance(event, ev.ToolStarted):
            continue
        if answered and not isinstance(event, ev.Message):
            pieces.append(Piece(index, index))
            answered = False
        elif not pieces:
            continue
        _add(pieces[-1], index, event)
    return pieces


def _add(piece: Piece, index: int, event: Event) -> None:
    piece.last = index
    if isinstance(event, ev.ToolStarted):
        piece.calls.add(event.call_id)
    elif isinstance(event, ev.Delta):
        piece.blocks.setdefault(event.message_id, Block([])).deltas.append(index)
    elif isinstance(event, ev.Message) and event.message_id in piece.blocks:
        piece.blocks[event.message_id].message = index


# --- rewriting -----------------------------------------------------------------------------------------------


class Rewriting:
    """One turn of a stream beside the same turn of the file."""

    def __init__(self, events: list[Event], turn: StoredTurn, told: set[str]) -> None:
        self._events = [structs.replace(event) for event in events]
        self._turn = turn
        self._known_calls = told
        """All calls that the stream tells of."""
        self._before: dict[int, list[Event]] = {}
        """What comes before the event at an index."""
        end = self._events[-1]
        assert isinstance(end, ev.TurnEnded)
        self._end = end
        self._cut = end.outcome == "truncated"
        """The stream stops in the middle, so the file may know more."""

    def done(self) -> list[Event]:
        left = list(self._turn.steps)
        for piece in _pieces(self._events):
            step = self._step_of(piece, left)
            if step is not None:
                del left[: left.index(step) + 1]
                self._repair_text(piece, step)
                self._insert(piece.first, step.thoughts)
                self._insert(piece.last + 1, [step.usage] if step.usage is not None else [])
        for index, event in enumerate(self._events):
            self._complete(index, event)
        if self._cut:
            self._append_rest(left)
        self._sum_up()
        return [
            each for index, event in enumerate(self._events) for each in (*self._before.get(index, ()), event)
        ]

    def _insert(self, index: int, events: Sequence[Event]) -> None:
        anchor = self._events[min(index, len(self._events) - 1)]
        self._before.setdefault(index, []).extend(_placed(event, anchor) for event in events)

    def _step_of(self, piece: Piece, steps: list[Step]) -> Step | None:
        """By its calls; an answer without any is the next stored one, if that says as much."""
        for step in steps:
            if piece.calls & step.calls.keys():
                return step
        said = self._piece_text(piece)
        if piece.calls or not steps or (steps[0].calls and not self._cut):
            return None
        text = steps[0].text.strip()
        fits = text.startswith(said.strip()) if self._cut else said.rstrip().endswith(text)
        return steps[0] if text and fits else None

    def _piece_text(self, piece: Piece) -> str:
        return "".join(self._text(block) for block in piece.blocks.values())

    def _text(self, block: Block) -> str:
        return "".join(self._delta(index).text for index in block.deltas)

    def _delta(self, index: int) -> ev.Delta:
        delta = self._events[index]
        assert isinstance(delta, ev.Delta)
        return delta

    # --- text --------------------------------------------------------------------------------------------

    def _repair_text(self, piece: Piece, step: Step) -> None:
        """The file has texts without the space around them."""
        said, text = self._piece_text(piece), step.text.strip()
        blocks = [block for block in piece.blocks.values() if block.message is not None]
        if said.strip() == text or not blocks:
            return
        if said.rstrip().endswith(text) and (text or step.calls):
            self._begin_anew(blocks[0], said, text)
        elif self._cut and step.text.startswith(said):
            self._go_on(blocks[-1], step.text[len(said) :])

    def _begin_anew(self, block: Block, said: str, text: str) -> None:
        """What comes before `text` was an answer that broke off: an unmarked retry replaces it."""
        message = self._message(block)
        ends = accumulate(len(self._delta(index).text) for index in block.deltas)
        given_up = next((n for n, end in enumerate(ends, 1) if said[end:].strip() == text), None)
        if given_up is None:
            return  # no delta ends there: it is something else
        retry = ev.Retry(discards=[message.message_id or ""], synthesized=True)
        rest = block.deltas[given_up:]
        if not rest:
            assert block.message is not None
            self._events[block.message] = _in_place_of(message, retry)
            return
        self._insert(rest[0], [retry])
        message.message_id = f"{message.message_id}-again"
        for index in rest:
            self._delta(index).message_id = message.message_id
        self._reword(message, self._text(Block(rest)))

    def _go_on(self, block: Block, text: str) -> None:
        """The stream was cut off in the middle of an answer."""
        assert block.message is not None
        message = self._message(block)
        self._insert(block.message, [ev.Delta(text=text, message_id=message.message_id)])
        self._reword(message, (message.text or "") + text)

    def _reword(self, message: ev.Message, text: str) -> None:
        if self._end.text == message.text:
            self._end.text = text
        message.text = text

    def _message(self, block: Block) -> ev.Message:
        assert block.message is not None
        message = self._events[block.message]
        assert isinstance(message, ev.Message)
        return message

    def _append_rest(self, steps: list[Step]) -> None:
        """What the stream lost: calls of the steps that it knows, then whole steps."""
        rest = [event for step in steps for event in step.events(self._known_calls)]
        kept = {call_id for step in steps for call_id in step.calls}
        calls = [
            call for call_id, call in self._turn.calls.items() if call_id not in kept | self._known_calls
        ]
        events = [event for call in calls for event in call.events()] + rest
        self._insert(len(self._events) - 1, events)

    # --- tools -------------------------------------------------------------------------------------------

    def _complete(self, index: int, event: Event) -> None:
        call = self._turn.calls.get(getattr(event, "call_id", None) or "")
        if call is None or event.replay:
            return
        if isinstance(event, ev.ToolStarted):
            _fill(event, call.started, "input", "title", "locations", "server", "model")
            if event.synthesized:
                event.name, event.kind = call.started.name, call.started.kind
        elif isinstance(event, ev.FileChanged) and len(call.changes) == 1:
            _take_over(event, call.changes[0], "path", "change", "diff", "before", "after", "phase")
            call.changes.clear()
        elif isinstance(event, ev.SubagentEnded):
            self._insert(index, call.inside)
            call.inside.clear()
            if call.subagent is not None:
                _take_over(event, call.subagent, "agent_id", "summary")
        elif isinstance(event, ev.ToolEnded):
            self._end_call(index, event, call)

    def _end_call(self, index: int, event: ev.ToolEnded, call: StoredCall) -> None:
        self._insert(index, [*call.inside, *call.changes])
        ended = call.ended
        if ended is None:
            return
        if event.status != "declined":  # a cancelled call says success in the stream
            event.status, event.synthesized = ended.status, False
        _take_over(event, ended, "output", "exit_code", "structured", "content")
        _fill(event, ended, "error")

    # --- the end -----------------------------------------------------------------------------------------

    def _sum_up(self) -> None:
        """The stream counts other requests too (a subagent's, a summary's): if there were any, its count stays."""
        usage, models = self._turn.usage()
        end, steps = self._end, self._turn.steps
        if usage is not None and end.usage is not None and usage.total_tokens == end.usage.total_tokens:
            end.usage = usage
            end.model_usage = models if models.keys() == end.model_usage.keys() else end.model_usage
        end.steps = end.steps if end.steps is not None else len(steps) or None


def _placed(event: E, anchor: Event) -> E:
    """A copy of an event of the file, at the place of one of the stream."""
    return structs.replace(
        event,
        agent=anchor.agent,
        dialect=anchor.dialect,
        session=anchor.session,
        turn=anchor.turn,
        at=anchor.at,
        time=anchor.time,
        frame=None,
        origin="dragoman",
        line=None,
        line_b64=None,
        eol=True,
    )


def _in_place_of(old: Event, new: E) -> E:
    """`new` with the envelope of `old`, its line included."""
    names = [name for name in Event.__struct_fields__ if name != "synthesized"]
    return structs.replace(new, **{name: getattr(old, name) for name in names})


def _fill(event: Any, other: Any, *names: str) -> None:
    """What `event` does not say."""
    for name in names:
        if getattr(event, name) in (None, [], {}):
            setattr(event, name, getattr(other, name))


def _take_over(event: Any, other: Any, *names: str) -> None:
    """What `other` says, where it says something."""
    for name in names:
        if getattr(other, name) not in (None, [], {}):
            setattr(event, name, getattr(other, name))
