"""What an agent tells of itself, in the same words for every agent."""

from typing import Any

from msgspec import Struct, field


class Model(Struct, kw_only=True, frozen=True):
    """A model that the agent can use."""

    id: str
    """What `set_model` takes."""
    name: str | None = None
    """What people call it."""
    description: str | None = None
    efforts: tuple[str, ...] = ()
    """How hard it can be made to think."""
    default: bool = False
    """It is the one that is used if none is named."""
    native: Any = None
    """All that the agent says of it."""


class Account(Struct, kw_only=True, frozen=True):
    """Who the agent works for."""

    email: str | None = None
    organization: str | None = None
    plan: str | None = None
    source: str | None = None
    """How it signs in: by which key or kind of account."""
    native: dict[str, Any] = field(default_factory=dict)
    """All that the agent says of it."""
