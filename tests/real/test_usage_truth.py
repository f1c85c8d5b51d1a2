"""What an agent writes down of the model's calls, against what the model served: every call once, to the token, as
`dragoman usage` counts all the files of its sessions, and under the same key on the wire."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner

from dragoman import Event, UsageUpdated
from dragoman._cli import cli
from dragoman._contract.invariants import broken
from dragoman._library import sessions
from dragoman._library.library import Library
from dragoman.testing import ScriptedModel
from tests.real.driving import Pinned, Watched
from tests.real.served_calls import Call, served
from tests.real.usage_stories import STORIES

pytestmark = pytest.mark.anyio

COSTS = {"cost_usd", "cost_estimated_usd"}
PAID_BY_THE_CALL = {"tools", "resume", "forks", "subagent", "subagent_in_background", "another_model"}
"""The stories in which all that was paid for is written down as calls: then the table of prices and what the agent says
when it runs come to the same cost. Elsewhere it paid for more (a compaction, a search) than the calls that it keeps."""
TOKENS = ("input", "cache_read", "cache_write", "output")


def dragoman(agent: Pinned, *arguments: object) -> Any:
    """What a command prints that is called at the agent's home."""
    env = dict.fromkeys(
        ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "DRAGOMAN_LIBRARY")
    )
    done = CliRunner(env=env | {"HOME": str(agent.home)}).invoke(cli, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def without_costs(report: Any) -> Any:
    """A report of usage, without what a recording may say otherwise: what calls cost, in the agent's own words."""
    rows = [{name: row[name] for name in row.keys() - COSTS} for row in [report["totals"], *report["rows"]]]
    return {**report, "totals": rows[0], "rows": rows[1:], "prices_of": None}


def cost_of(report: Any) -> float:
    return sum(report["totals"][name] or 0.0 for name in COSTS)


@contextmanager
def library_of(agent: Pinned) -> Iterator[Library]:
    """The one that was made at the agent's home."""
    with Library(agent.home / ".local/share/dragoman/library.db") as library:
        yield library


def counted(agent: Pinned) -> Counter[Call]:
    """The calls that the library has, one by one."""
    with library_of(agent) as library:
        return Counter(
            Call(*row) for row in library.db.rows(f"SELECT {', '.join(Call._fields)} FROM model_call")
        )


def read(agent: Pinned) -> list[Event]:
    """The events of all files, of which what always holds, holds."""
    found: list[Event] = []
    with library_of(agent) as library:
        for (unit,) in library.db.rows("SELECT id FROM unit ORDER BY id"):
            events = list(sessions.events(library.db, unit))
            assert broken(events) == []
            found += events
    return found


def told(runs: Iterable[Watched]) -> dict[str, UsageUpdated]:
    """The calls that were told of while the agent ran, by their keys; one that is said again is the one with the greater
    counts."""
    found: dict[str, UsageUpdated] = {}
    for event in _own(event for run in runs for event in run.events):
        assert event.call is not None
        known = found.get(event.call)
        if known is None or _output(event) > _output(known):
            found[event.call] = event
    return found


def _own(events: Iterable[Event]) -> Iterable[UsageUpdated]:
    return (
        event
        for event in events
        if isinstance(event, UsageUpdated) and event.scope == "call" and not event.replay
    )


def _output(event: UsageUpdated) -> int:
    assert event.usage is not None
    return event.usage.output_tokens or 0


def agrees_with_wire(agent: Pinned, runs: Sequence[Watched]) -> None:
    """Where the wire tells of a call, it is one of the files', of the same model and size; the wire may not know yet how
    long the answer will be."""
    with library_of(agent) as library:
        rows = library.db.rows("SELECT key, model, input, output FROM model_call")
    on_disk = {key: rest for key, *rest in rows}
    for key, event in told(runs).items():
        model, input, output = on_disk[key]
        assert event.usage is not None
        assert (event.model, event.usage.input_tokens) == (model, input)
        assert event.usage.output_tokens in (None, output)


@pytest.mark.parametrize("story", STORIES)
async def test_every_call_is_counted_once(actor: Pinned, story: str) -> None:
    play, lines, agents = STORIES[story]
    if actor.name not in agents:
        pytest.skip(f"{actor.name} cannot do it")
    with ScriptedModel(lines(actor)) as model:
        runs = await play(actor, model)
        truth = served(model, actor)
    dragoman(actor, "sync")
    report = dragoman(actor, "usage", "--by", "model")
    assert counted(actor) == truth.calls
    assert report["totals"]["calls"] == truth.calls.total()
    for name in TOKENS:
        served_tokens = sum(getattr(call, name) or 0 for call in truth.calls.elements())
        assert report["totals"][f"{name}_tokens"] == served_tokens, name
    [unwritten] = [each["why"] for each in report["incomplete"] if each.get("agent") == actor.name]
    assert [word for word in truth.unwritten if word not in unwritten] == []
    agrees_with_wire(actor, runs)
    own = {event.call for event in _own(read(actor)) if event.agent_id is not None}
    assert len(own) == len(model.requests_of("count"))
    if story == "another_model":
        assert len(report["rows"]) == 2
    dragoman(actor, "sync", actor.home.parent)  # the recordings of the same runs: no token comes to it
    again = dragoman(actor, "usage", "--by", "model")
    assert without_costs(again) == without_costs(report)
    if story in PAID_BY_THE_CALL:
        assert cost_of(again) == pytest.approx(cost_of(report))
