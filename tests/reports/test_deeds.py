"""What a session did, summed up as it goes on."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import spent
from dragoman._reports import run_usage
from dragoman._reports.changes import changes
from dragoman._reports.deed_entries import (
    CommandDone,
    Context,
    DeedsSummary,
    End,
    ErrorDone,
    FileDone,
    PermissionDone,
    SubagentDone,
    TurnDone,
)
from dragoman._reports.deeds import Deeds
from dragoman._reports.totals import totals
from tests.golden import captures, events_of, name
from tests.growth.counting import kept

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- taken out\n+put in\n same\n"
ALL = captures()


def summed(events: Iterable[Event], run: str = "u1") -> DeedsSummary:
    deeds = Deeds()
    for event in events:
        deeds.see(event, run)
    return deeds.summary()


def test_nothing_comes_to_nothing() -> None:
    done = summed([])
    assert (done.turns, done.files, done.cost_usd, done.ended, done.usage.calls) == ([], [], None, None, 0)


def test_a_session() -> None:
    done = summed(
        [
            ev.RunStarted(seq=1),
            ev.SessionStarted(seq=2, model="nobody-knows-it"),
            ev.TurnStarted(seq=3, turn=1, prompt="fix it", agent_time="2026-11-15T20:00:00Z"),
            ev.ToolStarted(seq=4, turn=1, call_id="a", name="Bash", kind="execute", input={"command": "make test"}),
            ev.PermissionRequested(seq=5, turn=1, request_id="p", tool_name="Bash", input={"command": "make test"}),
            ev.PermissionResolved(seq=6, turn=1, request_id="p", outcome="allowed", by="policy", rule="make"),
            ev.ToolEnded(seq=7, turn=1, call_id="a", status="failed", exit_code=2, duration_ms=12.5),
            ev.ToolStarted(seq=8, turn=1, call_id="b", name="Edit", kind="edit"),
            ev.FileChanged(seq=9, turn=1, path="x", change="modified", diff=DIFF),
            ev.FileChanged(seq=10, turn=1, path="y", change="modified", diff=DIFF, phase="proposed"),
            ev.SubagentStarted(seq=11, turn=1, call_id="s", description="looks around"),
            ev.SubagentEnded(seq=12, turn=1, call_id="s", status="completed"),
            ev.UsageUpdated(seq=13, turn=1, scope="call", call="1", usage=Usage(input_tokens=5), context_used=5, context_window=9),
            ev.UsageUpdated(seq=14, turn=1, scope="call", usage=Usage(input_tokens=1), context_used=1, agent_id="s"),
            ev.Error(seq=15, turn=1, message="too many", will_retry=True),
            ev.Error(seq=16, turn=1, message="overloaded"),
            ev.TurnEnded(
                seq=17, turn=1, outcome="failed", usage=Usage(input_tokens=6, output_tokens=2), cost_usd=0.5,
                agent_time="2026-11-15T20:00:01.5Z", error=ev.ErrorInfo(message="it is overloaded"),
            ),
            ev.RunEnded(seq=18, outcome="failed", exit_code=1),
        ]
    )  # fmt: skip
    here: dict[str, Any] = {"run": "u1"}
    begun = 1794772800.0
    assert done.turns == [
        TurnDone(
            **here, seq=3, turn=1, prompt="fix it", at=begun, outcome="failed", cost_usd=0.5, duration_ms=1500,
            input_tokens=6, output_tokens=2, tools=2, errors=1,
        )
    ]  # fmt: skip
    assert done.commands == [
        CommandDone(**here, seq=4, line="make test", status="failed", exit_code=2, duration_ms=12.5)
    ]
    assert done.permissions == [
        PermissionDone(
            **here, seq=5, tool="Bash", what="make test", outcome="allowed", by="policy", rule="make"
        )
    ]
    assert done.files == [FileDone(**here, seq=9, path="x", change="modified", added=1, removed=1)]
    assert done.subagents == [
        SubagentDone(**here, seq=11, call_id="s", description="looks around", status="completed")
    ]
    assert done.errors == [ErrorDone(**here, seq=16, message="overloaded")]
    assert done.ended == End(outcome="failed", exit_code=1, reason="it is overloaded")
    assert done.context == Context(used=5, window=9)
    assert (done.usage.input_tokens, done.usage.calls, done.cost_usd) == (6, 2, 0.5)


def test_an_open_turn_is_known_call_by_call() -> None:
    """What is said again of a call takes its place; tokens and cost are of the same calls, once the turn has ended too."""
    calls = [
        ev.TurnStarted(seq=1, turn=1),
        ev.UsageUpdated(seq=2, turn=1, scope="call", call="a", usage=Usage(input_tokens=10, output_tokens=1)),
        ev.UsageUpdated(seq=3, turn=1, scope="call", call="a", usage=Usage(input_tokens=10, output_tokens=4)),
        ev.UsageUpdated(seq=4, turn=1, scope="call", call="b", usage=Usage(input_tokens=20, output_tokens=2)),
    ]
    so_far = summed(calls)
    assert (so_far.usage.input_tokens, so_far.usage.output_tokens, so_far.usage.calls) == (30, 6, 2)
    assert so_far.turns[0].outcome is None
    of_turn = ev.TurnEnded(seq=5, turn=1, outcome="completed", usage=Usage(input_tokens=20))
    for cost, tokens in ((None, 30), (0.5, 20)):
        done = summed([*calls, structs.replace(of_turn, cost_usd=cost)])
        assert (done.usage.input_tokens, done.usage.calls, done.cost_usd) == (tokens, 2, cost)
        assert done.turns[0].input_tokens == tokens


def test_what_came_later_may_be_told_first() -> None:
    """Files of subagents are read behind that of their session."""
    times = ("2026-11-15T20:00:05Z", "2026-11-15T20:00:03Z")
    [turn] = summed(
        [
            ev.TurnStarted(turn=1, agent_time=times[0]),
            ev.TurnEnded(turn=1, outcome="completed", agent_time=times[1]),
        ]
    ).turns
    assert turn.duration_ms is None


def test_unknown_costs_are_told_from_nothing() -> None:
    free = summed([ev.TurnEnded(outcome="completed", cost_usd=0.0)])
    assert (free.cost_usd, free.unpriced_calls) == (0.0, 0)
    unknown = summed(
        [ev.UsageUpdated(scope="call", model="nobody-knows-it", usage=Usage(input_tokens=1, output_tokens=1))]
    )
    assert (unknown.cost_usd, unknown.cost_estimated_usd, unknown.unpriced_calls) == (None, None, 1)


def test_runs_are_summed_and_every_entry_says_which() -> None:
    deeds = Deeds()
    for run in ("u1", "u2"):
        for event in (
            ev.RunStarted(seq=1),
            ev.TurnStarted(seq=2, turn=1),
            ev.FileChanged(
                seq=3, turn=1, path="x", change="created" if run == "u1" else "modified", diff=DIFF
            ),
            ev.TurnEnded(seq=4, turn=1, outcome="completed", cost_usd=0.25),
            ev.RunEnded(seq=5, outcome="completed", cost_usd=0.25),
        ):
            deeds.see(event, run)
    done = deeds.summary()
    assert [(turn.run, turn.cost_usd) for turn in done.turns] == [("u1", 0.25), ("u2", 0.25)]
    assert [(file.run, file.change, file.added) for file in done.files] == [("u2", "created", 2)]
    assert done.cost_usd == 0.5
    deeds.see(ev.RunStarted(seq=1), "u3")
    assert deeds.summary().ended is None


def test_a_file_that_came_and_went_is_none() -> None:
    assert summed(ev.FileChanged(path="x", change=change) for change in ("created", "deleted")).files == []  # type: ignore[arg-type]


def test_history_counts_for_nothing() -> None:
    assert summed(
        [
            ev.TurnStarted(turn=1, replay=True),
            ev.ToolStarted(call_id="a", name="Bash", kind="execute", replay=True),
            ev.FileChanged(path="x", change="created", replay=True),
        ]
    ) == summed([])


def test_a_command_that_comes_as_words_is_a_line() -> None:
    given_words = ev.ToolStarted(
        call_id="a", name="shell", kind="execute", input={"command": ["echo", "a b"]}
    )
    odd = ev.ToolStarted(
        call_id="b", name="shell", kind="execute", input={"command": ["echo", 1]}, title="Echo"
    )
    assert [command.line for command in summed([given_words, odd]).commands] == ["echo 'a b'", "Echo"]


@pytest.mark.parametrize("capture", ALL, ids=name)
def test_it_agrees_with_the_other_reports(capture: Path) -> None:
    events = events_of(capture)
    done, total = summed(events), totals(events)
    named = [(file.path, file.change, file.moved_from) for file in changes(events) if file.change != "none"]
    assert [(file.path, file.change, file.moved_from) for file in done.files] == named
    outcomes = [turn.outcome for turn in done.turns]
    assert {outcome: outcomes.count(outcome) for outcome in set(outcomes)} == total.turns
    kinds = [permission.outcome for permission in done.permissions]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == total.permissions
    assert len(done.subagents) == total.subagents
    assert len(done.commands) == sum(total.tools.get("execute", {}).values())
    assert sum(turn.tools for turn in done.turns) <= sum(sum(each.values()) for each in total.tools.values())
    assert len(done.errors) == sum(isinstance(e, ev.Error) and not (e.will_retry or e.replay) for e in events)
    assert done.ended is not None
    assert done.ended.outcome == total.outcome
    calls = {
        event.call or event.seq: event.usage
        for event in events
        if isinstance(event, ev.UsageUpdated) and event.scope == "call" and event.usage and not event.replay
    }
    assert done.usage.calls == len(calls)
    if total.cost_usd is None and calls:
        assert done.usage.input_tokens == sum(usage.input_tokens or 0 for usage in calls.values())
        assert done.usage.output_tokens == sum(usage.output_tokens or 0 for usage in calls.values())
    elif total.usage is not None:
        assert done.usage.input_tokens == (total.usage.input_tokens or 0)
        assert done.usage.output_tokens == (total.usage.output_tokens or 0)
    run = events[-1]
    assert isinstance(run, ev.RunEnded)
    if run.cost_usd is not None:
        assert (done.cost_usd, done.unpriced_calls) == (run.cost_usd, 0)
    else:
        cost = spent(events, Prices())
        assert (done.cost_usd, done.cost_estimated_usd) == (cost.reported, cost.estimated)
        assert done.unpriced_calls == cost.unpriced
    assert msgspec.json.decode(msgspec.json.encode(done), type=DeedsSummary) == done


POOL = [event for capture in ALL[::5] for event in events_of(capture)]


@given(st.integers(0, 2**40), st.integers(0, 80))
def test_any_events_in_any_order(seed: int, size: int) -> None:
    dice = random.Random(seed)
    deeds = Deeds()
    for event in dice.choices(POOL, k=size):
        deeds.see(event, dice.choice(("u1", "u2")))
    msgspec.json.encode(deeds.summary())


def flood(number: int) -> Deeds:
    deeds = Deeds()
    for n in range(number):
        for event in (
            ev.TurnStarted(seq=n, turn=n, prompt="p" * 3_000),
            ev.ToolStarted(seq=n, turn=n, call_id=f"c{n}", name="Bash", kind="execute"),
            ev.PermissionRequested(seq=n, request_id=f"p{n}"),
            ev.FileChanged(seq=n, path=f"f{n}", change="created"),
            ev.SubagentStarted(seq=n, call_id=f"s{n}"),
            ev.Error(seq=n, message="m" * 3_000),
            ev.UsageUpdated(seq=n, scope="call", call=f"u{n}", usage=Usage(input_tokens=1)),
        ):
            deeds.see(event)
    return deeds


def test_what_is_too_much_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_usage, "MOST", 50)
    monkeypatch.setattr("dragoman._reports.deeds.MOST", 50)
    done = flood(60).summary()
    assert done.more == {"turns": 10, "files": 10, "commands": 10, "subagents": 10, "errors": 10}
    assert [len(entries) for entries in (done.turns, done.files, done.commands, done.errors)] == [50] * 4
    assert {len(turn.prompt or "") for turn in done.turns} == {2_000}
    assert done.usage.calls == 60
    assert kept(lambda: flood(600)) < 1.5 * kept(lambda: flood(300))
