"""When something happened."""

from datetime import UTC, datetime

from dragoman._model.events import Event


def moment(event: Event) -> float | None:
    """When it happened, in seconds since 1970: by our clock, else by the agent's."""
    if event.time is not None:
        return event.time.timestamp()
    if event.agent_time is None:
        return None
    try:
        said = datetime.fromisoformat(event.agent_time)
    except ValueError:
        return None
    return (said if said.tzinfo is not None else said.replace(tzinfo=UTC)).timestamp()
