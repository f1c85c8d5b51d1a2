"""What several files make of native values in the same way."""

from typing import Any


def ext(**values: Any) -> dict[str, Any]:
    """Native values for an event's `ext`, those that say something."""
    return {f"codex.{name}": value for name, value in values.items() if value not in (None, [], {})}
