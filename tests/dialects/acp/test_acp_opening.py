"""How a conversation begins: one initialize for both versions, a session, its settings, or a clear failure."""

from typing import Any

import pytest

from dragoman._dialects.acp.opening import Opening
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import LoginRequired, SessionNotFound, Unsupported, UsageError
from tests.dialects.acp.conversation import MODES, SESSION, Conversation, chunk, update


def test_initialize_carries_both_shapes() -> None:
    talk = Conversation(offers=frozenset(("fs", "terminal")))
    [line] = talk.sent
    params = line["params"]
    assert params["protocolVersion"] == 2
    assert params["info"] == params["clientInfo"]
    assert params["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert params["clientCapabilities"]["terminal"] is True
    assert params["clientCapabilities"]["_meta"]["terminal_output"] is True
    assert params["clientCapabilities"]["session"].keys() == {"configOptions", "notices", "compaction"}
    assert params["capabilities"]["elicitation"] == {"form": {}, "url": {}}


def test_only_what_is_served_is_offered() -> None:
    capabilities = Conversation().sent[0]["params"]["clientCapabilities"]
    assert capabilities["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert capabilities["terminal"] is False


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_session(version: int) -> None:
    servers = {
        "local": {"command": "/bin/server", "args": ["-x"], "env": {"KEY": "v"}},
        "far": {"type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"}},
    }
    talk = Conversation(Opening(cwd="/proj", mcp_servers=servers, directories=["/other"])).opened(version)
    params = talk.sent[-1]["params"]
    assert talk.methods() == ["initialize", "session/new"]
    assert params["cwd"] == "/proj"
    assert params["additionalDirectories"] == ["/other"]
    local, far = params["mcpServers"]
    assert local.get("type") == (None if version == 1 else "stdio")
    assert local["env"] == [{"name": "KEY", "value": "v"}]
    assert far["headers"] == [{"name": "A", "value": "b"}]
    [started] = talk.of(ev.SessionStarted)
    assert (started.session, started.cwd, started.resumed) == (SESSION, "/proj", False)
    assert [server.name for server in started.mcp_servers] == ["local", "far"]
    talk.end(code=0)


@pytest.mark.parametrize(
    ("version", "offered", "takes"),
    [
        (1, {"sessionCapabilities": {"additionalDirectories": {}}}, True),
        (1, {"sessionCapabilities": {}}, False),
        (2, {"session": {"additionalDirectories": {}}}, True),
        (2, {"session": {}}, False),
    ],
)
def test_whether_it_takes_further_directories(version: int, offered: dict[str, Any], takes: bool) -> None:
    talk = Conversation(Opening(cwd="/proj", directories=["/other"]))
    assert talk.machine.takes_add_dirs is None
    talk.ready(version, **offered)
    assert talk.machine.takes_add_dirs is takes
    assert Conversation(Opening(cwd="/proj")).machine.takes_add_dirs is True


@pytest.mark.parametrize(
    ("version", "offered", "replay", "method"),
    [
        (1, {"loadSession": True}, False, "session/load"),
        (1, {"loadSession": True, "sessionCapabilities": {"resume": {}}}, False, "session/resume"),
        (1, {"loadSession": True, "sessionCapabilities": {"resume": {}}}, True, "session/load"),
        (1, {"sessionCapabilities": {"resume": {}}}, True, "session/resume"),
        (1, {}, False, "session/load"),
        (2, {}, True, "session/resume"),
    ],
)
def test_resuming(version: int, offered: dict[str, Any], replay: bool, method: str) -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION, replay=replay)).ready(version, **offered)
    assert talk.methods()[-1] == method
    assert ("replayFrom" in talk.sent[-1]["params"]) == (version == 2)
    talk.answer({}, to=method)
    [started] = talk.of(ev.SessionStarted)
    assert started.resumed
    talk.end(code=0)


def test_a_fork_is_a_session_of_its_own() -> None:
    talk = Conversation(Opening(cwd="/proj", resume="old", fork=True)).ready(sessionCapabilities={"fork": {}})
    talk.answer({"sessionId": SESSION}, to="session/fork")
    assert [(event.session, event.resumed) for event in talk.of(ev.SessionStarted)] == [(SESSION, True)]
    talk.end(code=0)


def test_an_agent_that_refuses_both_shapes_gets_the_old_one() -> None:
    talk = Conversation()
    [error] = talk.answer(to="initialize", error={"code": -32602, "message": "Invalid params"})
    assert isinstance(error, ev.Error)
    assert (error.severity, error.will_retry, error.scope) == ("warning", True, "protocol")
    assert talk.methods() == ["initialize", "initialize"]
    assert talk.sent[-1]["params"]["protocolVersion"] == 1
    assert "info" not in talk.sent[-1]["params"]
    talk.opened()
    assert talk.of(ev.SessionStarted)
    talk.end(code=0)


def test_prompts_wait_for_the_session_and_its_settings() -> None:
    talk = Conversation(Opening(cwd="/proj", modes=("plan",), model="big"))
    assert talk.say(c.Prompt(text="go", id="p1")) == []
    talk.ready()
    assert "session/prompt" not in talk.methods()
    models = {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "big"}]}
    talk.answer({"sessionId": SESSION, "modes": MODES, "models": models}, to="session/new")
    assert talk.methods()[-2:] == ["session/set_mode", "session/set_model"]
    talk.answer({}, to="session/set_mode")
    assert "session/prompt" not in talk.methods()
    assert talk.machine.turn_of("p1") is None
    talk.answer({}, to="session/set_model")
    assert talk.methods()[-1] == "session/prompt"
    assert talk.machine.turn_of("p1") == 1
    assert [event.mode for event in talk.of(ev.SessionMode)] == ["plan"]
    assert [event.model for event in talk.of(ev.SessionUpdated)] == ["big"]
    talk.stops()
    talk.end(code=0)


def test_a_loaded_session_is_not_prompted_before_it_is_there() -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION)).ready(loadSession=True)
    talk.say(c.Prompt(text="go"))
    talk.agent(chunk("old question", "user_message_chunk"))
    assert "session/prompt" not in talk.methods()
    talk.answer({}, to="session/load")
    assert talk.methods()[-1] == "session/prompt"
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("options", "modes", "method", "value"),
    [
        ([], MODES, "session/set_mode", "plan"),
        (
            [{"id": "m", "category": "mode", "options": [{"value": "x#plan", "name": "Plan"}]}],
            None,
            "session/set_config_option",
            "x#plan",
        ),
    ],
)
def test_the_first_mode_that_there_is(options: Any, modes: Any, method: str, value: str) -> None:
    talk = Conversation(Opening(cwd="/proj", modes=("architect", "plan")))
    talk.opened(configOptions=options, modes=modes)
    assert talk.methods()[-1] == method
    assert value in talk.sent[-1]["params"].values()


def test_options_are_set_in_the_shape_of_the_version() -> None:
    options = [{"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": False}]
    talk = Conversation(Opening(cwd="/proj", options={"fast": True})).opened(2, configOptions=options)
    assert talk.sent[-1]["params"] == {
        "sessionId": SESSION,
        "configId": "fast",
        "type": "boolean",
        "value": True,
    }
    talk.answer({"configOptions": [{**options[0], "currentValue": True}]}, to="session/set_config_option")
    [changed] = talk.of(ev.SessionOptions)
    assert changed.options[0]["currentValue"] is True
    talk.end(code=0)


# --- failures --------------------------------------------------------------------------------------------------


def test_a_prompt_that_can_never_be_sent_gets_a_failed_turn() -> None:
    talk = Conversation()
    talk.say(c.Prompt(text="go", id="p1"))
    talk.version = 1
    methods = [{"id": "login", "name": "Log in", "description": "Run `x login`"}]
    talk.answer({"protocolVersion": 1, "authMethods": methods}, to="initialize")
    talk.answer(to="session/new", error={"code": -32000, "message": "Authentication required"})
    assert talk.machine.turn_of("p1") == 1
    [ended] = talk.of(ev.TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert "Run `x login`" in ended.error.message
    [auth] = talk.of(ev.Auth)
    assert auth.status == "required"
    with pytest.raises(LoginRequired, match="Run `x login`"):
        talk.machine.send(c.Prompt(text="again"))
    talk.end(code=0)
    assert talk.of(ev.RunEnded)[0].outcome == "failed"


def test_a_mode_that_must_be_and_is_not() -> None:
    talk = Conversation(Opening(cwd="/proj", modes=("plan",), mode_required=True)).opened()
    talk.answer(to="session/set_mode", error={"code": -32601, "message": "Method not found"})
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.reason) == ("failed", "set_mode failed")
    talk.end(code=0)


def test_signing_in_first() -> None:
    talk = Conversation(Opening(cwd="/proj", auth_method="key")).ready()
    assert talk.methods()[-1] == "authenticate"
    talk.answer({}, to="authenticate")
    assert talk.methods()[-1] == "session/new"
    assert [event.status for event in talk.of(ev.Auth)] == ["ready"]
    new = Conversation(Opening(cwd="/proj", auth_method="key")).ready(2)
    assert new.methods()[-1] == "auth/login"
    new.answer(to="auth/login", error={"code": -32603, "message": "no"})
    assert [event.outcome for event in new.of(ev.TurnEnded)] == ["failed"]


def test_a_version_of_the_future() -> None:
    talk = Conversation()
    talk.agent({"id": talk.sent[0]["id"], "result": {"protocolVersion": 9}})
    assert talk.methods() == ["initialize"]
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["failed"]


# --- sessions that are not known yet -----------------------------------------------------------------------------


def test_updates_before_their_session_are_kept() -> None:
    talk = Conversation().ready()
    [known] = talk.agent(
        update("available_commands_update", availableCommands=[{"name": "x", "description": "d"}])
    )
    assert isinstance(known, ev.NativeKnown)
    talk.answer({"sessionId": SESSION}, to="session/new")
    started, commands = talk.events[-2:]
    assert isinstance(started, ev.SessionStarted)
    assert isinstance(commands, ev.SessionCommands)
    assert commands.session == SESSION
    talk.end(code=0)


def test_what_was_kept_is_delivered_in_the_end() -> None:
    talk = Conversation().ready()
    talk.agent(chunk("early"))
    assert not talk.of(ev.Delta)
    talk.end()
    assert [event.text for event in talk.of(ev.Delta)] == ["early"]


def test_another_session_in_the_same_process() -> None:
    talk = Conversation().opened()
    talk.say(c.OpenSession(cwd="/two", id="o1"))
    assert talk.sent[-1] | {"params": None} == {
        "jsonrpc": "2.0",
        "id": "o1",
        "method": "session/new",
        "params": None,
    }
    talk.answer({"sessionId": "s2"}, to="session/new")
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.command, ended.request_id, ended.result) == ("open_session", "o1", {"sessionId": "s2"})
    talk.say(c.Prompt(text="one"))
    talk.say(c.Prompt(text="two", session="s2"))
    talk.agent(chunk("A"), chunk("B", session="s2"), chunk("a"), chunk("b", session="s2"))
    talk.stops()
    [turn] = talk.of(ev.TurnEnded)
    assert (turn.session, turn.turn, turn.text) == ("s2", 2, "Bb")
    talk.agent({"id": talk.sent[-2]["id"], "result": {"stopReason": "end_turn"}})
    assert [(event.session, event.text) for event in talk.of(ev.TurnEnded)] == [("s2", "Bb"), (SESSION, "Aa")]
    talk.end(code=0)


def test_a_connection_without_a_session_of_its_own() -> None:
    talk = Conversation(opens_session=False)
    assert talk.say(c.OpenSession(cwd="/one", id="o1")) == []
    assert talk.methods() == ["initialize"]
    talk.ready()
    assert [(line["method"], line["id"]) for line in talk.sent[1:]] == [("session/new", "o1")]
    talk.answer({"sessionId": SESSION}, to="session/new")
    assert [event.session for event in talk.of(ev.SessionStarted)] == [SESSION]
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.request_id, ended.result) == ("o1", {"sessionId": SESSION})
    talk.end(code=0)


def test_every_session_is_set_up_and_one_that_is_not_is_lost_alone() -> None:
    talk = Conversation(Opening(cwd="/proj", modes=("plan",)), opens_session=False).ready()
    for id in ("s1", "s2"):
        talk.say(c.OpenSession(cwd="/x", id=f"open-{id}"))
        talk.answer({"sessionId": id, "modes": MODES}, to="session/new")
    first, second = (line["id"] for line in talk.sent if line.get("method") == "session/set_mode")
    talk.say(c.Prompt(text="one", session="s1", id="p1"))
    talk.say(c.Prompt(text="two", session="s2", id="p2"))
    talk.agent({"id": first, "error": {"code": 1, "message": "no"}})
    assert (talk.machine.turn_of("p1"), talk.machine.turn_of("p2")) == (1, None)
    talk.agent({"id": second, "result": {}})
    assert talk.machine.turn_of("p2") == 2
    with pytest.raises(UsageError, match="set_mode failed"):
        talk.machine.send(c.Prompt(text="again", session="s1"))
    talk.stops()
    talk.end(code=0)


def test_a_held_prompt_does_not_hold_up_another_session() -> None:
    talk = Conversation().opened()
    talk.say(c.OpenSession(cwd="/two", id="o1"))
    talk.answer({"sessionId": "s2"}, to="session/new")
    talk.say(c.Prompt(text="one"))
    talk.say(c.Prompt(text="later", id="p2"))
    talk.say(c.Prompt(text="two", session="s2"))
    assert [
        line["params"]["prompt"][0]["text"] for line in talk.sent if line.get("method") == "session/prompt"
    ] == ["one", "two"]
    talk.agent({"id": talk.sent[-2]["id"], "result": {"stopReason": "end_turn"}})
    assert talk.sent[-1]["params"]["prompt"][0]["text"] == "later"
    assert talk.machine.turn_of("p2") == 3
    talk.end()


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (c.Prompt(text="x", session="nobody"), UsageError),
        (c.SetMode(mode="bogus"), UsageError),
        (c.SetModel(model="x"), Unsupported),
        (c.SetOption(option="x", value=1), UsageError),
        (c.Compact(), Unsupported),
        (c.Fork(), Unsupported),
        (c.Steer(text="x"), Unsupported),
        (c.OpenSession(cwd="/x", resume="y"), Unsupported),
        (c.Answer(request="7"), UsageError),
    ],
    ids=lambda value: str(value),
)
def test_what_this_agent_cannot_do_is_said_before_anything_is_sent(
    command: c.Command, error: type[Exception]
) -> None:
    talk = Conversation().opened()
    with pytest.raises(error):
        talk.machine.send(command)


EARLY = [
    (c.SetMode(mode="Plan", id="a"), "session/set_mode", {"modeId": "plan"}),
    (c.SetModel(model="big", id="a"), "session/set_model", {"modelId": "big"}),
    (c.SetOption(option="effort", value="high", id="a"), "session/set_config_option", {"configId": "effort"}),
    (c.Fork(id="a"), "session/fork", {"cwd": "/proj"}),
]


@pytest.mark.parametrize(("command", "method", "params"), EARLY)
def test_settings_wait_for_the_session(command: c.Command, method: str, params: dict[str, Any]) -> None:
    talk = Conversation()
    talk.say(command)
    talk.ready()
    assert talk.methods() == ["initialize", "session/new"]
    talk.answer({"sessionId": SESSION, "modes": MODES}, to="session/new")
    assert talk.sent[-1]["method"] == method
    assert talk.sent[-1]["params"].items() >= {"sessionId": SESSION, **params}.items()
    talk.answer(to=method, error={"code": -32602, "message": "No such thing"})
    [ended] = [ended for ended in talk.of(ev.CommandEnded) if ended.request_id == "a"]
    assert (ended.ok, ended.error) == (False, ev.ErrorInfo(message="No such thing", code="-32602"))
    talk.end(code=0)


def test_settings_of_a_session_that_there_never_will_be_are_refused_by_the_agent() -> None:
    talk = Conversation()
    talk.say(c.SetMode(mode="plan", id="a"))
    talk.ready()
    talk.answer(to="session/new", error={"code": -32000, "message": "Authentication required"})
    talk.answer(to="session/set_mode", error={"code": -32602, "message": "Session not found"})
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.command, ended.request_id, ended.ok) == ("set_mode", "a", False)
    with pytest.raises(LoginRequired, match="no session could be opened: Authentication required"):
        talk.say(c.SetMode(mode="plan"))
    talk.end(code=0)


@pytest.mark.parametrize(("name", "held"), [("gemini-cli", True), ("OpenCode", False)])
def test_a_prompt_waits_for_a_history_that_comes_late(name: str, held: bool) -> None:
    """gemini 0.61.0 says that the session is loaded after the first piece; its commands mark the end."""
    talk = Conversation(Opening(cwd="/proj", resume=SESSION))
    talk.say(c.Prompt(text="Go on."))
    talk.ready(name=name, loadSession=True)
    talk.update("user_message_chunk", content={"type": "text", "text": "Count."})
    talk.answer({}, to="session/load")
    assert ("session/prompt" not in talk.methods()) == held
    if held:
        talk.agent(chunk("Seven."))
    talk.update("available_commands_update", availableCommands=[])
    assert talk.methods()[-1] == "session/prompt"
    talk.agent(chunk("Eight."))
    talk.stops()
    said = [(message.text, message.replay) for message in talk.of(ev.Message)]
    assert said == [
        ("Count.", True),
        *([("Seven.", True)] if held else []),
        ("Go on.", False),
        ("Eight.", False),
    ]
    talk.end(code=0)


# --- sessions that need not be open --------------------------------------------------------------------------


def test_another_session_than_was_asked_for_is_none() -> None:
    talk = Conversation(Opening(cwd="/proj", resume="old")).ready(loadSession=True)
    talk.answer({"sessionId": "new"}, to="session/load")
    assert talk.of(ev.SessionStarted) == []
    [error] = talk.of(ev.Error)
    assert (error.kind, error.scope) == ("sessionNotFound", "session")
    with pytest.raises(SessionNotFound, match="asked for session old, it opened new"):
        talk.say(c.Prompt(text="Go on."))


@pytest.mark.parametrize(
    ("code", "kind"), [(-32603, "sessionNotFound"), (-32002, "sessionNotFound"), (-32000, "loginRequired")]
)
def test_a_session_that_is_not_opened(code: int, kind: str) -> None:
    talk = Conversation(Opening(cwd="/proj", resume="old")).ready(loadSession=True)
    talk.answer(to="session/load", error={"code": code, "message": "no"})
    assert [error.kind for error in talk.of(ev.Error)] == [kind]


def test_a_new_session_that_is_not_opened_was_not_looked_for() -> None:
    talk = Conversation().ready()
    talk.answer(to="session/new", error={"code": -32603, "message": "no"})
    assert [error.kind for error in talk.of(ev.Error)] == [None]


def test_sessions_are_listed() -> None:
    talk = Conversation(opens_session=False).ready(sessionCapabilities={"list": {}, "delete": {}})
    talk.say(c.ListSessions(id="1", cwd="/proj", cursor="here"))
    assert talk.sent[-1]["params"] == {"cwd": "/proj", "cursor": "here"}
    told = [
        {"sessionId": "a", "cwd": "/proj", "title": "A", "updatedAt": "2026-11-16T15:01:28.296Z"},
        {"sessionId": "b", "cwd": "/proj", "updatedAt": "yesterday"},
        {"cwd": "/proj"},
        7,
    ]
    talk.answer({"sessions": told, "nextCursor": "there"}, to="session/list")
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.command, ended.request_id) == ("list_sessions", "1")
    infos, cursor = talk.machine.sessions_in(ended.result)
    assert [(info.id, info.title, info.cwd, info.updated is None) for info in infos] == [
        ("a", "A", "/proj", False),
        ("b", None, "/proj", True),
    ]
    assert cursor == "there"
    talk.say(c.DeleteSession(session="a"))
    assert talk.sent[-1]["params"] == {"sessionId": "a"}


def test_sessions_are_listed_only_where_that_is_offered() -> None:
    for command in (c.ListSessions(), c.DeleteSession(session="a")):
        with pytest.raises(Unsupported, match="Its initialize does not offer session/"):
            Conversation(opens_session=False).ready().say(command)
    Conversation(opens_session=False).ready(2).say(c.ListSessions(id="1"))
