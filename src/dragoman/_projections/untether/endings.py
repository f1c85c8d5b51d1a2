"""What a chat is told at the end: the answer, and whether the run went well, and if not, why."""

import re
from typing import Final

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._projections.untether.engines import AnswerPolicy, Engine

EXCERPT: Final = 300
"""Characters of stderr that a chat is shown."""

_SIGNALS: Final = {
    "SIGHUP": 1,
    "SIGINT": 2,
    "SIGQUIT": 3,
    "SIGABRT": 6,
    "SIGKILL": 9,
    "SIGSEGV": 11,
    "SIGTERM": 15,
}
_PRIVATE: Final = re.compile(r"\b\w+://\S+|(?<!\S)[\"'(]?~?/[^\s:]+")
"""Addresses and paths: a chat is no place for them."""

_Key = tuple[str | None, str | None, int | None, int]


class Answer:
    """What of all that is said in a turn a chat shows at its end: the assistant's own texts, not those of subagents."""

    def __init__(self) -> None:
        self._texts: dict[_Key, str] = {}
        """By message and block, in the order in which they began."""
        self._nameless = 0
        """How many messages without an id were completed."""

    def clear(self) -> None:
        self._texts.clear()

    def add_delta(self, delta: ev.Delta) -> None:
        if delta.kind == "text" and delta.role == "assistant" and delta.parent is None:
            key = self._key(delta)
            self._texts[key] = self._texts.get(key, "") + delta.text

    def add_message(self, message: ev.Message) -> None:
        """A whole message stands for its deltas, and for an earlier one with its id."""
        if message.kind not in ("text", "error") or message.role != "assistant" or message.parent is not None:
            return
        key = self._key(message)
        self._texts[key] = message.text or ""
        if message.message_id is None:
            self._nameless += 1

    def discard(self, retry: ev.Retry) -> None:
        self._texts = {key: text for key, text in self._texts.items() if key[1] not in retry.discards}

    def text(self, policy: AnswerPolicy, result: str | None) -> str:
        """`result` is what the agent itself calls its answer."""
        if policy == "all":
            return "".join(self._texts.values())
        return result or next((text for text in reversed(self._texts.values()) if text), "")

    def _key(self, event: ev.Delta | ev.Message) -> _Key:
        return event.session, event.message_id, event.block, 0 if event.message_id else self._nameless


class Ending(Struct):
    """What is known at the end."""

    engine: Engine
    live: bool
    session: str | None = None
    resumed: bool = False
    turn: ev.TurnEnded | None = None
    run: ev.RunEnded | None = None
    held: str | None = None
    """What went wrong, as the agent said before."""

    @property
    def result(self) -> ev.TurnEnded | None:
        """The turn's end, unless the stream just stopped."""
        turn = self.turn
        return None if turn is None or (turn.synthesized and turn.outcome == "truncated") else turn

    @property
    def crash(self) -> str | None:
        """With what the process exited, if it failed without a result."""
        run = self.run
        if self.result is not None or run is None or (not run.exit_code and run.signal is None):
            return None
        if run.signal is None:
            return f"rc={run.exit_code}"
        number = _SIGNALS.get(run.signal)
        return f"rc={-number} ({run.signal})" if number is not None else f"rc={run.signal}"

    def ok(self) -> bool:
        if self.result is not None:
            return self.result.outcome == "completed"
        good = self.engine.end_is_success and self.session is not None
        return good and self.held is None and self.crash is None

    def error(self) -> str | None:
        if self.ok():
            return None
        name, turn = self.engine.name, self.result
        if turn is not None:
            return self._of_turn(turn)
        if self.crash is not None:
            return self._of_exit(self.crash)
        if self.held is not None:
            return self.held
        if self.session is None:
            return f"{name} finished but no session_id was captured"
        return f"{name} finished without a result event"

    def _of_turn(self, turn: ev.TurnEnded) -> str:
        name = self.engine.name
        if name == "gemini" and not self.live and not turn.synthesized:
            return f"gemini result status: {'cancelled' if turn.outcome == 'cancelled' else 'error'}"
        message = turn.error.message if turn.error is not None else "; ".join(turn.errors)
        reason = f" ({turn.reason})" if turn.reason and turn.reason != turn.outcome else ""
        first, then = (self.held, message) if self.engine.errors_end else (message, self.held)
        return first or then or f"{name}: the turn was {turn.outcome}{reason}"

    def _of_exit(self, how: str) -> str:
        lines = [f"{self.engine.name} failed ({how})."]
        if self.session is not None:
            lines.append(f"session: {self.session[:8]} · {'resumed' if self.resumed else 'new'}")
        if self.held is not None:
            lines.append(self.held)
        tail = self.run.stderr_tail if self.run is not None else None
        if tail and tail.strip():
            lines.append(_PRIVATE.sub("[…]", tail.strip())[:EXCERPT])
        return "\n".join(lines)
