"""What is known of an agent, and how it is asked for."""

from collections.abc import Mapping
from typing import Any

import pytest

import dragoman
from dragoman import (
    Account,
    McpServer,
    Mode,
    Model,
    ProcessExited,
    RateLimit,
    SessionNotFound,
    SlashCommand,
    Unsupported,
    UsageError,
)
from dragoman._runtime.facts import Facts
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


class Told(Facts):
    def __init__(self, **facts: Any) -> None:
        self._told = facts

    def _known(self) -> Mapping[str, Any]:
        return self._told


def test_nothing_is_known_at_first() -> None:
    told = Told()
    assert (told.model, told.mode, told.account, told.rate_limit) == (None, None, None, None)
    lists = (told.modes, told.models, told.tools, told.commands, told.mcp_servers, told.agents, told.skills)
    assert (*lists, told.plugins, told.betas, told.options) == ([],) * 10


def test_models_in_the_words_of_each_agent() -> None:
    claude = {"value": "default", "displayName": "Default", "supportedEffortLevels": ["low", "high"]}
    effort = {"reasoningEffort": "low", "description": "Fast"}
    codex = {"id": "gpt", "model": "gpt", "displayName": "GPT", "isDefault": True}
    codex |= {"description": "Works.", "supportedReasoningEfforts": [effort, {}, 5]}
    acp = {"modelId": "pro", "name": "Pro"}
    option = {"value": "scripted/first", "name": "First"}
    told = Told(models=[claude, codex, acp, option, {"name": "nameless"}, "text", None])
    assert told.models == [
        Model(id="default", name="Default", efforts=("low", "high"), default=True, native=claude),
        Model(id="gpt", name="GPT", description="Works.", efforts=("low",), default=True, native=codex),
        Model(id="pro", name="Pro", native=acp),
        Model(id="scripted/first", name="First", native=option),
    ]


def test_accounts_in_the_words_of_each_agent() -> None:
    claude = {"email": "e@x", "organization": "O", "subscriptionType": "max", "apiKeySource": "env"}
    assert Told(account=claude).account == Account(
        email="e@x", organization="O", plan="max", source="env", native=claude
    )
    codex = {"type": "chatgpt", "email": "e@x", "planType": "pro"}
    assert Told(account=codex).account == Account(email="e@x", plan="pro", source="chatgpt", native=codex)
    assert Told(account={}).account is None


def test_the_mode_is_a_mode_or_what_is_permitted() -> None:
    assert Told(permission_mode="default").mode == "default"
    assert Told(permission_mode="untrusted", mode="plan", modes=[Mode(id="plan")]).mode == "plan"


def test_what_is_read_can_be_changed_without_changing_what_is_known() -> None:
    told = Told(commands=[SlashCommand(name="one")], mcp_servers=[McpServer(name="m")])
    told.commands.clear()
    told.mcp_servers.clear()
    assert (len(told.commands), len(told.mcp_servers)) == (1, 1)
    assert Told(rate_limit=RateLimit(plan="pro")).rate_limit == RateLimit(plan="pro")


async def test_an_agent_of_acp_is_ready_when_its_session_is_open() -> None:
    async with dragoman.open("demo", native={"pace": 0}) as session:
        await session.ready()
        assert session.id is not None
        await session.ready()
        with pytest.raises(Unsupported, match="demo cannot do this: refresh"):
            await session.refresh("models")
        with pytest.raises(UsageError, match="there is no fact 'model': did you mean models"):
            await session.refresh("model")  # type: ignore[arg-type]


async def test_a_session_that_cannot_be_opened_is_never_ready() -> None:
    async with dragoman.open("demo", resume="demo-00000099", native={"pace": 0}) as session:
        with pytest.raises(SessionNotFound, match="demo-00000099"):
            await session.ready()


async def test_an_agent_without_a_handshake_is_ready_when_it_tells_of_its_session() -> None:
    async with alone(toy_plan()) as session:
        await session.ready()
        assert session.id is not None


async def test_an_agent_that_ends_is_never_ready() -> None:
    async with alone(toy_plan("writes.py", "code:3")) as session:
        with pytest.raises(ProcessExited, match="before it was ready"):
            await session.ready()


def test_the_same_without_async() -> None:
    with dragoman.blocking.open("demo", native={"pace": 0}) as session:
        session.ready()
        assert session.commands == []
        with pytest.raises(Unsupported):
            session.mcp_status()
        with pytest.raises(Unsupported):
            session.refresh("models")
        with pytest.raises(Unsupported):
            session.set_max_thinking_tokens(5)
