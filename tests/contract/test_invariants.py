"""Each rule holds on a sound stream, and is shown to fail on one that breaks it."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._contract.invariants import Invariants, broken
from dragoman._model import events as ev
from dragoman._model.events import Event

S = "s1"


def stream(*middle: Event, outcome: ev.RunOutcome = "completed", code: int | None = 0) -> list[Event]:
    """A run with `middle` in it: seq, session and turn are filled in where a test does not set them."""
    events: list[Event] = [ev.RunStarted(), *middle, ev.RunEnded(outcome=outcome, exit_code=code)]
    turns: dict[str | None, int] = {}
    count = 0
    for seq, event in enumerate(events, 1):
        event.seq = event.seq or seq
        if seq > 1 and event.session is None:
            event.session = S
        if isinstance(event, ev.TurnStarted):
            count += 1
            turns[event.session] = count
        event.turn = event.turn or turns.get(event.session, 0)
    return events


def start(**fields: Any) -> ev.TurnStarted:
    return ev.TurnStarted(**fields)


def end(outcome: ev.TurnOutcome = "completed", **fields: Any) -> ev.TurnEnded:
    return ev.TurnEnded(outcome=outcome, **fields)


def tool(call_id: str = "c", **fields: Any) -> ev.ToolStarted:
    return ev.ToolStarted(call_id=call_id, name="Bash", **fields)


def done(call_id: str = "c", **fields: Any) -> ev.ToolEnded:
    return ev.ToolEnded(call_id=call_id, status="completed", **fields)


def delta(text: str, message_id: str | None = "m", block: int | None = 0, **fields: Any) -> ev.Delta:
    return ev.Delta(text=text, message_id=message_id, block=block, **fields)


def said(text: str, message_id: str | None = "m", block: int | None = 0, **fields: Any) -> ev.Message:
    return ev.Message(role="assistant", text=text, message_id=message_id, block=block, **fields)


def asked(request: str = "r") -> ev.PermissionRequested:
    return ev.PermissionRequested(request_id=request)


def resolved(request: str = "r") -> ev.PermissionResolved:
    return ev.PermissionResolved(request_id=request, outcome="allowed")


def prompted(text: str, message_id: str) -> list[Event]:
    """The client's prompt opens a turn."""
    said = ev.Message(role="user", text=text, message_id=message_id, origin="client", frame=1)
    return [start(prompt=text, origin="client", frame=1), said]


def out(frame: int, **fields: Any) -> ev.NativeKnown:
    return ev.NativeKnown(frame=frame, origin="agent", **fields)


SOUND: dict[str, list[Event]] = {
    "nothing": stream(),
    "a turn": stream(start(), end()),
    "turns of two sessions overlap": stream(start(), start(session="s2"), end(), end(session="s2")),
    "a failed turn, a failed run": stream(start(), end("failed"), outcome="failed", code=0),
    "refused counts as failed": stream(start(), end("refused"), outcome="failed", code=0),
    "a time limit whatever the turn": stream(start(), end("cancelled"), outcome="timeout"),
    "no turn and no known exit": stream(outcome="truncated", code=None),
    "tools in parallel": stream(start(), tool("a"), tool("b"), done("b"), done("a"), end()),
    "a tool that outlives its turn": stream(start(), tool(), end(), done()),
    "the same call replayed and live": stream(tool(replay=True), done(replay=True), start(), tool(), done(), end()),
    "late update": stream(start(), tool(), ev.ToolUpdated(call_id="c"), done(), ev.ToolUpdated(call_id="c", late=True), end()),
    "deltas and their message": stream(start(), delta("a"), delta("b"), said("ab"), end()),
    "a message without deltas": stream(start(), said("ab"), end()),
    "blocks without ids, one after the other": stream(
        start(), delta("a", None, None), said("a", None, None), delta("b", None, None), said("b", None, None), end()
    ),
    "blocks of two kinds side by side": stream(
        start(), delta("t", kind="thinking"), delta("a"), said("t", kind="thinking"), said("a"), end()
    ),
    "commentary is text": stream(start(), delta("a"), said("a", kind="commentary"), end()),
    "tool input needs no message": stream(start(), tool(), delta('{"a', kind="tool_input", call_id="c"), done(), end()),
    "a retry discards": stream(start(), delta("a"), ev.Retry(discards=["m"]), delta("b", "n"), said("b", "n"), end()),
    "a request asked anew once answered": stream(start(), asked(), resolved(), asked(), resolved(), end()),
    "a subagent": stream(start(), ev.SubagentStarted(call_id="c"), ev.SubagentEnded(call_id="c"), end()),
    "a session that gets its name late": [
        ev.RunStarted(seq=1),
        ev.TurnStarted(seq=2, turn=1),
        ev.ToolStarted(seq=3, turn=1, call_id="c", name="Bash"),
        ev.PermissionRequested(seq=4, turn=1, request_id="r", call_id="c"),
        ev.Delta(seq=5, turn=1, text="a"),
        ev.SessionStarted(seq=6, turn=1, session=S),
        ev.Message(seq=7, turn=1, session=S, role="assistant", text="a"),
        ev.PermissionResolved(seq=8, turn=1, session=S, request_id="r", outcome="allowed"),
        ev.ToolEnded(seq=9, turn=1, session=S, call_id="c", status="completed"),
        ev.TurnEnded(seq=10, turn=1, session=S, outcome="completed"),
        ev.RunEnded(seq=11, turn=1, session=S, outcome="completed"),
    ],
    "a turn that took its prompt, and more": stream(*prompted("p", "m1"), end(message_ids=["m0", "m1"])),
    "a turn that the agent began for a message": stream(start(prompt="p"), end(message_ids=["m1"])),
    "native lines": stream(out(1, line="x"), out(1), out(2, line_b64="/w==", eol=False)),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_sound_streams_break_nothing(name: str) -> None:
    assert broken(SOUND[name]) == []


def without(events: list[Event], *places: int) -> list[Event]:
    return [event for place, event in enumerate(events) if place not in places]


BROKEN: dict[str, tuple[list[Event], str]] = {
    # 1. the run
    "no run.started": (without(stream(), 0), "event 2: run.started must come first"),
    "a second run.started": (stream(ev.RunStarted()), "event 2: run.started must come first and only once"),
    "no run.ended": (without(stream(), 1), "at the end: there is no run.ended"),
    "a second run.ended": (stream(ev.RunEnded(outcome="completed", exit_code=0)), "event 3: run.ended comes after run.ended"),
    "an event after the end": ([*stream(), ev.Notice(seq=3, session=S)], "event 3: notice comes after run.ended"),
    "a gap in seq": (stream(ev.Notice(seq=5)), "event 5: seq is 5, not 2"),
    "a seq twice": (stream(ev.Notice(), ev.Notice(seq=2)), "event 2: seq is 2, not 3"),
    "a session twice": (stream(ev.SessionStarted(), ev.SessionStarted()), "event 3: session s1 starts a second time"),
    "an outcome unlike the last turn's": (stream(start(), end("failed")), "event 4: run.ended is completed, but the last turn was failed"),
    "exit 0 without a turn": (stream(outcome="failed"), "event 2: run.ended is failed, but no turn began and it exited 0"),
    # 2. frames
    "a frame that an event of ours names": (stream(ev.Notice(frame=1)), "event 2: its origin is dragoman, its frame 1"),
    "an agent's event without a frame": (stream(ev.Notice(origin="agent")), "event 2: its origin is agent, its frame None"),
    "a line given twice": (stream(out(1, line="x"), out(1, line="x")), "event 3: it carries the line of frame 1 again"),
    "a line forgotten": (stream(out(1, line="x"), out(2)), "event 3: it is the first of frame 2 and lacks its line"),
    "a line too many": (stream(out(1), out(2, line="x")), "event 3: it is the first of frame 2 and carries its line"),
    "a line as text and base64": (stream(out(1, line="x", line_b64="eA==")), "event 2: it carries its line twice"),
    "a client's line": (stream(ev.Notice(frame=1, origin="client", line="x")), "event 2: it carries a line that the agent did not"),
    "no newline, no line": (stream(out(1, eol=False)), "event 2: it lacks a newline at the end of no line"),
    # 3. tools
    "a tool without an end": (stream(start(), tool(), end()), "at the end: tool c, begun by event 3, has no tool.ended"),
    "a tool without a start": (stream(start(), done(), end()), "event 3: tool.ended of tool c comes before its tool.started"),
    "an update without a start": (stream(start(), ev.ToolUpdated(call_id="c"), end()), "event 3: tool.updated of tool c comes before"),
    "a tool started twice": (stream(start(), tool(), tool(), done(), end()), "event 4: tool c starts a second time"),
    "a tool ended twice": (stream(start(), tool(), done(), done(), end()), "event 5: tool c ends a second time"),
    "a tool ended in another session": (stream(start(), tool(), done(session="s2", turn=0), end()), "event 4: tool.ended of tool c comes before"),
    "a replayed tool ended live": (stream(start(), tool(replay=True), done(), end()), "event 4: tool.ended of tool c comes before"),
    "late, but it is not": (stream(start(), tool(), ev.ToolUpdated(call_id="c", late=True), done(), end()), "event 4: tool.updated of tool c is not late"),
    "not late, but it is": (stream(start(), tool(), done(), ev.ToolUpdated(call_id="c"), end()), "event 5: tool.updated of tool c is late"),
    "a tool open at turn end, in ACP": (stream(start(), tool(), end(dialect="acp"), done()), "event 4: turn 1 ends while tool c is open"),
    "a subagent without an end": (stream(ev.SubagentStarted(call_id="c")), "at the end: subagent c, begun by event 2, has no subagent.ended"),
    "a subagent without a start": (stream(ev.SubagentEnded(agent_id="a")), "event 2: subagent a ends before it started"),
    "a subagent started twice": (stream(ev.SubagentStarted(call_id="c"), ev.SubagentStarted(call_id="c")), "event 3: subagent c starts a second"),
    "a subagent ended twice": (
        stream(ev.SubagentStarted(call_id="c"), ev.SubagentEnded(call_id="c"), ev.SubagentEnded(call_id="c")),
        "event 4: subagent c ends a second time",
    ),
    # 4. requests and turns
    "a permission never resolved": (stream(asked()), "at the end: permission.requested r, event 2, has no answer"),
    "a question never answered": (stream(ev.QuestionAsked(request_id="q")), "at the end: question.asked q, event 2, has no answer"),
    "a host call never answered": (stream(ev.HostCalled(request_id="h", method="m")), "at the end: host.called h, event 2, has no"),
    "an answer to nothing": (stream(resolved()), "event 2: permission.resolved answers request r, which is not pending"),
    "an answer twice": (stream(asked(), resolved(), resolved()), "event 4: permission.resolved answers request r, which is not pending"),
    "asked twice": (stream(asked(), asked(), resolved()), "event 3: request r is asked again while it is pending"),
    "an answer of another kind": (
        stream(asked(), ev.HostAnswered(request_id="r")),
        "event 3: request r is a permission.requested, but host.answered answers it",
    ),
    "pending at turn end": (stream(start(), asked(), end(), resolved()), "event 4: turn 1 ends while request r is pending"),
    "a turn without an end": (stream(start()), "at the end: turn 1 has no turn.ended"),
    "a turn without a start": (stream(end()), "event 2: turn 0 ends, but no turn of its session is open"),
    "a turn that answers another prompt": (
        stream(*prompted("p", "m1"), end(message_ids=["m0"])),
        "event 4: turn 1 began with message m1, but took others: m0",
    ),
    "a turn ended twice": (stream(start(), end(), end()), "event 4: turn 1 ends, but no turn of its session is open"),
    "two turns at once": (stream(start(), start(), end()), "event 3: turn 2 starts while turn 1 of the session is open"),
    "a turn misnumbered": (stream(start(turn=2), end(turn=2)), "event 2: turn.started has number 2, not 1"),
    "an event in another turn": (stream(start(), end(), ev.Notice(turn=7)), "event 4: notice says turn 7, but its session is in turn 1"),
    "a turn that cost less than nothing": (stream(start(), end(cost_usd=-0.5)), "event 3: turn 1 cost less than nothing: -0.5"),
    # 5. text
    "deltas without a message": (stream(delta("a")), "at the end: the text block m/0, begun by event 2, has deltas but no message"),
    "a block open at turn end": (stream(start(), delta("a"), end(), said("a")), "event 4: turn 1 ends while the text block m/0 has"),
    "a message unlike its deltas": (
        stream(delta("ab"), delta("c"), said("abd")),
        "event 4: the message of the text block m/0 has 3 characters and its deltas 3; they differ at 2: 'd', 'c'",
    ),
    "a message shorter than its deltas": (stream(delta("abc"), said("ab")), "differ at 2: '', 'c'"),
    "a message of another kind": (stream(delta("a", kind="thinking"), said("a")), "at the end: the thinking block m/0, begun by event 2"),
    "a message of another subagent": (stream(delta("a", parent="c"), said("a")), "at the end: the text block m/0 in c, begun by event 2"),
    "a retry that discards another": (stream(delta("a"), ev.Retry(discards=["n"])), "at the end: the text block m/0, begun by event 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_a_rule_is_named(name: str) -> None:
    events, expected = BROKEN[name]
    assert any(expected in what for what in broken(events)), broken(events)


def test_every_frame_of_the_agent_is_named() -> None:
    assert broken(stream(out(1), out(2)), frames={1, 2}) == []
    assert broken(stream(out(1)), frames={1, 2}) == ["at the end: frame 2 is named by no event."]
    assert broken(stream(out(3)), frames=set()) == [
        "event 2: it names frame 3, which the agent did not write."
    ]


def test_event_by_event_is_the_same_as_all_at_once() -> None:
    events, _ = BROKEN["a tool ended twice"]
    rules = Invariants()
    assert [what for event in events for what in rules.feed(event)] + rules.end() == broken(events)


@given(st.lists(st.sampled_from(list(ev.EVENTS)), max_size=30))
def test_any_order_of_events_is_judged_without_raising(names: Iterable[str]) -> None:
    fill = {
        "call_id": "c",
        "request_id": "r",
        "status": "completed",
        "name": "n",
        "role": "assistant",
        "method": "m",
    }
    special = {"permission.resolved": "allowed", "turn.ended": "completed", "run.ended": "completed"}
    events = []
    for name in names:
        cls = ev.EVENTS[name]
        fields: dict[str, Any] = {key: value for key, value in fill.items() if key in cls.__struct_fields__}
        fields |= {"outcome": special[name]} if name in special else {}
        fields |= {"question.answered": {"action": "accepted"}, "usage.updated": {"scope": "turn"}}.get(
            name, {}
        )
        fields |= {"path": "p", "change": "created"} if name == "file.changed" else {}
        events.append(cls(**fields))
    problems = broken(events)
    assert problems  # none of these is a whole run
    assert all(what.endswith(".") for what in problems)
