"""What Claude Code tells of itself: in its answer to initialize, in every init, and when it is asked."""

from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import Unsupported, UsageError
from tests.dialects.claude.stream.conversation import SESSION, Conversation, init, result

ANSWER = {
    "commands": [{"name": "review", "description": "Looks at it.", "argumentHint": "[file]"}],
    "agents": [{"name": "Plan", "description": "Plans.", "model": "haiku"}, {"name": "claude"}],
    "output_style": "default",
    "available_output_styles": ["default", "Learning", 7],
    "models": [{"value": "opus", "displayName": "Opus"}],
    "account": {"apiKeySource": "ANTHROPIC_API_KEY"},
    "claude_code_version": "2.1.325",
    "current_permission_mode": "plan",
}
INIT: dict[str, Any] = {
    "slash_commands": ["review", "/clear"],
    "agents": ["Plan", "claude", {"name": "own", "description": "Ours."}, 3],
    "skills": ["verify", {"name": "run"}],
    "plugins": [{"name": "p", "path": "/p", "source": "p@here"}, "bare", {}],
    "betas": ["context-1m"],
    "output_style": "Learning",
    "apiKeySource": "none",
    "mcp_servers": [{"name": "small", "status": "connected"}, {"status": "nameless"}],
    "permissionMode": "plan",
}


def answered(answer: Any = ANSWER) -> Conversation:
    talk = Conversation()
    initialize(talk, answer)
    return talk


def initialize(talk: Conversation, answer: Any, id: str = "initialize") -> None:
    response = {"subtype": "success", "request_id": id, "response": answer}
    talk.agent({"type": "control_response", "response": response})


def test_what_is_known_before_the_first_prompt() -> None:
    talk = answered()
    [ready] = talk.of(ev.AgentReady)
    assert ready.commands == [ev.SlashCommand(name="review", description="Looks at it.", hint="[file]")]
    assert ready.agents == [
        ev.SubagentType(name="Plan", description="Plans.", model="haiku"),
        ev.SubagentType(name="claude"),
    ]
    assert (ready.models, ready.account) == (ANSWER["models"], ANSWER["account"])
    assert (ready.output_style, ready.output_styles) == ("default", ["default", "Learning"])
    assert (ready.cli_version, ready.permission_mode) == ("2.1.325", "plan")
    known = talk.machine.ledger.known()
    assert (known["models"], known["agents"]) == (ready.models, ready.agents)
    assert talk.machine.ledger.facts() == {}


@pytest.mark.parametrize(
    ("asked", "reported", "warnings"),
    [
        (
            "default",
            "auto",
            ["claude was told to be in permission mode default, and says that it is in auto"],
        ),
        ("default", "default", []),
        ("default", None, []),
        (None, "auto", []),
    ],
)
def test_another_mode_than_it_was_told_is_warned_of(
    asked: str | None, reported: str | None, warnings: list[str]
) -> None:
    """Once: what is said of the mode later is a change of it."""
    talk = Conversation(["--permission-mode", asked] if asked is not None else [])
    talk.agent(init(permissionMode=reported), result(), init(permissionMode="plan"), result())
    notices = talk.of(ev.Notice)
    assert [notice.message for notice in notices] == warnings
    assert {(notice.severity, notice.code) for notice in notices} <= {("warning", "permission_mode")}
    talk.end(code=0)


def test_the_last_mode_of_a_command_line_counts() -> None:
    talk = Conversation(["--permission-mode", "default", "--permission-mode", "plan"])
    talk.agent(init(permissionMode="plan"))
    assert talk.of(ev.Notice) == []


@pytest.mark.parametrize(("answer", "reported"), [("success", "acceptEdits"), ("error", "default")])
def test_a_mode_that_we_set_ourselves_is_no_surprise(answer: str, reported: str) -> None:
    talk = Conversation(["--permission-mode", "default"])
    talk.say(c.SetMode(id="k", mode="acceptEdits"))
    talk.agent({"type": "control_response", "response": {"subtype": answer, "request_id": "k"}})
    talk.agent(init(permissionMode=reported))
    assert talk.of(ev.Notice) == []


def test_an_init_has_names_and_the_answer_before_it_the_rest() -> None:
    talk = answered()
    talk.agent(init(**INIT))
    [started] = talk.of(ev.SessionStarted)
    assert started.agents == [
        ev.SubagentType(name="Plan", description="Plans.", model="haiku"),
        ev.SubagentType(name="claude"),
        ev.SubagentType(name="own", description="Ours."),
    ]
    assert [command.name for command in started.commands] == ["review", "clear"]
    assert started.skills == [ev.Skill(name="verify"), ev.Skill(name="run")]
    assert started.plugins == [ev.Plugin(name="p", path="/p", source="p@here"), ev.Plugin(name="bare")]
    assert started.mcp_servers == [ev.McpServer(name="small", status="connected")]
    assert (started.betas, started.output_style, started.api_key_source) == (
        ["context-1m"],
        "Learning",
        "none",
    )
    assert started.output_styles == ["default", "Learning"]
    talk.agent(result(), init(**INIT))
    assert talk.of(ev.SessionUpdated) == []  # the same again is no news


def test_commands_that_changed_stay_changed() -> None:
    talk = answered()
    talk.agent(init(**{**INIT, "slash_commands": []}))
    new = {"name": "fresh", "description": "New."}
    talk.agent({"type": "system", "subtype": "commands_changed", "commands": [new], "session_id": SESSION})
    talk.agent(result(), init(**{**INIT, "slash_commands": ["fresh"]}))
    assert talk.machine.ledger.known()["commands"] == [ev.SlashCommand(name="fresh", description="New.")]
    assert talk.of(ev.SessionUpdated) == []


def test_the_mode_is_what_was_said_last() -> None:
    talk = answered()
    talk.agent(init(**INIT))
    status = {"type": "system", "subtype": "status", "session_id": SESSION}
    talk.agent(status | {"permissionMode": "acceptEdits"})
    assert talk.machine.ledger.known()["mode"] == "acceptEdits"
    talk.agent(result(), init(**{**INIT, "permissionMode": "default"}))
    assert talk.machine.ledger.known()["mode"] == "default"
    assert [event.mode for event in talk.of(ev.SessionMode)] == ["acceptEdits", "default"]


def test_a_client_that_initializes_again() -> None:
    """Capture bidi_controls: what is other then is other for the session at once."""
    talk = answered()
    talk.agent(init(**INIT))
    initialize(talk, {**ANSWER, "models": [{"value": "haiku"}]}, id="again")
    assert [event.models for event in talk.of(ev.SessionUpdated)] == [[{"value": "haiku"}]]
    talk.agent(result(), init(**INIT))
    assert len(talk.of(ev.SessionUpdated)) == 1


SERVER = {
    "name": "small",
    "status": "connected",
    "serverInfo": {"name": "small", "version": "1"},
    "tools": [{"name": "add", "annotations": {}}, {}],
}
BROKEN = {"name": "bad", "status": "failed", "error": "ENOENT"}


@pytest.mark.parametrize("begun", [False, True])
def test_servers_are_asked_for(begun: bool) -> None:
    """Before the first prompt too: an init after it, which has names only, takes nothing away."""
    talk = answered()
    both = [{"name": "small", "status": "connected"}, {"name": "bad", "status": "failed"}]
    if begun:
        talk.agent(init(**{**INIT, "mcp_servers": [{"name": "small", "status": "pending"}]}), result())
    talk.say(c.Refresh(fact="mcp_servers", id="ask"))
    assert talk.sent[-1]["request"] == {"subtype": "mcp_status"}
    initialize(talk, {"mcpServers": [SERVER, BROKEN]}, id="ask")
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.command, ended.request_id, ended.ok) == ("mcp_status", "ask", True)
    known = [
        ev.McpServer(
            name="small", status="connected", server_info={"name": "small", "version": "1"}, tools=["add"]
        ),
        ev.McpServer(name="bad", status="failed", error="ENOENT"),
    ]
    assert talk.machine.ledger.known()["mcp_servers"] == known
    assert [event.mcp_servers for event in talk.of(ev.SessionUpdated)] == [known] * begun
    talk.agent(init(**{**INIT, "mcp_servers": both}), result())
    assert talk.machine.ledger.known()["mcp_servers"] == known
    talk.agent(init(**{**INIT, "mcp_servers": [{"name": "small", "status": "failed"}]}), result())
    assert talk.of(ev.SessionUpdated)[-1].mcp_servers == [ev.McpServer(name="small", status="failed")]
    talk.end(code=0)


def test_models_are_asked_for() -> None:
    talk = answered()
    talk.say(c.Refresh(fact="models", id="ask"))
    assert talk.sent[-1]["request"] == {"subtype": "list_models"}
    error = {
        "subtype": "error",
        "request_id": "ask",
        "error": "Unsupported control request subtype: list_models",
    }
    talk.agent({"type": "control_response", "response": error})
    assert talk.machine.ledger.known()["models"] == ANSWER["models"]
    talk.say(c.Refresh(fact="models", id="again"))
    initialize(talk, {"models": [{"value": "haiku"}]}, id="again")
    assert talk.machine.ledger.known()["models"] == [{"value": "haiku"}]
    assert [event.ok for event in talk.of(ev.CommandEnded)] == [False, True]


@pytest.mark.parametrize("fact", ["account", "skills", "rate_limit"])
def test_what_it_tells_by_itself_cannot_be_asked(fact: Any) -> None:
    with pytest.raises(Unsupported, match=f"asking for {fact}. It can be asked for: mcp_servers, models"):
        answered().say(c.Refresh(fact=fact))


@pytest.mark.parametrize("tokens", [0, 4_000, None])
def test_how_much_it_may_think(tokens: int | None) -> None:
    talk = answered()
    talk.say(c.SetOption(option="max_thinking_tokens", value=tokens))
    assert talk.sent[-1]["request"] == {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens}


@pytest.mark.parametrize("tokens", [-1, True, "many", 1.5])
def test_it_cannot_think_so_much(tokens: Any) -> None:
    with pytest.raises(UsageError, match="max_thinking_tokens must be a whole number from 0 on, or None"):
        answered().say(c.SetOption(option="max_thinking_tokens", value=tokens))


def test_an_answer_of_other_kinds() -> None:
    """Whatever is not what it should be is left out."""
    odd: dict[str, Any] = {"commands": {}, "output_style": [], "models": None, "agents": [{"name": 5}, None]}
    talk = answered({**odd, "account": "me", "available_output_styles": "all"})
    [ready] = talk.of(ev.AgentReady)
    assert (ready.commands, ready.models, ready.agents, ready.account) == ([], [], [], {})
    talk.agent(init(agents="all", skills=[None, 4], plugins={"a": 1}, mcp_servers=[{"name": 4}, 3]))
    [started] = talk.of(ev.SessionStarted)
    assert (started.agents, started.skills, started.plugins, started.mcp_servers) == ([], [], [], [])
    talk.end(code=0)
