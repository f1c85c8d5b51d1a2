"""What a run came to, in numbers."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import ModelUsage, Usage
from dragoman._reports.totals import Totals, totals


def turn(outcome: ev.TurnOutcome = "completed", **fields: Any) -> ev.TurnEnded:
    return ev.TurnEnded(outcome=outcome, **fields)


def test_nothing_comes_to_nothing() -> None:
    assert totals([]) == Totals()


def test_turns_are_added_up() -> None:
    total = totals(
        [
            turn(
                usage=Usage(input_tokens=10, output_tokens=2),
                model_usage={"opus": ModelUsage(input_tokens=10, output_tokens=2, cost_usd=0.5, context_window=200)},
                cost_usd=0.5, duration_ms=100.0, api_duration_ms=80.0, steps=2,
            ),
            turn("failed", usage=Usage(input_tokens=5, reasoning_tokens=1), cost_usd=0.25, duration_ms=50.0, steps=1,
                 model_usage={"opus": ModelUsage(input_tokens=5, cost_usd=0.25), "haiku": ModelUsage(output_tokens=1)}),
            turn("failed"),
        ]
    )  # fmt: skip
    # A subagent of another model is in the cost, so it is in the tokens.
    assert total.usage == Usage(input_tokens=15, output_tokens=3)
    assert total.models == {
        "opus": ModelUsage(input_tokens=15, output_tokens=2, cost_usd=0.75, context_window=200),
        "haiku": ModelUsage(output_tokens=1),
    }
    assert total.cost_usd == 0.75
    assert total.turns == {"completed": 1, "failed": 2}
    assert (total.steps, total.duration_ms, total.api_duration_ms) == (3, 150.0, 80.0)


def test_a_turn_of_unknown_cost_leaves_none_for_the_whole() -> None:
    """Else the dollars were those of fewer calls than the tokens."""
    spent = Usage(input_tokens=10)
    total = totals([turn(usage=spent, cost_usd=0.5), turn(usage=spent)])
    assert (total.usage, total.cost_usd) == (Usage(input_tokens=20), None)
    assert totals([turn(usage=spent, cost_usd=0.5), turn("failed")]).cost_usd == 0.5


def test_the_cost_of_a_session_is_not_that_of_its_turns() -> None:
    """A Claude session's own total has its subagents in it, and the tokens of its turns have not."""
    told = ev.UsageUpdated(scope="session", session="s", usage=Usage(input_tokens=90), cost_usd=0.9)
    total = totals([turn(usage=Usage(input_tokens=10)), told])
    assert (total.usage, total.cost_usd) == (Usage(input_tokens=10), None)


def test_unknown_is_absent_and_free_is_zero() -> None:
    assert totals([turn()]).cost_usd is None
    assert totals([turn(cost_usd=0.0)]).cost_usd == 0.0


def test_where_no_turn_says_so_the_last_word_on_each_session_stands() -> None:
    def told(session: str, tokens: int, cost: float, scope: str = "session") -> ev.UsageUpdated:
        return ev.UsageUpdated(scope=scope, session=session, usage=Usage(input_tokens=tokens), cost_usd=cost)  # type: ignore[arg-type]

    told_only = [
        told("a", 10, 0.1),
        told("a", 30, 0.5),
        told("b", 5, 0.25),
        told("b", 99, 9.0, "turn"),
        turn(),
    ]
    assert totals(told_only).usage == Usage(input_tokens=35)
    assert totals(told_only).cost_usd == 0.75
    assert totals([*told_only, turn(cost_usd=1.0, usage=Usage(input_tokens=1))]).cost_usd == 1.0


def test_tools_by_kind_and_status() -> None:
    total = totals(
        [
            ev.ToolStarted(call_id="a", name="Bash", kind="execute"),
            ev.ToolStarted(call_id="b", name="Read", kind="read"),
            ev.ToolStarted(call_id="a", name="Read", kind="read", session="s2"),
            ev.ToolEnded(call_id="b", status="completed"),
            ev.ToolEnded(call_id="a", status="declined"),
            ev.ToolEnded(call_id="a", status="completed", session="s2"),
        ]
    )
    assert total.tools == {"read": {"completed": 2}, "execute": {"declined": 1}}
    assert total.sessions == ["s2"]


def test_the_rest_is_counted() -> None:
    total = totals(
        [
            ev.PermissionResolved(request_id="r", outcome="denied"),
            ev.SubagentStarted(call_id="c"),
            ev.FileChanged(path="a", change="created"),
            ev.FileChanged(path="a", change="modified"),
            ev.FileChanged(path="b", change="modified", phase="proposed"),
            ev.Error(message="x"),
            ev.Retry(),
            ev.ContextCompacted(),
            ev.NativeUnknown(),
            ev.NativeInvalid(),
            ev.RunEnded(outcome="limited", at=2.5),
        ]
    )
    assert total.permissions == {"denied": 1}
    assert (total.subagents, total.files, total.errors, total.retries) == (1, 1, 1, 1)
    assert (total.compactions, total.unknown) == (1, 2)
    assert (total.outcome, total.elapsed) == ("limited", 2.5)


def test_history_counts_for_nothing() -> None:
    old: list[Event] = [
        ev.ToolStarted(call_id="a", name="Bash", replay=True),
        ev.ToolEnded(call_id="a", status="completed", replay=True),
        ev.FileChanged(path="a", change="created", replay=True),
    ]
    assert totals(old) == Totals()


@given(st.lists(st.integers(0, 10**9)), st.lists(st.integers(0, 10**9)))
def test_two_runs_together_are_the_sum_of_both(first: list[int], second: list[int]) -> None:
    def events(counts: list[int]) -> list[ev.TurnEnded]:
        return [turn(usage=Usage(input_tokens=count)) for count in counts]

    def tokens(counts: list[int]) -> int:
        usage = totals(events(counts)).usage
        return (usage.input_tokens or 0) if usage else 0

    assert tokens(first + second) == tokens(first) + tokens(second) == sum(first + second)


def test_events_are_left_as_they_were() -> None:
    one = turn(usage=Usage(input_tokens=1), model_usage={"m": ModelUsage(input_tokens=1)})
    totals([one, one])
    assert one == turn(usage=Usage(input_tokens=1), model_usage={"m": ModelUsage(input_tokens=1)})
