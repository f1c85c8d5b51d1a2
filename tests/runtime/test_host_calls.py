"""What an agent asks its client to do: done by the host, as far as the handler and the approve mode allow."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import psutil
import pytest

from dragoman._model.commands import Answer, Reply
from dragoman._model.config import Approve
from dragoman._model.events import HostAnswered, HostCalled, Message
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.connection import Connection
from dragoman._runtime.host.host import OFFERS, Host
from dragoman._runtime.requests import LATER, Handlers, Later, ServeReply
from dragoman._runtime.session import Session
from dragoman._wire import note_frames
from dragoman.api import connect
from tests.runtime.recorders import Frames
from tests.runtime.toy_agent import PLURAL
from tests.runtime.toy_dialect import MANY, toy_plan

pytestmark = pytest.mark.anyio


def plural(**options: Any) -> Connection:
    return Connection(toy_plan("plural.py", capabilities=MANY), **options)


def call(method: str, **params: Any) -> str:
    return f"call {method} {json.dumps(params)}"


async def answers(session: Session, *orders: str) -> list[Any]:
    """What the agent was told, call by call."""
    turn = [event async for event in session.prompt("\n".join(orders))]
    told = [event.text for event in turn if isinstance(event, Message) and event.role == "assistant"]
    return [json.loads(text or "") for text in told]


async def test_files_and_terminals(tmp_path: Path) -> None:
    async with plural(policy=Policy("all")) as agent:
        session = await agent.session(tmp_path)
        everything = session.events()
        file = str(tmp_path / "new.txt")
        assert await answers(
            session,
            call("fs/read_text_file", path=file),
            call("fs/write_text_file", path=file, content="one\ntwo\n"),
            call("fs/read_text_file", path=file, line=2, limit=1),
            call("terminal/create", command="cat", args=["new.txt"], env=[], outputByteLimit=4),
            call("terminal/wait_for_exit", terminalId="terminal-1"),
            call("terminal/output", terminalId="terminal-1"),
            call("terminal/kill", terminalId="terminal-1"),
            call("terminal/release", terminalId="terminal-1"),
            call("terminal/output", terminalId="terminal-1"),
        ) == [
            f"Resource not found: {file}",
            {},
            {"content": "two\n"},
            {"terminalId": "terminal-1"},
            {"exitCode": 0, "signal": None},
            {"output": "two\n", "truncated": True, "exitStatus": {"exitCode": 0, "signal": None}},
            {},
            {},
            "There is no terminal terminal-1.",
        ]
    seen = [event async for event in everything if isinstance(event, HostCalled | HostAnswered)]
    assert [type(event) for event in seen] == [HostCalled, HostAnswered] * 9


async def test_each_session_has_its_own_directories(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "file").write_text("in b")
    async with plural() as agent:
        a, b = await agent.session(tmp_path / "a"), await agent.session(tmp_path / "b")
        order = call("fs/read_text_file", path=str(tmp_path / "b" / "file"))
        assert await answers(b, order) == [{"content": "in b"}]
        [refusal] = await answers(a, order)
        assert "outside of the session's directories" in refusal


@pytest.mark.parametrize(
    ("mode", "write", "execute"),
    [
        ("ask", False, False),
        ("dangerous", True, False),
        ("edits", True, False),
        ("all", True, True),
        ("plan", False, False),
        ("never", False, False),
    ],
)
async def test_writing_and_running_need_the_permission_that_a_tool_needs(
    tmp_path: Path, mode: Approve, write: bool, execute: bool
) -> None:
    (tmp_path / "file").write_text("old")
    async with plural(policy=Policy(mode)) as agent:
        session = await agent.session(tmp_path)
        read, wrote, ran = await answers(
            session,
            call("fs/read_text_file", path="file"),
            call("fs/write_text_file", path="file", content="new"),
            call("terminal/create", command="touch", args=["ran"]),
        )
        if execute:
            await answers(session, call("terminal/wait_for_exit", **ran))
    assert read == {"content": "old"}
    assert [isinstance(wrote, str), isinstance(ran, str)] == [not write, not execute]
    assert (tmp_path / "file").read_text() == ("new" if write else "old")
    assert (tmp_path / "ran").exists() == execute


async def test_an_answer_for_the_session_holds_for_what_the_host_does(tmp_path: Path) -> None:
    asked: list[PermissionRequest] = []

    def approve(request: PermissionRequest) -> Answer:
        asked.append(request)
        return Answer(decision="allow", remember=["session"])

    async with plural(handlers=Handlers(approve=approve)) as agent:
        session = await agent.session(tmp_path)
        for path in ("one", "one", "two"):
            assert await answers(session, call("fs/write_text_file", path=path, content="x")) == [{}]
    assert [request.title for request in asked] == ["one", "two"]
    assert asked[0].paths == [str(tmp_path / "one")]


async def test_a_read_only_session_changes_nothing(tmp_path: Path) -> None:
    async with connect(PLURAL, sandbox="read-only", approve="all", cwd=tmp_path) as agent:
        session = await agent.session()
        refusals = await answers(
            session,
            call("fs/write_text_file", path="file", content="new"),
            call("terminal/create", command="touch file"),
        )
    assert refusals == ["Denied: this session is read-only."] * 2
    assert os.listdir(tmp_path) == []


async def test_a_policy_for_tools_is_one_for_host_calls(tmp_path: Path) -> None:
    asked = []

    async def approve(request: PermissionRequest) -> Answer:
        asked.append((request.event.tool_name, request.kind, request.title, request.id))
        if request.kind == "edit":
            return Answer(decision="allow", by="policy", rule="edits are fine")
        return Answer(message="no commands", by="policy", rule="calm")

    async def serve(call: HostCalled) -> Reply:
        return Reply()

    recorder = Frames()
    async with plural(handlers=Handlers(approve=approve, serve=serve), recorder=recorder) as agent:
        session = await agent.session(tmp_path)
        told = await answers(
            session,
            call("fs/write_text_file", path="file", content="new"),
            call("terminal/create", command="make", args=["all"]),
        )
    assert told == [{}, "no commands"]
    assert asked == [
        ("fs/write_text_file", "edit", "file", "h2"),
        ("terminal/create", "execute", "make all", "h3"),
    ]
    assert note_frames.Decided(request="h3", by="policy", rule="calm") in recorder.notes()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(result={"content": "unsaved"}), {"content": "unsaved"}),
        (Reply(request="h2", result={"content": "unsaved"}), {"content": "unsaved"}),
        (Reply(error="not now"), "not now"),
        (None, {"content": "saved"}),
        (Reply(), {"content": "saved"}),
    ],
)
async def test_the_handler_may_answer_instead(tmp_path: Path, reply: ServeReply, told: Any) -> None:
    (tmp_path / "file").write_text("saved")
    async with plural(handlers=Handlers(serve=lambda call: reply)) as agent:
        session = await agent.session(tmp_path)
        assert await answers(session, call("fs/read_text_file", path="file")) == [told]


async def test_a_handler_that_fails_refuses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fails(call: HostCalled) -> Reply:
        raise ValueError("boom")

    (tmp_path / "file").write_text("saved")
    async with plural(handlers=Handlers(serve=fails)) as agent:
        session = await agent.session(tmp_path)
        [refusal] = await answers(session, call("fs/read_text_file", path="file"))
    assert "ValueError: boom" in refusal


async def test_a_handler_that_returns_a_yes_or_no_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether the host serves the call or the handler refuses it could not be told apart."""
    (tmp_path / "file").write_text("saved")
    handlers = Handlers(serve=lambda call: True)  # type: ignore[arg-type, return-value]
    async with plural(handlers=handlers) as agent:
        session = await agent.session(tmp_path)
        [refusal] = await answers(session, call("fs/read_text_file", path="file"))
    assert "must return a Reply, None or LATER, not True" in refusal


async def test_by_hand(tmp_path: Path) -> None:
    async with plural(handlers=Handlers(serve=lambda call: LATER)) as agent:
        session = await agent.session(tmp_path)
        told = []
        async for event in session.prompt(call("fs/read_text_file", path="file")):
            if isinstance(event, HostCalled):
                assert await session.reply(event.request_id, {"content": "by hand"})
            if isinstance(event, Message) and event.role == "assistant":
                told.append(event.text)
    assert told == ['{"content": "by hand"}']


async def test_a_permission_that_nobody_answers_is_none(tmp_path: Path) -> None:
    async with plural(handlers=Handlers(approve=lambda request: LATER)) as agent:
        session = await agent.session(tmp_path)
        assert await answers(session, call("fs/write_text_file", path="file", content="x")) == [
            "Denied: nobody answered."
        ]


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_permission_for_the_host_by_hand(decision: Literal["allow", "deny"], tmp_path: Path) -> None:
    """Whoever answers first wins: a handler that is still asked hears no more of it."""
    asked: list[PermissionRequest] = []
    left: list[str] = []
    given: list[bool] = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        tasks.start_soon(answer, request.id)
        try:
            await anyio.sleep_forever()
        finally:
            left.append(request.id)
        return False

    async def answer(request: str) -> None:
        given.append(await session.answer(request, decision, message="by hand"))
        given.append(await session.answer(request, "allow"))

    async with (
        anyio.create_task_group() as tasks,
        plural(handlers=Handlers(approve=approve)) as agent,
    ):
        session = await agent.session(tmp_path)
        [said] = await answers(session, call("fs/write_text_file", path="file", content="x"))
    assert said == ("by hand" if decision == "deny" else {})
    assert (tmp_path / "file").exists() == (decision == "allow")
    assert given == [True, False]
    assert left == [request.id for request in asked]


async def test_the_handler_itself_may_answer_for_the_host_by_hand(tmp_path: Path) -> None:
    async def approve(request: PermissionRequest) -> Later:
        assert await session.answer(request.id, "allow")
        return LATER

    async with plural(handlers=Handlers(approve=approve)) as agent:
        session = await agent.session(tmp_path)
        assert await answers(session, call("fs/write_text_file", path="file", content="x")) == [{}]


async def test_what_the_agent_takes_back_is_not_asked_any_more(tmp_path: Path) -> None:
    asked, left = anyio.Event(), anyio.Event()

    async def approve(request: PermissionRequest) -> bool:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            left.set()
        return True

    async with plural(handlers=Handlers(approve=approve)) as agent:
        session = await agent.session(tmp_path)
        with anyio.fail_after(60):
            stream = session.prompt(call("fs/write_text_file", path="file", content="x"))
            await asked.wait()
            await session.interrupt()
            async for _ in stream:
                pass
            await left.wait()
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {}),
        ("fs/write_text_file", {"path": "file"}),
        ("terminal/create", {"command": 3}),
        ("terminal/create", {"command": "true", "env": [3]}),
        ("terminal/output", {}),
    ],
)
async def test_a_call_that_lacks_something_is_refused(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    async with plural(policy=Policy("all")) as agent:
        session = await agent.session(tmp_path)
        [refusal] = await answers(session, call(method, **params))
    assert refusal.startswith("Invalid params: ")


async def test_other_host_calls_are_the_handlers_alone(tmp_path: Path) -> None:
    async with plural() as agent:
        session = await agent.session(tmp_path)
        assert await answers(session, call("hooks/run")) == [None]


async def test_calls_about_one_thing_are_served_in_their_order(tmp_path: Path) -> None:
    """The handler takes longest for the first of them."""
    served = []
    first = anyio.Event()

    def calls(host: Host, *methods: str) -> list[Any]:
        return [
            host.queue(HostCalled(request_id=method, method=method, params={"terminalId": "t"}))
            for method in methods
        ]

    host = Host([str(tmp_path)], {})
    output, wait, kill, release = calls(
        host, "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"
    )
    other = host.queue(HostCalled(request_id="x", method="terminal/output", params={"terminalId": "u"}))

    async def serve(name: str, place: Any, until: anyio.Event | None = None) -> None:
        async with place:
            if until is not None:
                await until.wait()
            served.append(name)

    async with anyio.create_task_group() as tasks:
        never = anyio.Event()
        tasks.start_soon(serve, "release", release)
        tasks.start_soon(serve, "kill", kill)
        tasks.start_soon(serve, "wait", wait, never)
        tasks.start_soon(serve, "output", output, first)
        tasks.start_soon(serve, "other", other)
        await anyio.wait_all_tasks_blocked()
        assert served == ["other"]
        first.set()
        await release.done.wait()
        assert served == ["other", "output", "kill", "release"]
        never.set()
    assert served[-1] == "wait"


async def test_terminals_end_with_their_session_and_with_the_run(tmp_path: Path) -> None:
    order = call("terminal/create", command="sh", args=["-c", "sleep 1000 & sleep 1000"])

    def sleepers() -> list[psutil.Process]:
        found = []
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # a keeper that has done its work
                found += [process] if process.name() == "sleep" else []
        return found

    async with plural(policy=Policy("all")) as agent:
        one, two = await agent.session(tmp_path), await agent.session(tmp_path)
        await answers(one, order)
        await answers(two, order)
        with anyio.fail_after(30):
            while len(sleepers()) < 4:  # noqa: ASYNC110 - nobody tells of a grandchild
                await anyio.sleep(0.01)
        await one.close()
        assert len(sleepers()) == 2
    assert sleepers() == []


async def test_what_is_offered() -> None:
    assert connect(PLURAL)._run.plan.options.offers == OFFERS
    assert connect(PLURAL, host=False)._run.plan.options.offers == frozenset()
