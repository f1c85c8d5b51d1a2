"""What always holds in a stream of events, and where it does not: the contract that every dialect keeps."""

from collections.abc import Collection, Iterable

from dragoman._contract.rules import (
    FrameRule,
    RequestRule,
    Rule,
    RunRule,
    SubagentRule,
    TextRule,
    ToolRule,
    TurnRule,
)
from dragoman._model.events import Event


class Invariants:
    """All the rules, fed event by event."""

    def __init__(self, frames: Collection[int] | None = None) -> None:
        """`frames`: the numbers of the frames that the agent wrote, where they are known."""
        self._rules: tuple[Rule, ...] = (
            RunRule(),
            TurnRule(),
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
                rule.named(event.session)
        return [f"event {event.seq}: {what}" for rule in self._rules for what in rule.see(event)]

    def end(self) -> list[str]:
        """What is still missing now that the stream is over."""
        return [f"at the end: {what}" for rule in self._rules for what in rule.close()]


def broken(events: Iterable[Event], *, frames: Collection[int] | None = None) -> list[str]:
    """Everything in `events` that should not be so, one sentence each; empty if all holds."""
    rules = Invariants(frames)
    return [what for event in events for what in rules.feed(event)] + rules.end()
