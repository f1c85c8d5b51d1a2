"""What a turn came to. The file does not say how a turn ended; what its last lines were tells it."""

from msgspec import Struct, field

from dragoman._model.events import ErrorInfo, TurnEnded, TurnOutcome
from dragoman._model.usage import ModelUsage, Usage, added


class Turn(Struct):
    """The state of a turn, as its last line left it."""

    outcome: TurnOutcome = "truncated"
    text: str | None = None
    error: ErrorInfo | None = None
    usage: dict[str, tuple[str | None, Usage]] = field(default_factory=dict)
    """Model and tokens by message: a message that grows is written again."""
    time: str | None = None

    def came_to(self, outcome: TurnOutcome, text: str | None = None, error: ErrorInfo | None = None) -> None:
        self.outcome, self.text, self.error = outcome, text, error

    def turn_ended(self) -> TurnEnded:
        total: Usage | None = None
        models: dict[str, ModelUsage] = {}
        for model, usage in self.usage.values():
            total = added(total or Usage(), usage)
            if model is not None:
                counts = {name: getattr(usage, name) for name in usage.__struct_fields__}
                models[model] = added(models.get(model, ModelUsage()), ModelUsage(**counts))
        return TurnEnded(
            outcome=self.outcome,
            text=self.text,
            error=self.error,
            usage=total,
            model_usage=models,
            steps=len(self.usage) or None,
            agent_time=self.time,
            synthesized=True,
        )
