"""A thread goes on at an earlier turn: what is asked of Codex before the first prompt, by what each version answers."""

from typing import Any

from dragoman._model import commands as c
from dragoman._model import events as ev
from tests.dialects.codex.app import conversation
from tests.dialects.codex.app.conversation import THREAD

UNKNOWN = "Invalid request: unknown variant `thread/x`, expected one of `initialize`"


class Conversation(conversation.Conversation):
    def check(self, message: Any) -> None:
        if message.get("method") != "thread/rollback":  # which 0.166.0 does not have
            super().check(message)


def resumed(turn: str, **thread: Any) -> Conversation:
    """A thread that was resumed at a turn; a prompt waits."""
    wire = Conversation(method="thread/resume", params={"threadId": THREAD}, rewind=turn)
    wire.say(c.Prompt(text="go on", id="p"))
    wire.answer(wire.next("initialize"), {})
    wire.next("initialized")
    opened = {"thread": {"id": THREAD, **thread}, "model": "m", "approvalPolicy": "never"}
    wire.answer(wire.next("thread/resume"), opened)
    return wire


def goes_on(wire: Conversation) -> None:
    """Only now the prompt is sent."""
    assert wire.next("turn/start")["params"]["threadId"] == THREAD
    assert wire.sent == []
    assert wire.of(ev.Error) == []
    wire.end(code=0)


def turns(*ids: str, cursor: str | None = None) -> dict[str, Any]:
    return {"data": [{"id": id} for id in ids], "nextCursor": cursor}


def test_what_came_after_the_turn_is_taken_back() -> None:
    wire = resumed("b")
    wire.answer(wire.next("thread/turns/list"), turns("e", "d", cursor="more"))
    asked = wire.next("thread/turns/list")
    assert asked["params"]["cursor"] == "more"
    wire.answer(asked, turns("c", "b", cursor="yet more"))
    revert = wire.next("thread/revert")
    assert revert["params"] == {"threadId": THREAD, "beforeTurnId": "c"}
    assert wire.sent == []
    wire.answer(revert, {"thread": {"id": THREAD}})
    goes_on(wire)


def test_nothing_came_after_it() -> None:
    wire = resumed("b")
    wire.answer(wire.next("thread/turns/list"), turns("b", "a"))
    goes_on(wire)


def test_a_version_that_has_threads_of_an_older_kind() -> None:
    """0.150.0."""
    wire = resumed("a")
    wire.answer(wire.next("thread/turns/list"), turns("c", "b", "a"))
    wire.refuse(wire.next("thread/revert"), "thread/revert only supports paginated threads")
    rollback = wire.next("thread/rollback")
    assert rollback["params"] == {"threadId": THREAD, "numTurns": 2}
    wire.answer(rollback, {"thread": {"id": THREAD}})
    goes_on(wire)


def test_a_version_that_tells_the_turns_at_once() -> None:
    """0.135.0."""
    wire = resumed("a", turns=[{"id": id, "items": [], "status": "completed"} for id in "abc"])
    wire.refuse(wire.next("thread/turns/list"), UNKNOWN)
    wire.refuse(wire.next("thread/revert"), UNKNOWN)
    assert wire.next("thread/rollback")["params"]["numTurns"] == 2
    wire.sent.clear()


def refused(wire: Conversation) -> ev.ErrorInfo:
    """The prompt is refused by Codex, for this reason."""
    [error] = wire.of(ev.Error)
    prompt = wire.next("turn/start")
    assert prompt["params"]["threadId"] != THREAD
    wire.refuse(prompt, "thread not found")
    [ended] = wire.of(ev.TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert (error.scope, error.kind) == ("session", ended.error.kind)
    wire.end(code=0)
    return ended.error


def test_a_turn_that_is_not_there() -> None:
    wire = resumed("z")
    wire.answer(wire.next("thread/turns/list"), turns("b", "a"))
    error = refused(wire)
    assert (error.message, error.kind) == ("turn not found: z", "sessionNotFound")


def test_a_copy_at_a_turn_that_is_not_there() -> None:
    """0.150.0 looks for the turn itself."""
    wire = Conversation(method="thread/fork", params={"threadId": THREAD, "lastTurnId": "z"}, rewind="z")
    wire.answer(wire.next("initialize"), {})
    wire.next("initialized")
    wire.refuse(wire.next("thread/fork"), "lastTurnId 'z' was not found in the source thread")
    [error] = wire.of(ev.Error)
    assert (error.scope, error.kind) == ("session", "sessionNotFound")
    wire.end(code=0)


def test_a_list_without_an_end() -> None:
    wire = resumed("z")
    for _ in range(2):
        wire.answer(wire.next("thread/turns/list"), turns("b", "a", cursor="again"))
    assert refused(wire).kind == "sessionNotFound"


def test_turns_that_are_not_listed() -> None:
    wire = resumed("z")
    wire.refuse(wire.next("thread/turns/list"), "the disk is full")
    error = refused(wire)
    assert (error.message, error.kind) == ("the disk is full", None)


def test_turns_that_cannot_be_taken_back() -> None:
    """What thread/revert said, where there is no thread/rollback any more."""
    wire = resumed("a")
    wire.answer(wire.next("thread/turns/list"), turns("b", "a"))
    wire.refuse(wire.next("thread/revert"), "thread/revert only supports paginated threads")
    wire.refuse(wire.next("thread/rollback"), UNKNOWN)
    assert refused(wire).message == "thread/revert only supports paginated threads"
