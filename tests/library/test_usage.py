"""Calls are counted once, whoever wrote them down how often and in whatever order files come."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman._library.library import Library
from dragoman._library.sessions import Filter
from dragoman._library.usage import UsageReport, of_sessions, usage
from dragoman._prices.estimate import Prices

ONE, TWO = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Days are those of whoever looks: here of somebody in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def report(library: Library, **wanted: Any) -> UsageReport:
    by = wanted.pop("by", "session")
    return usage(library.db, Filter(**wanted), by, Prices())


def written(path: Path, lines: list[dict[str, Any]], changed: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    os.utime(path, (changed, changed))
    return path


# --- Claude Code: a message in several lines, a subagent's file that repeats one, and a fork that copies all ------


def _answer(session: str, id: str, request: str, output: int, day: int, **more: Any) -> dict[str, Any]:
    counts = {"input_tokens": 10, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1_000}
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": id}],
    }
    return {
        "type": "assistant", "sessionId": session, "uuid": f"{session[:8]}-{id}-{output}", "requestId": request,
        "timestamp": f"2026-11-{day:02}T12:00:00Z", "cwd": "/repo", "version": "2.1.325", "isSidechain": False,
        "message": message | {"usage": counts | {"output_tokens": output}},
    } | more  # fmt: skip


def _prompt(session: str, day: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "user", "sessionId": session, "uuid": f"{session[:8]}-prompt-{day}", "cwd": "/repo", "version": "2.1.325",
        "timestamp": f"2026-11-{day:02}T11:59:00Z", "message": {"role": "user", "content": "go"}, "isSidechain": False,
    } | more  # fmt: skip


def _history(session: str) -> list[dict[str, Any]]:
    return [
        _prompt(session, 1),
        _answer(session, "m1", "r1", 5, 1),
        _answer(session, "m1", "r1", 631, 1),
        _answer(session, "m2", "r2", 20, 1),
    ]


def claude(home: Path) -> list[Path]:
    project = home / ".claude/projects/-repo"
    aside = {"isSidechain": True, "agentId": "abc"}
    return [
        written(project / f"{ONE}.jsonl", _history(ONE), 1_000),
        written(
            project / ONE / "subagents/agent-abc.jsonl",
            [_prompt(ONE, 1, **aside), _answer(ONE, "m3", "r3", 40, 1, **aside), _answer(ONE, "m2", "other", 20, 1, **aside)],
            1_001,
        ),
        written(project / f"{TWO}.jsonl", [*_history(TWO), _prompt(TWO, 2), _answer(TWO, "m4", "r4", 7, 2)], 2_000),
    ]  # fmt: skip


def test_a_subagent_and_a_fork(library: Library, home: Path) -> None:
    claude(home)
    library.sync()
    totals = report(library).totals
    assert (totals.calls, totals.output_tokens, totals.sessions) == (4, 698, 2)
    assert (totals.cache_write_tokens, totals.cache_read_tokens) == (400, 4_000)
    assert totals.input_tokens == 40 + 400 + 4_000
    days = {row.key: row.output_tokens for row in report(library, by="day").rows}
    assert days == {"2026-11-01": 691, "2026-11-02": 7}
    owned = {row.key: row.output_tokens for row in report(library).rows}
    sessions = {session.id: session.native_id for session in library.sessions()}
    assert {sessions[id]: output for id, output in owned.items()} == {ONE: 691, TWO: 7}


@pytest.mark.parametrize("first", [ONE, TWO])
def test_a_session_that_goes_on_after_its_fork_keeps_what_is_its_own(
    first: str, library: Library, home: Path
) -> None:
    """A fork of `claude -p` names no origin; but it begins with a time of its own, before what it copies. And what the
    older turns cost is not that of the newer."""
    project = home / ".claude/projects/-repo"
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": TWO, "content": "go"}
    queued["timestamp"] = "2026-11-02T11:58:00Z"
    paid = {
        "inputTokens": 20,
        "outputTokens": 651,
        "cacheReadInputTokens": 2_000,
        "cacheCreationInputTokens": 200,
    }
    total = paid | {
        "inputTokens": 30,
        "outputTokens": 660,
        "cacheReadInputTokens": 3_000,
        "cacheCreationInputTokens": 300,
    }
    state = {"type": "cost-state", "sessionId": ONE, "timestamp": "2026-11-01T13:00:00Z"}
    written(
        project / f"{ONE}.jsonl",
        [
            *_history(ONE),
            state | {"totalCostUSD": 3.0, "modelUsage": {"claude-opus-5-5": paid}},
            _prompt(ONE, 3),
            _answer(ONE, "m5", "r5", 9, 3),
            state | {"totalCostUSD": 3.5, "modelUsage": {"claude-opus-5-5": total}},
        ],
        3_000,
    )
    written(
        project / f"{TWO}.jsonl",
        [queued, *_history(TWO), _prompt(TWO, 2), _answer(TWO, "m4", "r4", 7, 2)],
        2_000,
    )
    later = project / f"{TWO if first == ONE else ONE}.jsonl"
    aside = later.rename(later.with_suffix(".later"))
    library.sync()
    aside.rename(later)
    library.sync()
    sessions = {session.native_id: session for session in library.sessions()}
    assert (sessions[ONE].parent, sessions[ONE].relation) == (None, None)
    assert (sessions[TWO].parent, sessions[TWO].relation) == (sessions[ONE].id, "fork")
    found = {row.key: row for row in report(library).rows}
    one, two = found[sessions[ONE].id], found[sessions[TWO].id]
    assert (one.calls, one.output_tokens, one.cost_usd) == (3, 660, 3.5)
    assert (two.calls, two.output_tokens, two.cost_usd) == (1, 7, None)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_in_whatever_order_files_come(order: tuple[int, ...], library: Library, home: Path) -> None:
    """And if what was copied comes first, it is the other's once that is there."""
    files = claude(home)
    groups = [files[:2], files[2:]]
    for group in groups:
        for path in group:
            path.rename(path.with_suffix(".later"))
    for n in order:
        for path in groups[n]:
            path.with_suffix(".later").rename(path)
        library.sync()
    assert report(library).totals.output_tokens == 698
    before = report(library)
    library.rebuild()
    assert report(library) == before


def test_forgetting_the_owner_leaves_the_copy(library: Library, home: Path) -> None:
    claude(home)
    library.sync()
    library.forget(library.session(ONE))
    assert report(library).totals.output_tokens == 631 + 20 + 7


def test_one_id_of_two_requests_is_two_calls(library: Library, home: Path) -> None:
    """A gateway may number messages anew in every session; a resumed copy has the request's id as well."""
    project = home / ".claude/projects/-repo"
    for session, request in ((ONE, "a"), (TWO, "b")):
        written(
            project / f"{session}.jsonl", [_prompt(session, 1), _answer(session, "m1", request, 9, 1)], 1_000
        )
    library.sync()
    assert (report(library).totals.calls, report(library).totals.output_tokens) == (2, 18)


# --- agents that tell of turns only -------------------------------------------------------------------------------


def _exec(thread: str, output: int) -> str:
    lines = [
        {"type": "thread.started", "thread_id": thread},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "done"}},
        {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": output}},
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_turn_stands_for_its_calls_until_these_are_known(library: Library, home: Path) -> None:
    """codex exec prints sums of turns; the rollout of the same thread has the calls."""
    printed = home / "kept/stdout.jsonl"
    printed.parent.mkdir()
    printed.write_text(_exec(ONE, 30))
    library.sync([printed.parent])
    told = report(library)
    assert (told.totals.calls, told.totals.output_tokens) == (1, 30)
    assert [each.why for each in told.incomplete if each.session] == [
        "its agent tells of turns, not of calls"
    ]
    counts = {
        "input_tokens": 50,
        "cached_input_tokens": 0,
        "output_tokens": 10,
        "reasoning_output_tokens": 0,
        "total_tokens": 60,
    }
    rollout = [
        {"type": "session_meta", "payload": {"id": ONE, "timestamp": "2026-11-01T12:00:00Z", "cwd": "/repo", "cli_version": "0.135.0"}},
        {"type": "turn_context", "payload": {"turn_id": "t1", "model": "gpt-5.5", "cwd": "/repo"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "go"}},
        *(
            {"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": counts, "total_token_usage": {k: v * n for k, v in counts.items()}}}}
            for n in (1, 1, 2)
        ),
    ]  # fmt: skip
    stamped = [{"timestamp": "2026-11-01T12:00:00Z", **line} for line in rollout]
    written(home / f".codex/sessions/2026/11/01/rollout-2026-11-01T12-00-00-{ONE}.jsonl", stamped, 1_000)
    library.sync()
    assert (report(library).totals.calls, report(library).totals.output_tokens) == (2, 20)
    [session] = library.sessions()
    assert of_sessions(library.db, [session.id], Prices())[session.id].output_tokens == 20


# --- prices -------------------------------------------------------------------------------------------------------


def test_what_has_no_price_is_listed_and_costs_nothing(library: Library, home: Path) -> None:
    lines = [_prompt(ONE, 1), _answer(ONE, "m1", "r1", 9, 1), _answer(ONE, "m2", "r2", 9, 1)]
    lines[2]["message"]["model"] = "nobody-knows"
    written(home / f".claude/projects/-repo/{ONE}.jsonl", lines, 1_000)
    library.sync()
    told = report(library, by="model")
    assert [(each.model, each.calls) for each in told.unpriced] == [("nobody-knows", 1)]
    rows = {row.key: row for row in told.rows}
    assert rows["nobody-knows"].cost_estimated_usd is None
    assert told.totals.unpriced_calls == 1
    assert told.totals.cost_usd is None
    assert told.totals.cost_estimated_usd == rows["claude-opus-5-5"].cost_estimated_usd
    assert (told.totals.cost_estimated_usd or 0) > 0


def test_a_part_of_it(library: Library, home: Path) -> None:
    claude(home)
    library.sync()
    assert report(library, agents=("codex",)).totals.calls == 0
    assert report(library, folder="/repo").totals.calls == 4
    assert report(library, folder="/rep").totals.calls == 0
    later = 1_793_577_600.0  # 2026-11-02 in UTC
    assert report(library, since=later).totals.output_tokens == 7
    assert report(library, until=later).totals.output_tokens == 691
