"""What the ledger knows is open, and that it knows no more than that."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from dragoman._model.commands import Answer, AnswerQuestion, Reply, Response
from dragoman._model.errors import UsageError
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import note_frames
from dragoman._wire.ledger import OUTPUT_KEPT, Ledger


@pytest.fixture
def ledger() -> Ledger:
    """The books of a run with a session that has a name."""
    ledger = Ledger()
    ledger.begin(Launch(agent="toy", dialect="toy"))
    ledger.name_session("s")
    ledger.take()
    return ledger


def put(ledger: Ledger, *events: Event) -> list[Event]:
    """What comes of these."""
    for event in events:
        ledger.put(event)
    return ledger.take()


def tags(events: list[Event]) -> list[str]:
    return [str(event.__struct_config__.tag) for event in events]


def permission(id: str = "r", call: str | None = "c", **fields: Any) -> ev.PermissionRequested:
    return ev.PermissionRequested(request_id=id, call_id=call, **fields)


# --- tools ---------------------------------------------------------------------------------------------------


def test_only_tools_that_are_open_are_kept(ledger: Ledger) -> None:
    put(ledger, *(ev.ToolStarted(call_id=str(n), name="Bash") for n in range(100)))
    book = ledger._books["s"]
    assert len(book.tools) == 100
    put(ledger, *(ev.ToolEnded(call_id=str(n), status="completed") for n in range(100)))
    assert book.tools == {}
    assert all(book.has_ended((str(n), False)) for n in range(100))
    assert not ledger.tool_open("7")
    assert ledger.tool_known("7")
    assert not ledger.tool_known("100")


def test_what_is_said_of_a_tool_that_has_ended_is_late(ledger: Ledger) -> None:
    put(ledger, ev.ToolStarted(call_id="c", name="Bash"), ev.ToolEnded(call_id="c", status="completed"))
    said = put(
        ledger,
        ev.ToolUpdated(call_id="c", output="more"),
        ev.ToolStarted(call_id="c", name="Bash", title="again"),
        ev.ToolEnded(call_id="c", status="failed", output="twice"),
    )
    assert tags(said) == ["tool.updated"] * 3
    assert all(isinstance(event, ev.ToolUpdated) and event.late for event in said)


def test_a_tool_that_nobody_announced_is_begun(ledger: Ledger) -> None:
    begun, ended = put(ledger, ev.ToolEnded(call_id="c", status="completed"))
    assert isinstance(begun, ev.ToolStarted)
    assert (begun.name, begun.synthesized, ended.synthesized) == ("unknown", True, False)
    assert not ledger.tool_open("c")


def test_what_is_played_back_is_another_tool(ledger: Ledger) -> None:
    put(ledger, ev.ToolStarted(call_id="c", name="Bash", replay=True))
    assert ledger.tool_open("c", replay=True)
    assert not ledger.tool_open("c")
    assert tags(put(ledger, ev.ToolStarted(call_id="c", name="Bash"))) == ["tool.started"]


def test_each_session_has_its_own_tools(ledger: Ledger) -> None:
    put(ledger, ev.ToolStarted(call_id="c", name="Bash"))
    put(ledger, ev.ToolStarted(call_id="c", name="Bash", session="other"))
    put(ledger, ev.ToolEnded(call_id="c", status="completed"))
    assert not ledger.tool_open("c")
    assert ledger.tool_open("c", "other")


def test_the_files_of_a_tool_are_known_when_it_is_asked_for(ledger: Ledger) -> None:
    locations = [ev.Location(path="/a")]
    put(
        ledger,
        ev.ToolStarted(call_id="c", name="Edit", locations=locations),
        ev.FileChanged(call_id="c", path="/b", change="modified", move_to="/d", phase="proposed"),
        ev.FileChanged(call_id="c", path="/e", change="modified", phase="applied"),
        ev.FileChanged(path="/f", change="modified", phase="proposed"),
    )
    asked, elsewhere, of_none = permission("r", "c"), permission("o", "c"), permission("n", None)
    elsewhere.session = "other"
    put(ledger, asked, elsewhere, of_none)
    assert list(ledger.asked_files(asked)) == ["/a", "/b", "/d"]
    assert list(ledger.asked_files(elsewhere)) == list(ledger.asked_files(of_none)) == []
    put(ledger, ev.PermissionResolved(request_id="r", outcome="allowed"))
    assert list(ledger.asked_files(asked)) == []


@pytest.mark.parametrize("ends", [False, True])
def test_tools_end_with_turns_where_that_is_the_rule(ends: bool) -> None:
    ledger = Ledger(tools_end_with_turns=ends)
    put(ledger, ev.TurnStarted(), ev.ToolStarted(call_id="c", name="Bash"))
    said = put(ledger, ev.TurnEnded(outcome="completed"))
    assert tags(said) == (["tool.ended"] if ends else []) + ["turn.ended"]
    assert ledger.tool_open("c") is not ends


# --- requests ------------------------------------------------------------------------------------------------


def test_a_request_carries_what_the_dialect_must_know(ledger: Ledger) -> None:
    request = permission()
    ledger.ask(request, native={"id": 7})
    assert ledger.requests["r"].event is request
    assert ledger.pending("r").native == {"id": 7}
    assert (ledger.pending("r").session, request.session) == ("s", "s")
    put(ledger, ev.PermissionResolved(request_id="r", outcome="allowed"))
    assert ledger.requests == {}


def test_who_answers_what_is_not_asked_is_told(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="no open request is called 'r': it was answered or withdrawn"):
        ledger.pending("r")


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (permission(), ev.PermissionResolved(request_id="r", outcome="denied")),
        (ev.QuestionAsked(request_id="r"), ev.QuestionAnswered(request_id="r", action="accepted")),
        (ev.HostCalled(request_id="r", method="m"), ev.HostAnswered(request_id="r")),
    ],
)
def test_every_request_is_answered_once(ledger: Ledger, request_: ev.Request, answer: Event) -> None:
    assert tags(put(ledger, request_, answer)) == tags([request_, answer])
    assert put(ledger, answer) == []
    others = [
        ev.PermissionResolved(request_id="r", outcome="denied"),
        ev.QuestionAnswered(request_id="r", action="accepted"),
        ev.HostAnswered(request_id="r"),
    ]
    put(ledger, request_)
    assert put(ledger, *(other for other in others if type(other) is not type(answer))) == []
    assert ledger.wants(request_)


def test_a_request_said_twice_is_one(ledger: Ledger) -> None:
    assert tags(put(ledger, permission(), permission())) == ["permission.requested"]
    assert len(ledger.take_requests()) == 1


def test_it_wants_an_answer_to_this_very_request(ledger: Ledger) -> None:
    first, second = permission(), permission()
    put(ledger, first, ev.PermissionResolved(request_id="r", outcome="allowed"), second)
    assert not ledger.wants(first)
    assert ledger.wants(second)


def test_what_still_wants_an_answer_is_told_once(ledger: Ledger) -> None:
    put(ledger, permission("a"), permission("b"), ev.PermissionResolved(request_id="a", outcome="allowed"))
    put(ledger, permission("played back", replay=True))
    assert [request.request_id for request in ledger.take_requests()] == ["b"]
    assert ledger.take_requests() == []
    assert set(ledger.requests) == {"b", "played back"}


@pytest.mark.parametrize("synthesized", [False, True])
def test_a_request_may_be_withdrawn(ledger: Ledger, synthesized: bool) -> None:
    put(ledger, permission("p"), ev.QuestionAsked(request_id="q"), ev.HostCalled(request_id="h", method="m"))
    for id in ("p", "q", "h", "unknown"):
        ledger.withdraw(id, synthesized=synthesized)
    permission_, question, call = ledger.take()
    assert isinstance(permission_, ev.PermissionResolved)
    assert (permission_.outcome, permission_.by) == ("cancelled", "agent")
    assert isinstance(question, ev.QuestionAnswered)
    assert question.action == "cancelled"
    assert isinstance(call, ev.HostAnswered)
    assert call.error is not None
    assert call.error.message == "withdrawn by the agent"
    assert {event.synthesized for event in (permission_, question, call)} == {synthesized}
    assert ledger.requests == {}


def test_nothing_stays_asked_after_its_turn(ledger: Ledger) -> None:
    put(ledger, ev.TurnStarted(), permission("mine"), permission("theirs", session="other"))
    said = put(ledger, ev.TurnEnded(outcome="cancelled", synthesized=True))
    assert tags(said) == ["permission.resolved", "turn.ended"]
    assert set(ledger.requests) == {"theirs"}


def test_what_was_asked_before_the_session_had_a_name_is_its_own() -> None:
    ledger = Ledger()
    put(ledger, ev.TurnStarted(), permission())
    ledger.name_session("s")
    assert ledger.pending("r").session == "s"
    assert tags(put(ledger, ev.TurnEnded(outcome="completed", session="s"))) == [
        "permission.resolved",
        "turn.ended",
    ]


def test_a_permission_is_asked_until_it_is_answered(ledger: Ledger) -> None:
    put(ledger, ev.TurnStarted(), permission("r", "c"))
    assert ledger.tool_asked("c")
    put(ledger, ev.PermissionResolved(request_id="r", outcome="allowed"))
    assert not ledger.tool_asked("c")


def test_a_permission_is_for_the_changes_that_were_proposed_when_it_was_asked(ledger: Ledger) -> None:
    """Those of one line stand together, those of the next take their place."""

    def change(path: str) -> ev.FileChanged:
        return ev.FileChanged(path=path, change="modified", call_id="c", phase="proposed")

    one, two, other = change("a.py"), change("a.py"), change("b.py")
    first, second, of_another = permission("r", "c"), permission("q", "c"), permission("d", "d")
    put(ledger, ev.ToolStarted(call_id="c", name="Edit"), one, two, first, of_another, change("late.py"))
    ledger.enter(Frame(2, "out", b"{}"))
    put(ledger, other, second)
    assert list(ledger.asked_changes(first)) == [one, two]
    assert list(ledger.asked_changes(second)) == [other]
    assert list(ledger.asked_files(second)) == ["b.py"]
    assert list(ledger.asked_changes(of_another)) == []
    put(ledger, ev.ToolEnded(call_id="c", status="completed"))
    assert list(ledger.asked_changes(first)) == [one, two]
    put(ledger, ev.PermissionResolved(request_id="r", outcome="allowed"))
    assert list(ledger.asked_changes(first)) == []


def test_a_tool_that_was_denied_is_declined_at_the_end(ledger: Ledger) -> None:
    put(ledger, ev.ToolStarted(call_id="c", name="Bash"), permission("r", "c"))
    put(ledger, ev.PermissionResolved(request_id="r", outcome="denied"))
    assert ledger.tool_denied("c")
    assert not ledger.tool_denied("d")
    ledger.finish(Exit(code=0))
    [ended] = [event for event in ledger.take() if isinstance(event, ev.ToolEnded)]
    assert (ended.status, ended.synthesized) == ("declined", True)


def test_a_call_that_was_denied_did_not_fail(ledger: Ledger) -> None:
    for call, outcomes in (("c", ["denied"]), ("d", ["denied", "allowed"])):
        put(ledger, ev.ToolStarted(call_id=call, name="Bash"))
        for outcome in outcomes:
            put(ledger, permission("r", call), ev.PermissionResolved(request_id="r", outcome=outcome))  # type: ignore[arg-type]
    said = put(ledger, *(ev.ToolEnded(call_id=call, status="failed", exit_code=1) for call in "cd"))
    assert [(e.status, e.exit_code) for e in said if isinstance(e, ev.ToolEnded)] == [
        ("declined", None),
        ("failed", 1),
    ]


@pytest.mark.parametrize(("outcome", "status"), [("completed", "abandoned"), ("cancelled", "cancelled")])
def test_a_call_whose_end_never_came(ledger: Ledger, outcome: Any, status: str) -> None:
    """Codex 0.135.0 under load: who leaves after turn.ended does not hear how the command ended."""
    put(ledger, ev.TurnStarted(), ev.ToolStarted(call_id="c", name="shell"))
    put(ledger, *(ev.Delta(kind="tool_output", text=text, call_id="c") for text in ("one\n", "two\n")))
    put(ledger, ev.TurnEnded(outcome=outcome), ev.TurnStarted(), ev.TurnEnded(outcome="completed"))
    ledger.finish(Exit(code=0, reason="closed"))
    [ended] = [event for event in ledger.take() if isinstance(event, ev.ToolEnded)]
    assert (ended.status, ended.output) == (status, "one\ntwo\n")


@pytest.mark.parametrize(("exit_code", "status"), [(None, "cancelled"), (137, "cancelled"), (1, "failed")])
def test_a_call_that_failed_when_it_was_interrupted(
    ledger: Ledger, exit_code: int | None, status: str
) -> None:
    """One that was killed is cancelled, one that had ended by itself is not, nor one that was not at work then."""
    put(ledger, ev.TurnStarted(), ev.ToolStarted(call_id="c", name="shell"))
    ledger.interrupt()
    [ended] = put(ledger, ev.ToolEnded(call_id="c", status="failed", exit_code=exit_code))
    assert isinstance(ended, ev.ToolEnded)
    assert (ended.status, ended.exit_code) == (status, exit_code)
    put(ledger, ev.ToolStarted(call_id="later", name="shell"))
    [later] = put(ledger, ev.ToolEnded(call_id="later", status="failed"))
    assert isinstance(later, ev.ToolEnded)
    assert later.status == "failed"


def test_a_call_that_outlives_the_turn_that_was_interrupted_was_not_cut(ledger: Ledger) -> None:
    """A command in the background of Claude Code."""
    put(ledger, ev.TurnStarted(), ev.ToolStarted(call_id="c", name="Bash"))
    ledger.interrupt()
    put(ledger, ev.TurnEnded(outcome="cancelled"), ev.TurnStarted())
    [ended] = put(ledger, ev.ToolEnded(call_id="c", status="failed"))
    assert isinstance(ended, ev.ToolEnded)
    assert ended.status == "failed"


def test_the_output_of_an_open_call_is_kept_up_to_a_limit(ledger: Ledger) -> None:
    put(ledger, ev.ToolStarted(call_id="c", name="shell"))
    for _ in range(3):
        put(ledger, ev.Delta(kind="tool_output", text="x" * (OUTPUT_KEPT - 1), call_id="c"))
    ledger.finish(Exit(code=0))
    [ended] = [event for event in ledger.take() if isinstance(event, ev.ToolEnded)]
    assert ended.output == "x" * OUTPUT_KEPT


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (permission("r"), ev.PermissionResolved(request_id="r", outcome="allowed")),
        (ev.QuestionAsked(request_id="r"), ev.QuestionAnswered(request_id="r", action="accepted")),
        (ev.HostCalled(request_id="r", method="m"), ev.HostAnswered(request_id="r")),
    ],
)
def test_an_answer_says_who_gave_it(ledger: Ledger, asked: ev.Request, answered: ev.Answered) -> None:
    put(ledger, asked)
    ledger.note(note_frames.Decided(request="r", who="phone"))
    [said] = put(ledger, answered)
    assert isinstance(said, ev.Answered)
    assert said.who == "phone"


@pytest.mark.parametrize("response", [Answer, AnswerQuestion, Reply])
def test_who_answers_is_noted_whatever_is_answered(response: type[Response]) -> None:
    note = note_frames.of(response(request="r", who="phone"))
    assert note == note_frames.Decided(request="r", who="phone")
    assert note_frames.read(note_frames.write(note)) == note


def test_who_decided_is_noted_before_the_answer(ledger: Ledger) -> None:
    put(ledger, permission("a"), permission("b"))
    ledger.note(note_frames.Decided(request="a", by="timeout"))
    ledger.note(note_frames.Decided(request="b", by="policy", rule="mine"))
    said = put(
        ledger,
        ev.PermissionResolved(request_id="a", outcome="denied"),
        ev.PermissionResolved(request_id="b", outcome="cancelled", by="agent"),
    )
    assert [(event.by, event.rule) for event in said if isinstance(event, ev.PermissionResolved)] == [
        ("timeout", None),
        ("agent", None),
    ]
    assert ledger._decided == {}


# --- turns, sessions, subagents ------------------------------------------------------------------------------


def test_which_turns_are_open(ledger: Ledger) -> None:
    assert (ledger.had_turn, ledger.busy(), set(ledger.open_turns)) == (False, False, set())
    put(ledger, ev.TurnStarted(), ev.TurnStarted(session="other"))
    assert (ledger.had_turn, ledger.busy("s"), ledger.busy("other")) == (True, True, True)
    put(ledger, ev.TurnEnded(outcome="completed"))
    assert (ledger.busy(), ledger.busy("s"), set(ledger.open_turns)) == (True, False, {"other"})
    put(ledger, ev.TurnEnded(outcome="completed", session="other"))
    assert (ledger.had_turn, ledger.busy(), set(ledger.open_turns)) == (True, False, set())


def test_the_turn_that_began_first_is_the_open_one(ledger: Ledger) -> None:
    sessions = [f"session {n}" for n in range(20)]
    put(ledger, *(ev.TurnStarted(session=session) for session in sessions))
    for session in sessions:
        assert ledger.open_session() == session
        put(ledger, ev.TurnEnded(session=session, outcome="completed"))
    assert ledger.open_session() == "s"


def test_what_the_session_is_called() -> None:
    ledger = Ledger()
    put(ledger, ev.SessionStarted())
    assert ledger.session is None
    ledger.name_session("s")
    assert ledger.session == "s"
    put(ledger, ev.SessionStarted(session="second"))
    assert ledger.session == "s"
    put(ledger, ev.SessionUpdated(session_id="cleared"))
    assert ledger.session == "cleared"


def test_whether_the_agent_is_ready_or_never_will_be(ledger: Ledger) -> None:
    passing = [
        ev.Error(message="busy", scope="session", will_retry=True),
        ev.Error(message="a turn's own"),
    ]
    put(ledger, *passing)
    assert (ledger.ready, ledger.refusal) == (False, None)
    refusal = ev.Error(message="sign in first", scope="session")
    put(ledger, refusal)
    assert ledger.refusal is refusal
    put(ledger, ev.AgentReady(name="toy"), ev.Error(message="later", scope="session"))
    assert (ledger.ready, ledger.refusal) == (True, refusal)


def test_a_session_that_will_not_be_opened(ledger: Ledger) -> None:
    refusal = ev.Error(message="no such session", scope="session")
    put(ledger, ev.AgentReady(name="toy"), refusal)
    assert (ledger.ready, ledger.refusal) == (True, refusal)


def test_what_goes_wrong_in_an_open_session_refuses_nothing(ledger: Ledger) -> None:
    """An agent without a handshake is ready when it tells of its session."""
    put(ledger, ev.SessionStarted(session="s"), ev.Error(message="lost", scope="session"))
    assert (ledger.ready, ledger.refusal) == (True, None)


def test_what_is_known_is_what_was_said_last(ledger: Ledger) -> None:
    one, two = ev.SlashCommand(name="one"), ev.SlashCommand(name="two")
    assert ledger.known() == {}
    put(ledger, ev.AgentReady(name="toy", commands=[one], models=["m"], capabilities={"a": 1}))
    assert ledger.known("s") == {"commands": [one], "models": ["m"]}
    ledger.learn(models=["n"])
    assert ledger.take() == []  # nobody was told of a session that could be updated
    put(ledger, ev.SessionMode(session="s", mode="early"))
    put(ledger, ev.SessionStarted(session="s", model="big", modes=[ev.Mode(id="plan")]))
    assert ledger.known()["mode"] == "early"
    put(ledger, ev.SessionCommands(session="s", commands=[two]), ev.SessionMode(session="s", mode="plan"))
    put(ledger, ev.SessionOptions(session="s", options=[{"id": "o"}]))
    put(ledger, ev.SessionUpdated(session="s", title="Title"))
    assert ledger.known() == {
        "commands": [two],
        "models": ["n"],
        "model": "big",
        "mode": "plan",
        "modes": [ev.Mode(id="plan")],
        "options": [{"id": "o"}],
        "title": "Title",
    }
    put(ledger, ev.SessionCommands(session="s"))
    assert ledger.known()["commands"] == []
    assert ledger.known("another") == {"commands": [one], "models": ["n"], "mode": "early"}


def test_what_an_agent_was_asked_updates_the_session(ledger: Ledger) -> None:
    put(ledger, ev.SessionStarted(session="s", models=["m"]))
    ledger.learn("s", models=["m"])
    assert ledger.take() == []
    ledger.learn("s", models=["m", "n"])
    [updated] = ledger.take()
    assert isinstance(updated, ev.SessionUpdated)
    assert (updated.session, updated.models) == ("s", ["m", "n"])


def test_the_last_rate_limit_is_known_in_every_session(ledger: Ledger) -> None:
    limit = ev.RateLimit(plan="pro")
    put(ledger, limit)
    assert ledger.known("any") == {"rate_limit": limit}


def test_subagents_are_at_work_until_they_have_ended(ledger: Ledger) -> None:
    put(ledger, ev.SubagentStarted(call_id="a"), ev.SubagentStarted(agent_id="b"))
    assert set(ledger.subagents) == {"a", "b"}
    assert put(ledger, ev.SubagentStarted(call_id="a")) == []
    put(ledger, ev.SubagentEnded(call_id="a"))
    assert set(ledger.subagents) == {"b"}
    assert put(ledger, ev.SubagentEnded(call_id="a"), ev.SubagentStarted(call_id="a")) == []
    assert tags(put(ledger, ev.SubagentEnded(call_id="unheard"))) == ["subagent.started", "subagent.ended"]
    assert set(ledger.subagents) == {"b"}


def test_one_that_comes_back_between_turns_has_a_turn_to_come(ledger: Ledger) -> None:
    """In 2.1.197 and 2.1.325 of Claude Code, unless it was stopped."""
    put(ledger, ev.TurnStarted(), *(ev.SubagentStarted(call_id=id) for id in "abcd"))
    put(ledger, ev.SubagentEnded(call_id="a", status="completed"), ev.TurnEnded(outcome="completed"))
    assert not ledger.returned
    put(ledger, ev.SubagentEnded(call_id="b", status="stopped"))
    put(ledger, ev.SubagentEnded(call_id="c", status="completed", parent="d"))
    assert not ledger.returned
    put(ledger, ev.SubagentEnded(call_id="d", status="completed"))
    assert ledger.returned
    put(ledger, ev.TurnStarted(), ev.TurnEnded(outcome="completed"))
    assert not ledger.returned


def test_at_the_end_nothing_is_open(ledger: Ledger) -> None:
    ledger.enter(Frame(1, "out", b"{}"))
    put(
        ledger,
        ev.TurnStarted(),
        ev.Delta(text="half", message_id="m"),
        ev.ToolStarted(call_id="c", name="Bash"),
        permission(),
        ev.QuestionAsked(request_id="q"),
        ev.SubagentStarted(call_id="a"),
        ev.TurnStarted(session="other"),
    )
    ledger.leave(None)
    ledger.finish(Exit(code=1))
    said = ledger.take()
    assert (ledger.requests, ledger.subagents, set(ledger.open_turns)) == ({}, {}, set())
    assert all(book.tools == {} for book in ledger._books.values())
    assert sorted(tags(said)) == sorted(
        [
            "permission.resolved",
            "question.answered",
            "message",
            "turn.ended",
            "turn.ended",
            "tool.ended",
            "subagent.ended",
            "run.ended",
        ]
    )
    assert said[-1].__struct_config__.tag == "run.ended"


def test_all_of_it_holds_from_outside() -> None:
    ledger = Ledger()
    ledger.begin(Launch(agent="toy", dialect="toy"))
    ledger.enter(Frame(1, "out", b"{}"))
    for event in (
        ev.SessionStarted(session="s"),
        ev.ToolEnded(call_id="c", status="completed"),
        ev.ToolEnded(call_id="c", status="failed"),
        ev.TurnEnded(outcome="completed"),
        permission(),
        permission(),
        ev.HostAnswered(request_id="r"),
    ):
        ledger.put(event)
    ledger.leave(None)
    ledger.finish(Exit(code=0))
    assert broken(ledger.take(), frames=[1]) == []


@pytest.mark.parametrize("started", [None, datetime(2026, 1, 1, tzinfo=UTC)])
@pytest.mark.parametrize("agent_time", [None, "noon"])
def test_a_frame_that_says_nothing_is_named_the_same_by_both_roads(
    started: datetime | None, agent_time: str | None
) -> None:
    """One event is made with its stamp, the other stamped like any: it also keeps its line."""

    def named(keeps_lines: bool) -> Event:
        ledger = Ledger()
        ledger.begin(Launch(agent="a", dialect="d", started=started))
        ledger.keeps_lines = keeps_lines
        ledger.name_session("s")
        ledger.put(ev.TurnStarted())
        ledger.enter(Frame(7, "out", b"{}", 0.5))
        ledger.native_type, ledger.agent_time = "silent", agent_time
        ledger.name_frame()
        return ledger.take()[-1]

    stamped, kept = named(False), named(True)
    assert kept.line == "{}"
    kept.line = None
    assert stamped == kept


@pytest.mark.parametrize(
    ("exit", "outcome"),
    [
        (Exit(), "truncated"),
        (Exit(code=0), "completed"),
        (Exit(code=1), "failed"),
        (Exit(signal="SIGKILL"), "crashed"),
    ],
)
def test_a_subagent_s_own_file_ends_as_it_did_unless_a_process_says_how(exit: Exit, outcome: str) -> None:
    """Found by `make fuzz`: a file of a subagent without a turn, of a process that exited 0."""
    ledger = Ledger()
    ledger.begin(Launch(agent="a", dialect="d"))
    put(ledger, ev.SubagentEnded(agent_id="s", status="truncated"))
    ledger.finish(exit)
    [*_, ended] = ledger.take()
    assert isinstance(ended, ev.RunEnded)
    assert ended.outcome == outcome
