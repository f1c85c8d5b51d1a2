"""What a scripted model served, call by call: the truth that an agent's usage is held against."""

from collections import Counter
from typing import NamedTuple

from dragoman.testing import Request, Scenario, Thinking, Turn
from dragoman.testing._scripted_model.script import as_turn
from tests.real.driving import Pinned
from tests.real.usage_stories import CUT

NEVER_WRITTEN: dict[tuple[str, str], str] = {
    ("claude", "side"): "titles",
    ("claude", "search"): "web search",
    ("claude", "compact"): "compaction",
    ("gemini", "side"): "its own requests",
    ("gemini", "compact"): "summaries",
}
"""Whose calls no file of the agent tells of, by the route that the scripted model answered them on, and the word by which
`usage` says so: requests without tools, such as that for a title, leave no line; nor does a search on the API's side;
of the summary that replaces a conversation the text is there, and its cost in Claude's cost-state alone."""

INTERRUPTED = "interrupted"
"""The word by which `usage` says that the rest of an answer is missing."""

FIRST_TOKEN = {"claude": 1}
"""What is written of the length of an answer that was cut off, by agents that write such a call at all: what the API said
when the answer began."""


class Call(NamedTuple):
    """A call of the model: the columns of `model_call` that are called so."""

    model: str | None
    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None


class Served(NamedTuple):
    calls: Counter[Call]
    """What the agent writes down: answers that the model gave to the end, and of others as much as is known."""
    unwritten: set[str]
    """The words for what it does not."""


def served(model: Scenario, agent: Pinned) -> Served:
    played: Counter[str] = Counter()
    calls: Counter[Call] = Counter()
    unwritten: set[str] = set()
    for request in model.requests:
        number, route = played[request.route], request.route
        played[route] += 1
        if (agent.name, route) in NEVER_WRITTEN:
            unwritten.add(NEVER_WRITTEN[agent.name, route])
            continue
        steps = {"main": model.script.turns, "compact": model.script.compact, **model.script.routes}[route]
        step = steps[number]
        answer = as_turn(step(request)) if callable(step) else step
        if answer.hold is not None and answer.hold.gate == CUT:
            unwritten.add(INTERRUPTED)
            if agent.name in FIRST_TOKEN:
                calls[_call(request, answer, agent)._replace(output=FIRST_TOKEN[agent.name])] += 1
        elif answer.error is None:
            calls[_call(request, answer, agent)] += 1
    return Served(calls, unwritten)


def _call(request: Request, answer: Turn, agent: Pinned) -> Call:
    usage = answer.usage
    thought = sum(len(block.text.split()) for block in answer.content if isinstance(block, Thinking))
    return Call(
        answer.model or request.model,
        usage.input + usage.cache_read + usage.cache_write,
        usage.cache_read,
        usage.cache_write if _tells_cache_writes(agent) else None,
        usage.output + (thought if agent.name == "gemini" else 0),
    )


def _tells_cache_writes(agent: Pinned) -> bool:
    """Else they are in the input alone."""
    return agent.name != "gemini" and not agent.differs("cache_writes_are_not_told")
