"""Usage and cost: how agents count, and what that makes of a turn."""

from typing import Any

import pytest

from dragoman._dialects.acp.counting import usage_of
from dragoman._dialects.acp.opening import Opening
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.usage import Usage
from tests.dialects.acp.conversation import SESSION, Conversation, update


@pytest.mark.parametrize(
    ("agent", "native", "read"),
    [
        ("claude", (180, 40, 60, 0, None, 280), (240, 40)),
        ("codex", (180, 40, 60, 0, 10, 280), (240, 40)),
        ("copilot", (120, 20, 30, 0, 5, 140), (120, 20)),
        ("opencode", (90, 15, 30, None, 5, 140), (120, 20)),
        ("no total", (10, 5, None, None, None, None), (10, 5)),
        ("more cached than read", (10, 5, 100, None, None, None), (110, 5)),
    ],
)
def test_the_reading_whose_parts_sum_to_the_total(
    agent: str, native: tuple[int | None, ...], read: tuple[int, int]
) -> None:
    names = (
        "inputTokens",
        "outputTokens",
        "cachedReadTokens",
        "cachedWriteTokens",
        "thoughtTokens",
        "totalTokens",
    )
    usage = usage_of({name: count for name, count in zip(names, native, strict=True) if count is not None})
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == read
    assert (usage.cache_read_tokens, usage.reasoning_tokens, usage.total_tokens) == (
        native[2],
        native[4],
        native[5],
    )


def used(input: int, output: int) -> dict[str, Any]:
    return {"inputTokens": input, "outputTokens": output, "totalTokens": input + output}


def two_turns(name: str, first: Any, second: Any) -> Conversation:
    talk = Conversation().working(name=name)
    talk.stops(**first)
    talk.say(c.Prompt(text="again"))
    talk.stops(**second)
    talk.end(code=0)
    return talk


def turns(talk: Conversation) -> list[tuple[int | None, int | None] | None]:
    usages = [event.usage for event in talk.of(ev.TurnEnded)]
    return [(usage.input_tokens, usage.output_tokens) if usage is not None else None for usage in usages]


@pytest.mark.parametrize(
    ("name", "counted", "aside"),
    [
        ("anybody", [(10, 1), (30, 3)], []),
        ("Copilot", [(10, 1), (20, 2)], ["session", "session"]),
        ("OpenCode", [None, None], ["call", "call"]),
    ],
)
def test_each_counts_in_its_own_way(name: str, counted: Any, aside: list[str]) -> None:
    talk = two_turns(name, {"usage": used(10, 1)}, {"usage": used(30, 3)})
    assert turns(talk) == counted
    assert [event.scope for event in talk.of(ev.UsageUpdated)] == aside


def test_a_rule_given_wins_over_the_name() -> None:
    talk = Conversation(usage_rule="last_call").opened()
    talk.say(c.Prompt(text="go"))
    talk.stops(usage=used(10, 1))
    assert turns(talk) == [None]


def test_qwen_tells_each_call() -> None:
    talk = Conversation().working(name="qwen-code")
    call = update("agent_message_chunk", content={"type": "text", "text": ""}, _meta={"usage": used(10, 1)})
    talk.agent(call, call)
    talk.stops()
    assert turns(talk) == [(20, 2)]
    assert [(event.scope, event.usage) for event in talk.of(ev.UsageUpdated)] == [
        ("call", Usage(input_tokens=10, output_tokens=1, total_tokens=11))
    ] * 2
    assert not talk.of(ev.Delta)
    talk.end(code=0)


def test_zero_on_a_cancelled_turn_is_unknown() -> None:
    talk = two_turns("anybody", {"reason": "cancelled", "usage": used(0, 0)}, {"usage": used(0, 0)})
    assert turns(talk) == [None, (0, 0)]


def test_gemini_tells_its_quota() -> None:
    counts = {"input_tokens": 7, "output_tokens": 2}
    quota = {"token_count": counts, "model_usage": [{"model": "m", "token_count": counts}]}
    talk = Conversation().working()
    talk.stops(_meta={"quota": quota})
    [ended] = talk.of(ev.TurnEnded)
    assert ended.usage == Usage(input_tokens=7, output_tokens=2)
    assert ended.model_usage["m"].input_tokens == 7


def cost(amount: float) -> dict[str, Any]:
    return update("usage_update", used=1, size=2, cost={"amount": amount, "currency": "USD"})


def test_cost_is_cumulative() -> None:
    talk = Conversation().working()
    talk.agent(cost(0.25), cost(0.5))
    talk.stops()
    talk.say(c.Prompt(text="again"))
    talk.agent(cost(0.75))
    talk.stops()
    talk.say(c.Prompt(text="free"))
    talk.stops()
    assert [event.cost_usd for event in talk.of(ev.TurnEnded)] == [0.5, 0.25, None]
    talk.end(code=0)
    assert talk.of(ev.RunEnded)[0].cost_usd == 0.75


@pytest.mark.parametrize(("baseline", "expected"), [(None, None), (1.0, 0.5)])
def test_what_an_earlier_session_had_cost(baseline: float | None, expected: float | None) -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION)).ready(loadSession=True)
    if baseline is not None:
        talk.agent(cost(baseline))
    talk.answer({}, to="session/load")
    talk.say(c.Prompt(text="go"))
    talk.agent(cost(1.5))
    talk.stops()
    talk.say(c.Prompt(text="again"))
    talk.agent(cost(1.75))
    talk.stops()
    assert [event.cost_usd for event in talk.of(ev.TurnEnded)] == [expected, 0.25]
    talk.end(code=0)
