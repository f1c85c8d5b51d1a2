"""What an agent asks is always answered: by a handler, by hand, or with a plain no."""

import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from dragoman._model.commands import Answer, AnswerQuestion, Reply
from dragoman._model.config import Approve
from dragoman._model.events import (
    AnyEvent,
    Event,
    HostAnswered,
    HostCalled,
    Message,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    TurnEnded,
)
from dragoman._model.frames import Frame
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.requests import LATER, AnswerReply, ApproveReply, Handlers, Later, ServeReply
from dragoman._runtime.session import Session
from dragoman._runtime.streams import EventStream
from dragoman._wire.machine import Output
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio

SOON = 0.01
"""Seconds that a handler may take which never answers."""
LONG = 600.0
"""Seconds that one may take which does."""


def serving(**handlers: Any) -> Session:
    return alone(toy_plan(), handlers=Handlers(**handlers))


async def outcome(session: Session, orders: str = "ask Bash") -> tuple[dict[str, Any], Event]:
    """What the agent was told, and the event that says so."""
    async with session:
        events = [event async for event in session.prompt(orders)]
    assert isinstance(events[-1], TurnEnded)
    told = next(event.text for event in events if isinstance(event, Message) and event.role == "assistant")
    kinds = (PermissionResolved, QuestionAnswered, HostAnswered)
    [answered] = [event for event in events if isinstance(event, kinds)]
    return json.loads(told or ""), answered


async def resolved(approve: Any, **handlers: Any) -> PermissionResolved:
    told, event = await outcome(serving(approve=approve, **handlers))
    assert isinstance(event, PermissionResolved)
    assert told["decision"] == ("allow" if event.outcome == "allowed" else "deny")
    assert told["message"] == event.message
    return event


def returning(reply: Any) -> list[Callable[[Any], Any]]:
    """A function, an async one, one that returns an awaitable, and objects that are called like them."""

    def plain(request: Any) -> Any:
        return reply

    async def later(request: Any) -> Any:
        return reply

    def awaitable(request: Any) -> Awaitable[Any]:
        return later(request)

    class Plain:
        def __call__(self, request: Any) -> Any:
            return reply

    class Later:
        async def __call__(self, request: Any) -> Any:
            return reply

    return [plain, later, awaitable, Plain(), Later(), lambda request: reply]


# --- permissions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("approve", returning(True))
async def test_true_allows(approve: Any) -> None:
    event = await resolved(approve)
    assert (event.outcome, event.by, event.rule) == ("allowed", "client", None)


@pytest.mark.parametrize("approve", returning(False))
async def test_false_denies(approve: Any) -> None:
    event = await resolved(approve)
    assert (event.outcome, event.by, event.rule) == ("denied", "client", None)


@pytest.mark.parametrize("request_id", ["", "r1"])
async def test_an_answer_in_full_is_sent_as_it_is(request_id: str) -> None:
    """Which request it is for need not be said."""
    answer = Answer(request=request_id, decision="deny", message="not on my machine")
    event = await resolved(lambda request: answer)
    assert (event.outcome, event.message, event.by) == ("denied", "not on my machine", "client")


async def test_an_answer_may_name_its_rule() -> None:
    answer = Answer(decision="allow", by="policy", rule="tools: Bash")
    event = await resolved(lambda request: answer)
    assert (event.outcome, event.by, event.rule) == ("allowed", "policy", "tools: Bash")


async def test_a_handler_that_is_no_coroutine_function_may_block() -> None:
    """It has a thread of its own."""
    threads = []

    def approve(request: PermissionRequest) -> bool:
        threads.append(threading.current_thread())
        return True

    await resolved(approve)
    assert threads != [threading.current_thread()]


async def test_the_handler_is_shown_what_is_asked(tmp_path: Any) -> None:
    asked: list[PermissionRequest] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    session = alone(toy_plan(cwd=str(tmp_path)), handlers=Handlers(approve=approve))
    await outcome(session, f"ask Bash {json.dumps({'command': 'git log; ls'})}")
    [request] = asked
    assert (request.id, request.agent, request.session, request.tool) == ("r1", "toy", "s-1", "Bash")
    assert (request.kind, request.commands) == ("execute", [["git", "log"], ["ls"]])
    assert request.cwd == str(tmp_path)


@pytest.mark.parametrize("reply", [None, "yes", 1, {"decision": "allow"}, Reply(), AnswerQuestion()])
async def test_what_is_no_answer_denies_and_says_what_would_be(
    reply: Any, caplog: pytest.LogCaptureFixture
) -> None:
    event = await resolved(lambda request: reply)
    assert (event.outcome, event.by, event.rule) == ("denied", "policy", "handler failed")
    assert event.message is not None
    assert "TypeError: it must return True, False, an Answer or LATER, not " in event.message
    assert repr(reply)[:20] in event.message
    assert "the handler failed on permission.requested r1" in caplog.text


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_that_raises_denies_and_says_so(
    is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(request: PermissionRequest) -> bool:
        raise ValueError("boom")

    async def fails_later(request: PermissionRequest) -> bool:
        raise ValueError("boom")

    event = await resolved(fails_later if is_async else fails)
    assert (event.outcome, event.by, event.rule) == ("denied", "policy", "handler failed")
    assert event.message is not None
    assert "ValueError: boom" in event.message
    assert "the handler failed" in caplog.text


async def test_a_handler_with_another_signature_denies_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    event = await resolved(lambda request, session: True)
    assert (event.outcome, event.rule) == ("denied", "handler failed")
    assert "positional argument" in (event.message or "")


async def test_without_a_handler_the_answer_is_no_at_once() -> None:
    event = await resolved(None)
    assert (event.outcome, event.by, event.rule) == ("denied", "policy", "no handler")
    assert event.message is not None
    assert "nobody was there to ask" in event.message
    assert "approve=" in event.message


@pytest.mark.parametrize(
    ("mode", "allowed", "denied", "asked"),
    [
        ("ask", "", "", "Bash Edit Read"),
        ("dangerous", "", "", "Bash Edit Read"),
        ("edits", "", "", "Bash Edit Read"),
        ("all", "Bash Edit Read", "", ""),
        ("plan", "Read", "Bash Edit", ""),
        ("never", "", "Bash Edit Read", ""),
    ],
)
async def test_a_mode_settles_what_it_can_before_anyone_is_asked(
    mode: Approve, allowed: str, denied: str, asked: str
) -> None:
    heard = []

    def approve(request: PermissionRequest) -> bool:
        heard.append(request.tool)
        return False

    async with alone(toy_plan(), policy=Policy(mode), handlers=Handlers(approve=approve)) as session:
        tools = {"Bash": "asked", "Edit": "asked", "Read": "asked"}
        for tool in tools:
            async for event in session.prompt(f"ask {tool}"):
                if isinstance(event, PermissionResolved) and event.rule == f"approve={mode}":
                    tools[tool] = event.outcome
    assert [tool for tool in tools if tools[tool] == "allowed"] == allowed.split()
    assert [tool for tool in tools if tools[tool] == "denied"] == denied.split()
    assert [tool for tool in tools if tools[tool] == "asked"] == asked.split() == heard


async def test_a_handler_that_waits_does_not_keep_the_agent_from_being_heard() -> None:
    async def slow(request: PermissionRequest) -> bool:
        async for event in session.events():
            if isinstance(event, Message) and event.text == "steered: go":
                return True
        return False

    async with serving(approve=slow) as session:
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                await session.steer("go")
            if isinstance(event, PermissionResolved):
                assert event.outcome == "allowed"


async def test_a_request_that_was_withdrawn_at_once_is_not_even_asked() -> None:
    asked = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    async with serving(approve=approve) as session:
        events = [event async for event in session.prompt("withdraw\nsay on")]
        answers = [event for event in events if isinstance(event, PermissionResolved)]
        assert [(event.outcome, event.by) for event in answers] == [("cancelled", "agent")]
        assert not await session.answer("r2", "allow")
    assert asked == []


async def test_an_answer_that_comes_after_the_withdrawal_is_not_sent() -> None:
    recorder = Frames()

    async def approve(request: PermissionRequest) -> bool:
        stream = session.events()
        await session.steer("go")
        async for event in stream:
            if isinstance(event, PermissionResolved):
                break
        return True

    async with alone(toy_plan(), handlers=Handlers(approve=approve), recorder=recorder) as session:
        async for _ in session.prompt("regret Bash"):
            pass
    sent = [json.loads(frame.line)["type"] for frame in recorder if frame.dir == "in"]
    assert sent == ["prompt", "steer"]


# --- by hand -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [None, LONG])
@pytest.mark.parametrize("approve", returning(LATER))
async def test_later_leaves_the_answer_to_the_hand(approve: Any, timeout: float | None) -> None:
    async with serving(approve=approve, timeout=timeout) as session:
        told = []
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                assert await session.answer(event.request_id, "allow", message="by hand")
                assert not await session.answer(event.request_id, "deny")
            if isinstance(event, PermissionResolved):
                told.append((event.outcome, event.by, event.message))
    assert told == [("allowed", "client", "by hand")]


async def test_the_handler_itself_may_answer_by_hand() -> None:
    async def approve(request: PermissionRequest) -> Later:
        assert await session.answer(request.id, "allow")
        return LATER

    session = serving(approve=approve, timeout=LONG)
    _, event = await outcome(session)
    assert isinstance(event, PermissionResolved)
    assert (event.outcome, event.by) == ("allowed", "client")


async def test_an_answer_by_hand_comes_before_that_of_the_handler() -> None:
    answered = anyio.Event()

    async def approve(request: PermissionRequest) -> bool:
        await answered.wait()
        return False

    async with serving(approve=approve) as session:
        outcomes = []
        async for event in session.prompt("ask Bash\nask Bash"):
            if isinstance(event, PermissionRequested) and not answered.is_set():
                assert await session.answer(event.request_id, "allow")
                answered.set()
            if isinstance(event, PermissionResolved):
                outcomes.append(event.outcome)
    assert outcomes == ["allowed", "denied"]


async def test_an_answer_by_hand_says_all_that_one_can_say() -> None:
    said = {
        "option": "o1",
        "updated_input": {"command": "ls"},
        "message": "so",
        "remember": ["session"],
        "interrupt": True,
    }
    async with serving(approve=lambda request: LATER) as session:
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                assert await session.answer(event.request_id, "allow", **said)  # type: ignore[arg-type]
            if isinstance(event, Message) and event.role == "assistant":
                told = json.loads(event.text or "")
    assert {name: told[name] for name in said} == said
    assert (told["decision"], told["request"], told["by"]) == ("allow", "r1", "client")


async def test_an_answer_may_be_sent_like_any_command() -> None:
    """Who gave it is then its own to say."""
    async with serving(approve=lambda request: LATER) as session:
        resolved = []
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                answer = Answer(request=event.request_id, decision="allow", by="policy", rule="mine")
                assert await session.send(answer) is None
            if isinstance(event, PermissionResolved):
                resolved.append((event.outcome, event.by, event.rule))
    assert resolved == [("allowed", "policy", "mine")]


async def test_questions_and_host_calls_by_hand() -> None:
    async with serving(answer=lambda question: LATER, serve=lambda call: LATER) as session:
        told = []
        async for event in session.prompt("question which?\ncall fs/read"):
            if isinstance(event, QuestionAsked):
                assert await session.answer_question("q1", {"which": "this"})
            if isinstance(event, HostCalled):
                assert await session.reply("h1", error="no such file")
            if isinstance(event, Message) and event.role == "assistant":
                told.append(json.loads(event.text or ""))
    assert told[0]["answers"] == {"which": "this"}
    assert told[1]["error"] == "no such file"


# --- in time -------------------------------------------------------------------------------------------------


def never(released: threading.Event) -> list[Callable[[Any], Any]]:
    """Handlers that do not answer: async, in a thread of their own, and by hand."""

    async def waits(request: Any) -> Any:
        await anyio.sleep_forever()

    def blocks(request: Any) -> Any:
        released.wait(LONG)
        return True

    return [waits, blocks, *returning(LATER)[:2]]


@pytest.mark.parametrize("which", range(len(never(threading.Event()))))
@pytest.mark.parametrize(
    ("orders", "handler"), [("ask Bash", "approve"), ("question which?", "answer"), ("call fs/read", "serve")]
)
async def test_who_does_not_answer_in_time_denies(which: int, orders: str, handler: str) -> None:
    released = threading.Event()
    recorder = Frames()
    handlers: dict[str, Any] = {handler: never(released)[which]}
    session = alone(toy_plan(), handlers=Handlers(**handlers, timeout=SOON), recorder=recorder)
    told, event = await outcome(session, orders)
    released.set()
    why = "Denied: no answer came within 0.01 s."
    if isinstance(event, PermissionResolved):
        assert (event.outcome, event.by, event.rule, event.message) == ("denied", "timeout", None, why)
        assert told["decision"] == "deny"
    elif isinstance(event, QuestionAnswered):
        assert (event.action, told["action"], told["answers"]) == ("cancelled", "cancelled", {})
    else:
        assert isinstance(event, HostAnswered)
        assert told["error"] == why
    assert told["by"] == "timeout"


async def test_an_answer_that_comes_too_late_is_not_sent() -> None:
    """Nor does it answer a later request of the same name."""
    released = threading.Event()

    def approve(request: PermissionRequest) -> bool:
        return not released.is_set() and released.wait(LONG)

    async with serving(approve=approve, timeout=SOON) as session:
        outcomes = []
        async for event in session.prompt("ask Bash\nask Bash"):
            if isinstance(event, PermissionResolved):
                outcomes.append(event.outcome)
                released.set()
    assert outcomes == ["denied", "denied"]


# --- questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "action", "answers"),
    [
        ({"colour": "blue"}, "accepted", {"colour": "blue"}),
        ({}, "accepted", {}),
        (False, "declined", {}),
        (True, "accepted", {}),
        (AnswerQuestion(answers={"colour": "blue"}), "accepted", {"colour": "blue"}),
        (AnswerQuestion(request="q1", action="cancelled"), "cancelled", {}),
    ],
)
async def test_questions(reply: AnswerReply, action: str, answers: dict[str, Any]) -> None:
    for handler in returning(reply):
        told, event = await outcome(serving(answer=handler), "question which colour?")
        assert isinstance(event, QuestionAnswered)
        assert event.action == told["action"] == action
        assert event.answers == told["answers"] == answers


async def test_a_mapping_of_any_kind_answers() -> None:
    class Answers(Mapping[str, str]):
        def __getitem__(self, key: str) -> str:
            return {"colour": "blue"}[key]

        def __iter__(self) -> Any:
            return iter(["colour"])

        def __len__(self) -> int:
            return 1

    told, _ = await outcome(serving(answer=lambda question: Answers()), "question which colour?")
    assert told["answers"] == {"colour": "blue"}


async def test_a_question_is_shown_as_it_was_asked() -> None:
    asked: list[QuestionAsked] = []

    def answer(question: QuestionAsked) -> bool:
        asked.append(question)
        return True

    await outcome(serving(answer=answer, approve=lambda request: False), "question which colour?")
    assert [(question.request_id, question.message) for question in asked] == [("q1", "which colour?")]


@pytest.mark.parametrize("reply", [None, "blue", ["blue"], Answer(decision="allow")])
async def test_what_answers_no_question_cancels_it(reply: Any, caplog: pytest.LogCaptureFixture) -> None:
    told, event = await outcome(serving(answer=lambda question: reply), "question which colour?")
    assert isinstance(event, QuestionAnswered)
    assert event.action == told["action"] == "cancelled"
    assert (told["by"], told["rule"]) == ("policy", "handler failed")
    assert "the answers as a mapping, True, False, an AnswerQuestion or LATER" in caplog.text


@pytest.mark.parametrize("mode", ["ask", "all", "never"])
async def test_questions_are_for_people(mode: Approve) -> None:
    """No mode answers them, and a handler of permissions does not hear them."""
    heard = []

    def approve(request: PermissionRequest) -> bool:
        heard.append(request)
        return True

    session = alone(toy_plan(), policy=Policy(mode), handlers=Handlers(approve=approve))
    told, event = await outcome(session, "question which colour?")
    assert isinstance(event, QuestionAnswered)
    assert (told["action"], told["rule"], heard) == ("cancelled", "no handler", [])


# --- host calls ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "result", "error"),
    [
        (None, None, None),
        (Reply(), None, None),
        (Reply(result={"content": "x"}), {"content": "x"}, None),
        (Reply(request="h1", error="not now"), None, "not now"),
    ],
)
async def test_host_calls(reply: ServeReply, result: Any, error: str | None) -> None:
    """This one is none that the host does by itself: with no opinion, nobody has any."""
    for handler in returning(reply):
        told, event = await outcome(serving(serve=handler), "call fs/read")
        assert isinstance(event, HostAnswered)
        assert (told["result"], told["error"]) == (result, error)


async def test_a_host_call_without_a_handler_gets_no_opinion() -> None:
    told, event = await outcome(serving(approve=lambda request: False), "call fs/read")
    assert isinstance(event, HostAnswered)
    assert (told["result"], told["error"], event.error) == (None, None, None)


@pytest.mark.parametrize("reply", [True, False, {"content": "x"}, Answer(decision="allow")])
async def test_what_is_no_reply_refuses_the_call(reply: Any, caplog: pytest.LogCaptureFixture) -> None:
    told, event = await outcome(serving(serve=lambda call: reply), "call fs/read")
    assert isinstance(event, HostAnswered)
    assert told["result"] is None
    assert "it must return a Reply, None or LATER, not " in told["error"]
    assert told["rule"] == "handler failed"


async def test_each_kind_has_its_own_handler() -> None:
    heard: list[str] = []

    def approve(request: PermissionRequest) -> ApproveReply:
        heard.append(f"approve {request.id}")
        return True

    def answer(question: QuestionAsked) -> AnswerReply:
        heard.append(f"answer {question.request_id}")
        return {}

    def serve(call: HostCalled) -> ServeReply:
        heard.append(f"serve {call.request_id}")
        return None

    async with serving(approve=approve, answer=answer, serve=serve) as session:
        async for _ in session.prompt("ask Bash\nquestion which?\ncall fs/read"):
            pass
    assert heard == ["approve r1", "answer q1", "serve h1"]


async def test_the_agent_has_its_answer_before_others_hear_that_it_asked() -> None:
    """Where nobody needs to be asked; and what others hear has its order."""
    frames = Frames()
    session = alone(toy_plan(), policy=Policy("all"), recorder=frames)
    heard: list[str] = []
    written: list[list[str]] = []

    class Watch(EventStream):
        def put(self, batch: Sequence[AnyEvent]) -> None:
            heard.extend(event.type for event in batch)
            if "permission.requested" in heard and not written:
                written.append([frame.dir for frame in frames[-3:]])

    watch = Watch()
    async with session:
        session._connection._run.fanout.add(watch)
        async for _ in session.prompt("ask Bash"):
            pass
    assert written == [["out", "note", "in"]]
    assert heard.index("permission.requested") + 1 == heard.index("permission.resolved")


async def test_an_answer_is_written_before_its_note_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the note comes first, in what is recorded and in what is understood."""
    frames = Frames()
    session = alone(toy_plan(), policy=Policy("all"), recorder=frames)
    done: list[str] = []
    async with session:
        run = session._connection._run
        receive, put = run.machine.receive, run.child.stdin.put

        def received(frame: Frame) -> Output:
            done.append(frame.dir)
            return receive(frame)

        def written(line: bytes) -> None:
            done.append("written")
            put(line)

        monkeypatch.setattr(run.machine, "receive", received)
        monkeypatch.setattr(run.child.stdin, "put", written)
        async for _ in session.prompt("ask Bash"):
            pass
    at = done.index("note")
    assert done[at - 1 : at + 2] == ["written", "note", "in"]
    first = next(n for n, frame in enumerate(frames) if frame.dir == "note")
    assert [frame.dir for frame in frames[first - 1 : first + 2]] == ["out", "note", "in"]


async def test_a_handler_sees_what_was_set_where_the_session_was_opened_and_nothing_of_another_s() -> None:
    seen: list[str] = []

    async def approve(request: PermissionRequest) -> ApproveReply:
        seen.append(NAME.get())
        NAME.set(request.id)
        return True

    NAME.set("who opened it")
    async with serving(approve=approve) as session:
        async for _ in session.prompt("ask Bash\nask Bash"):
            pass
    assert seen == ["who opened it"] * 2


NAME: ContextVar[str] = ContextVar("NAME")
