"""The turns of a session as its file tells them: step by step, a step being one answer of the model."""

from collections.abc import Collection, Iterable

from msgspec import Struct, field

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import ModelUsage, Usage, summed

_INSIDE = (ev.Message, ev.ToolStarted, ev.ToolUpdated, ev.ToolEnded, ev.FileChanged, ev.UsageUpdated)
"""What a subagent does that belongs into its call."""


class StoredCall(Struct):
    started: ev.ToolStarted
    ended: ev.ToolEnded | None = None
    changes: list[ev.FileChanged] = field(default_factory=list)
    subagent: ev.SubagentEnded | None = None
    inside: list[Event] = field(default_factory=list)
    """What its subagent did."""

    def events(self) -> list[Event]:
        """The whole call, for a stream that lacks it; none, if it never ended."""
        return [self.started, *self.inside, *self.changes, self.ended] if self.ended is not None else []


class Step(Struct):
    """One answer of the model: its thoughts, its text, its calls."""

    message_id: str | None
    thoughts: list[ev.Message] = field(default_factory=list)
    said: ev.Message | None = None
    usage: ev.UsageUpdated | None = None
    calls: dict[str, StoredCall] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return (self.said.text if self.said is not None else None) or ""

    def events(self, told: Collection[str]) -> list[Event]:
        """The whole step, for a stream that lacks it, but for calls that it has told of."""
        said: list[Event] = [event for event in (self.said, self.usage) if event is not None]
        calls = (call for call_id, call in self.calls.items() if call_id not in told)
        return [*self.thoughts, *said, *(event for call in calls for event in call.events())]


class StoredTurn(Struct):
    prompt: str | None
    time: str | None
    steps: list[Step] = field(default_factory=list)

    @property
    def calls(self) -> dict[str, StoredCall]:
        return {call_id: call for step in self.steps for call_id, call in step.calls.items()}

    def usage(self) -> tuple[Usage | None, dict[str, ModelUsage]]:
        """The tokens of all steps, and by model."""
        told = (step.usage for step in self.steps if step.usage is not None)
        return summed((call.model or "", call.usage) for call in told if call.usage is not None)


def stored_turns(events: Iterable[Event]) -> list[StoredTurn]:
    """The turns of a file. What it repeats of earlier files is left out."""
    turns: list[StoredTurn] = []
    for event in events:
        if isinstance(event, ev.TurnStarted):
            turns.append(StoredTurn(prompt=event.prompt, time=event.agent_time))
        elif turns and not event.replay:
            if event.parent is None:
                _take(turns[-1], event)
            elif isinstance(event, _INSIDE):
                for turn in turns:
                    if event.parent in turn.calls:
                        turn.calls[event.parent].inside.append(event)
    return turns


def _take(turn: StoredTurn, event: Event) -> None:
    if isinstance(event, ev.Message) and event.role == "assistant":
        step = _step(turn, event.message_id)
        if event.kind == "thinking":
            step.thoughts.append(event)
        else:
            step.said = event
    elif isinstance(event, ev.UsageUpdated) and event.scope == "call":
        _step(turn, event.message_id).usage = event
    elif isinstance(event, ev.ToolStarted):
        _step(turn, turn.steps[-1].message_id if turn.steps else None).calls.setdefault(
            event.call_id, StoredCall(event)
        )
    elif isinstance(event, (ev.ToolEnded, ev.FileChanged, ev.SubagentEnded)) and event.call_id is not None:
        _close(turn.calls.get(event.call_id), event)


def _close(call: StoredCall | None, event: ev.ToolEnded | ev.FileChanged | ev.SubagentEnded) -> None:
    if call is None:
        return
    if isinstance(event, ev.ToolEnded):
        call.ended = event if not event.synthesized else None
    elif isinstance(event, ev.FileChanged):
        call.changes.append(event)
    else:
        call.subagent = event


def _step(turn: StoredTurn, message_id: str | None) -> Step:
    """The step of a message; a message that is written again is the same step."""
    for step in reversed(turn.steps):
        if step.message_id == message_id:
            return step
    turn.steps.append(Step(message_id))
    return turn.steps[-1]
