"""What is known of an agent now: what it told when it was opened, and what it has said since.

Nothing is asked for here: a fact that the agent did not tell is empty. `ready` waits for what it tells before the first
prompt, `refresh` asks it.
"""

from collections.abc import Mapping
from typing import Any, Final

from dragoman._model.events import McpServer, Mode, Plugin, RateLimit, Skill, SlashCommand, SubagentType
from dragoman._model.facts import Account, Model
from dragoman._wire import fields


class Facts:
    """What a session's agent has told of itself so far."""

    def _known(self) -> Mapping[str, Any]:
        """The facts by the names of their fields in session.started."""
        raise NotImplementedError

    @property
    def model(self) -> str | None:
        """The model that is used."""
        return self._known().get("model")

    @property
    def mode(self) -> str | None:
        """The mode that it works in, by its own name: one of `modes`, or its permission mode."""
        known = self._known()
        mode: str | None = known.get("mode") or known.get("permission_mode")
        return mode

    @property
    def modes(self) -> list[Mode]:
        """The modes that there are, where the agent lists them."""
        return list(self._known().get("modes", ()))

    @property
    def models(self) -> list[Model]:
        """The models that there are."""
        return [model for native in self._known().get("models", ()) if (model := _model(native)) is not None]

    @property
    def account(self) -> Account | None:
        """Who it works for."""
        native = self._known().get("account")
        return _account(native) if native else None

    @property
    def tools(self) -> list[str]:
        """Its tools, by its own names for them."""
        return list(self._known().get("tools", ()))

    @property
    def commands(self) -> list[SlashCommand]:
        """The commands that a prompt can be, without their slash."""
        return list(self._known().get("commands", ()))

    @property
    def mcp_servers(self) -> list[McpServer]:
        """Its MCP servers, as they were when that was last said; `mcp_status` asks."""
        return list(self._known().get("mcp_servers", ()))

    @property
    def agents(self) -> list[SubagentType]:
        """The kinds of subagents that it can start."""
        return list(self._known().get("agents", ()))

    @property
    def skills(self) -> list[Skill]:
        return list(self._known().get("skills", ()))

    @property
    def plugins(self) -> list[Plugin]:
        return list(self._known().get("plugins", ()))

    @property
    def betas(self) -> list[str]:
        """The beta features of its model's API that are in use."""
        return list(self._known().get("betas", ()))

    @property
    def options(self) -> list[Any]:
        """What `set_option` can set, where the agent lists it, in its own words."""
        return list(self._known().get("options", ()))

    @property
    def rate_limit(self) -> RateLimit | None:
        """What was said last of how much may still be used."""
        limit: RateLimit | None = self._known().get("rate_limit")
        return limit


_MODEL_ID: Final = ("modelId", "id", "value")
_MODEL_NAME: Final = ("displayName", "name")
_ACCOUNT_PLAN: Final = ("planType", "subscriptionType")
_ACCOUNT_SOURCE: Final = ("type", "apiKeySource", "tokenSource")


def _model(native: Any) -> Model | None:
    """A model as Claude Code, Codex and ACP agents list theirs."""
    id = fields.text(native, *_MODEL_ID)
    if id is None:
        return None
    efforts = fields.items(native, "supportedEffortLevels", "supportedReasoningEfforts")
    words = (each if isinstance(each, str) else fields.text(each, "reasoningEffort") for each in efforts)
    return Model(
        id=id,
        name=fields.text(native, *_MODEL_NAME),
        description=fields.text(native, "description"),
        efforts=tuple(word for word in words if word is not None),
        default=fields.flag(native, "isDefault") or id == "default",
        native=native,
    )


def _account(native: dict[str, Any]) -> Account:
    """The account as Claude Code and Codex describe it."""
    return Account(
        email=fields.text(native, "email"),
        organization=fields.text(native, "organization"),
        plan=fields.text(native, *_ACCOUNT_PLAN),
        source=fields.text(native, *_ACCOUNT_SOURCE),
        native=native,
    )
