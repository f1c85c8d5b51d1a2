"""What a turn came to. The file does not say how a turn ended; what its last lines were tells it."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.claude.transcript.messages import Assistant
from dragoman._model.events import Denial, ErrorInfo, TurnEnded, TurnOutcome
from dragoman._model.usage import Usage, added, summed

SYNTHETIC: Final = "<synthetic>"
"""The model of messages that the CLI wrote itself."""

_STOPS: Final[dict[str | None, TurnOutcome]] = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "refusal": "refused",
    "max_tokens": "limited",
    "model_context_window_exceeded": "limited",
}
"""By the last answer's stop_reason; after any other (tool_use, none) something should have followed."""


class Turn(Struct):
    """The state of a turn, or of a subagent's whole work, which ends the same ways."""

    prompt_id: str | None = None
    outcome: TurnOutcome = "truncated"
    reason: str | None = None
    error: ErrorInfo | None = None
    texts: list[str] = field(default_factory=list)
    answer: str | None = None
    """The message that `texts` are of."""
    usage: dict[str, tuple[str, Usage]] = field(default_factory=dict)
    """Model and tokens of each call: every line of its message repeats them."""
    denials: list[Denial] = field(default_factory=list)
    structured_output: Any = None
    duration_ms: float | None = None
    cost_usd: float | None = None
    paid_for: Usage | None = None
    """What `cost_usd` was paid for."""
    resume_at: str | None = None
    """The uuid of the model's last line: `--resume-session-at` takes it."""
    time: str | None = None
    """What its last line said."""

    def came_to(self, outcome: TurnOutcome, reason: str | None = None) -> None:
        self.outcome, self.reason = outcome, reason

    def on_answer(self, line: Assistant, text: str) -> None:
        """Take in a message of the model, or of the CLI in its place."""
        message = line.message
        stop = message.stop_reason
        self.resume_at = line.uuid
        if stop is None and self.outcome == "cancelled":  # what was cut off is written after the word for it
            return
        if message.model == SYNTHETIC and not line.isApiErrorMessage:  # a stopgap on resume after a kill
            return
        if message.id != self.answer:
            self.answer, self.texts = message.id, []
        if text:
            self.texts.append(text)
        self.error = None
        self.came_to(_STOPS.get(stop, "truncated"), stop)
        if line.isApiErrorMessage:
            self.error = ErrorInfo(message=text, code=line.error)
            self.came_to("refused" if stop == "refusal" else "failed", line.error)

    def pay(self, cost: float, usage: Usage) -> None:
        """Take in what the CLI spent while this turn was open, and for what."""
        self.cost_usd = (self.cost_usd or 0.0) + cost
        self.paid_for = added(self.paid_for, usage) if self.paid_for is not None else usage

    def spent(self) -> Usage | None:
        """The sum of its calls."""
        return summed(self.usage.values())[0]

    def turn_ended(self) -> TurnEnded:
        unfinished = self.outcome in ("cancelled", "truncated")
        total, models = summed(self.usage.values())
        # The CLI's cost has subagents, compactions and requests of its own in it, and lacks what was cut off: then it is
        # no cost of these tokens.
        paid = self.paid_for is not None and _same(total or Usage(), self.paid_for)
        return TurnEnded(
            outcome=self.outcome,
            reason=self.reason,
            text="\n".join(self.texts) if self.texts and not unfinished else None,
            error=self.error,
            usage=total,
            model_usage=models,
            cost_usd=self.cost_usd if paid else None,
            duration_ms=self.duration_ms,
            steps=len(self.usage) or None,
            denials=self.denials,
            structured_output=self.structured_output,
            resume_at=self.resume_at,
            agent_time=self.time,
            synthesized=True,
        )


def _same(calls: Usage, paid: Usage) -> bool:
    counts = [(usage.input_tokens or 0, usage.output_tokens or 0) for usage in (calls, paid)]
    return counts[0] == counts[1]
