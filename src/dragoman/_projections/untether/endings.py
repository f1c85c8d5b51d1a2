"""How a run ended, as a chat is told: well or not, and if not, why."""

import re
from typing import Final

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._projections.untether.engines import Engine

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
    def crashed(self) -> str | None:
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
        return good and self.held is None and self.crashed is None

    def error(self) -> str | None:
        if self.ok():
            return None
        name, turn = self.engine.name, self.result
        if turn is not None:
            return self._of_turn(turn)
        if self.crashed is not None:
            return self._of_exit(self.crashed)
        if self.held is not None:
            return self.held
        if self.session is None:
            return f"{name} finished but no session_id was captured"
        return f"{name} finished without a result event"

    def _of_turn(self, turn: ev.TurnEnded) -> str:
        name = self.engine.name
        if name == "gemini" and not self.live and not turn.synthesized:
            return f"gemini result status: {'cancelled' if turn.outcome == 'cancelled' else 'error'}"
        said = turn.error.message if turn.error is not None else "; ".join(turn.errors)
        reason = f" ({turn.reason})" if turn.reason and turn.reason != turn.outcome else ""
        first, then = (self.held, said) if self.engine.errors_end else (said, self.held)
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
