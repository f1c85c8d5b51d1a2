"""What a turn came to, for session files that do not say how a turn ended: what its last lines were tells it."""

from msgspec import Struct, field

from dragoman._model.events import Denial, ErrorInfo, TurnEnded, TurnOutcome
from dragoman._model.usage import Usage, summed


class Turn(Struct):
    """The state of a turn, as its last line left it."""

    outcome: TurnOutcome = "truncated"
    text: str | None = None
    error: ErrorInfo | None = None
    usage: dict[str, tuple[str | None, Usage]] = field(default_factory=dict)
    """Model and tokens by call: one that grows is written again."""
    denials: list[Denial] = field(default_factory=list)
    time: str | None = None

    def came_to(self, outcome: TurnOutcome, text: str | None = None, error: ErrorInfo | None = None) -> None:
        self.outcome, self.text, self.error = outcome, text, error

    def turn_ended(self) -> TurnEnded:
        total, models = summed(self.usage.values())
        return TurnEnded(
            outcome=self.outcome,
            text=self.text,
            error=self.error,
            usage=total,
            model_usage=models,
            steps=len(self.usage) or None,
            denials=self.denials,
            agent_time=self.time,
            synthesized=True,
        )
