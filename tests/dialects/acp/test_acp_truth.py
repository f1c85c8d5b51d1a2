"""What older agents leave unsaid, or say and did not do (opencode 1.17.11, Gemini CLI 0.45.2)."""

from typing import Any

import pytest

from dragoman._dialects.acp.opening import Opening
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import SessionNotFound
from tests.dialects.acp.conversation import OPTIONS, SESSION, Conversation, chunk, permission, update

FS = frozenset(("fs",))


def outcome(talk: Conversation) -> tuple[str, str | None]:
    [ended] = talk.of(ev.TurnEnded)
    return ended.outcome, ended.reason


# --- cancelled -----------------------------------------------------------------------------------------------


def call(status: str, **fields: Any) -> dict[str, Any]:
    return update("tool_call_update", toolCallId="c1", kind="execute", status=status, **fields)


def test_a_turn_that_was_cut_is_cancelled_whatever_the_agent_calls_it() -> None:
    talk = Conversation().working()
    talk.agent(chunk("I run it."), call("in_progress"))
    talk.say(c.Interrupt())
    talk.agent(call("completed"))
    talk.stops()
    assert outcome(talk) == ("cancelled", "end_turn")
    talk.end(code=0)


def test_a_turn_that_was_cancelled_before_it_did_anything() -> None:
    talk = Conversation().working()
    talk.say(c.Interrupt())
    talk.stops()
    assert outcome(talk) == ("cancelled", "end_turn")


def test_a_turn_that_came_to_its_end_all_the_same() -> None:
    talk = Conversation().working()
    talk.agent(call("in_progress"))
    talk.say(c.Interrupt())
    talk.agent(call("completed"), chunk("Done."))
    talk.stops()
    assert outcome(talk) == ("completed", "end_turn")


def test_a_cancel_that_came_when_all_was_said() -> None:
    talk = Conversation().working()
    talk.agent(call("completed"), chunk("Done."))
    talk.say(c.Interrupt())
    talk.stops()
    assert outcome(talk) == ("completed", "end_turn")


# --- nothing at all ------------------------------------------------------------------------------------------


def test_a_turn_without_anything_is_warned_of() -> None:
    """opencode 1.17.11 says end_turn where its model's key is refused."""
    talk = Conversation().working()
    talk.stops(usage={"inputTokens": 0, "outputTokens": 0, "totalTokens": 0})
    [notice] = talk.of(ev.Notice)
    assert (notice.severity, notice.code, notice.synthesized) == ("warning", "empty_turn", True)
    assert outcome(talk) == ("completed", "end_turn")
    talk.end(code=0)


def test_a_command_may_do_nothing() -> None:
    talk = Conversation().opened()
    talk.say(c.Prompt(text="/clear"))
    talk.stops()
    talk.say(c.Prompt(text="go"))
    talk.agent(chunk("Done."))
    talk.stops()
    assert talk.of(ev.Notice) == []


# --- denied --------------------------------------------------------------------------------------------------


def test_a_denied_call_is_declined() -> None:
    """claude-agent-acp 0.75.0, codex-acp 2.2.2, opencode, qwen: failed, with an exit code of what never ran."""
    talk = Conversation().working()
    talk.agent(permission(options=OPTIONS))
    talk.say(c.Answer(request="7", decision="deny"))
    talk.agent(call("failed", rawOutput={"exit_code": 1, "output": "rejected"}))
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.status, ended.exit_code, ended.output) == ("declined", None, "rejected")


# --- files that the host wrote -------------------------------------------------------------------------------


def asked(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "method": method, "params": {"sessionId": SESSION, **params}}


def wrote(talk: Conversation, path: str = "/proj/a") -> None:
    talk.agent(asked(1, "fs/write_text_file", path=path, content="new\n"))
    talk.say(c.Reply(request="1", result={}))


def changes(talk: Conversation) -> list[tuple[str, str, str | None, str | None]]:
    return [(event.path, event.change, event.after, event.call_id) for event in talk.of(ev.FileChanged)]


def test_a_file_that_the_host_wrote_has_changed() -> None:
    talk = Conversation(offers=FS).working()
    talk.agent(update("tool_call", toolCallId="c1", title="write", kind="edit", status="in_progress"))
    talk.agent(asked(2, "fs/read_text_file", path="/proj/a"))
    talk.say(c.Reply(request="2", error="there is no such file", code=-32002))
    wrote(talk)
    assert changes(talk) == []
    talk.agent(update("tool_call_update", toolCallId="c1", status="completed"))
    assert changes(talk) == [("/proj/a", "created", "new\n", "c1")]
    talk.stops()
    talk.end(code=0)


def test_what_the_call_says_itself_counts_for_more() -> None:
    talk = Conversation(offers=FS).working()
    talk.agent(update("tool_call", toolCallId="c1", title="write", kind="edit", status="in_progress"))
    wrote(talk)
    diff = {"type": "diff", "path": "/proj/a", "oldText": "old\n", "newText": "new\n"}
    talk.agent(update("tool_call_update", toolCallId="c1", status="completed", content=[diff]))
    [change] = talk.of(ev.FileChanged)
    assert (change.before, change.after, change.phase) == ("old\n", "new\n", "applied")


def test_a_file_of_no_call_and_one_of_a_call_without_an_end() -> None:
    talk = Conversation(offers=FS).working()
    wrote(talk, "/proj/b")
    assert changes(talk) == [("/proj/b", "modified", "new\n", None)]
    talk.agent(update("tool_call", toolCallId="c1", title="write", kind="edit", status="in_progress"))
    wrote(talk)
    talk.stops()
    assert changes(talk)[1:] == [("/proj/a", "modified", "new\n", "c1")]
    talk.end(code=0)


def test_a_file_that_was_not_written() -> None:
    talk = Conversation(offers=FS).working()
    talk.agent(asked(1, "fs/write_text_file", path="/proj/a", content="new\n"))
    talk.say(c.Reply(request="1", error="denied"))
    assert changes(talk) == []


# --- a history that did not come -----------------------------------------------------------------------------


def play_back(talk: Conversation, *history: dict[str, Any]) -> None:
    """What Gemini CLI plays back, and then its commands, which mark the end of it."""
    talk.agent(chunk("<session_context>\nThis is the Gemini CLI.", "user_message_chunk"))
    talk.answer({}, to="session/load")
    talk.agent(*history, update("available_commands_update", availableCommands=[]))


def loaded(*history: dict[str, Any]) -> Conversation:
    """A session that was to be gone on with; a prompt waits."""
    talk = Conversation(Opening(cwd="/proj", resume=SESSION)).ready(name="gemini-cli", loadSession=True)
    talk.say(c.Prompt(text="go on", id="p"))
    play_back(talk, *history)
    return talk


def test_a_session_without_its_history_is_not_the_one_that_was_asked_for() -> None:
    talk = loaded()
    [error] = talk.of(ev.Error)
    assert (error.scope, error.kind) == ("session", "sessionNotFound")
    assert "session/prompt" not in talk.methods()
    [ended] = talk.of(ev.TurnEnded)
    assert ended.error is not None
    assert (ended.outcome, ended.error.kind) == ("failed", "sessionNotFound")
    with pytest.raises(SessionNotFound, match="came back without its history"):
        talk.say(c.Prompt(text="again"))
    talk.end(code=0)


@pytest.mark.parametrize("history", [[], [chunk("Count.", "user_message_chunk"), chunk("Seven.")]])
def test_one_of_several_sessions_is_open_when_its_history_is_there(history: list[Any]) -> None:
    talk = Conversation(opens_session=False).ready(name="gemini-cli", loadSession=True)
    talk.say(c.OpenSession(cwd="/proj", resume=SESSION, id="o"))
    play_back(talk, *history)
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.command, ended.ok, ended.session) == ("open_session", bool(history), SESSION)
    assert (talk.of(ev.Error), talk.of(ev.TurnEnded)) == ([], [])
    if not history:
        with pytest.raises(SessionNotFound, match="came back without its history"):
            talk.say(c.Prompt(text="again", session=SESSION))
    talk.end(code=0)


def test_a_session_with_its_history() -> None:
    talk = loaded(chunk("Count.", "user_message_chunk"), chunk("Seven."))
    assert talk.of(ev.Error) == []
    assert "session/prompt" in talk.methods()
