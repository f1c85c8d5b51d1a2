"""Every other kind of update and answer, each with the event that it means."""

import json
from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from tests.dialects.acp.conversation import MODES, SESSION, Conversation, chunk, update

TABLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("plan", {"entries": [{"content": "a", "priority": "high", "status": "completed"}]}, {"type": ev.PlanUpdated, "entries": [ev.PlanEntry(text="a", status="completed", priority="high")]}),
    ("plan_update", {"plan": {"type": "items", "planId": "p", "entries": [{"content": "a"}, {"content": "b", "status": "cancelled"}]}}, {"type": ev.PlanUpdated, "entries": [ev.PlanEntry(text="a")]}),
    ("available_commands_update", {"availableCommands": [{"name": "/x", "description": "d", "input": {"hint": "h"}}]}, {"type": ev.SessionCommands, "commands": [ev.SlashCommand(name="x", description="d", hint="h")]}),
    ("current_mode_update", {"currentModeId": "plan"}, {"type": ev.SessionMode, "mode": "plan"}),
    ("config_option_update", {"configOptions": [{"id": "a", "type": "boolean", "currentValue": True}]}, {"type": ev.SessionOptions, "options": [{"id": "a", "type": "boolean", "currentValue": True}]}),
    ("session_info_update", {"title": "T"}, {"type": ev.SessionUpdated, "title": "T"}),
    ("usage_update", {"used": 5, "size": 10, "cost": {"amount": 0.5, "currency": "USD"}}, {"type": ev.UsageUpdated, "scope": "session", "context_used": 5, "context_window": 10, "cost_usd": 0.5}),
    ("usage_update", {"used": 5, "size": 10, "cost": {"amount": 3, "currency": "CHF"}}, {"type": ev.UsageUpdated, "cost_usd": None}),
    ("notice", {"severity": "warning", "title": "a", "description": "b"}, {"type": ev.Notice, "severity": "warning", "message": "a: b"}),
    ("notice", {"severity": "error", "title": "a"}, {"type": ev.Error, "message": "a", "scope": "session"}),
    ("compaction_update", {"compactionId": "c", "status": "failed", "error": "e"}, {"type": ev.ContextCompacted, "phase": "failed", "summary": "e", "trigger": "auto"}),
    ("state_update", {"state": "requires_action"}, {"type": ev.SessionStatus, "status": "requires_action"}),
    ("of_the_future", {"x": 1}, {"type": ev.NativeUnknown, "native_type": "session/update/of_the_future"}),
    ("session_info_update", {}, {"type": ev.NativeKnown}),
    ("terminal_update", {"terminalId": "t"}, {"type": ev.NativeKnown}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fields", "means"), TABLE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_update_and_its_event(kind: str, fields: dict[str, Any], means: dict[str, Any]) -> None:
    talk = Conversation().opened(modes=MODES)
    [event] = talk.update(kind, **fields)
    assert isinstance(event, means.pop("type"))
    assert event.session == SESSION
    for name, value in means.items():
        assert getattr(event, name) == value
    talk.end(code=0)


def test_what_does_not_change_is_said_once() -> None:
    talk = Conversation().opened(modes=MODES)
    commands = update("available_commands_update", availableCommands=[{"name": "x", "description": "d"}])
    talk.agent(commands, commands, update("current_mode_update", currentModeId="default"))
    assert len(talk.of(ev.SessionCommands)) == 1
    assert talk.of(ev.SessionMode) == []
    assert len(talk.of(ev.NativeKnown)) == 2
    talk.end(code=0)


def test_an_option_may_be_the_mode_or_the_model() -> None:
    options: list[dict[str, Any]] = [
        {"id": "m", "category": "mode", "currentValue": "a", "options": [{"value": "a"}, {"value": "b"}]},
        {"id": "l", "category": "model", "currentValue": "x", "options": [{"group": "g", "name": "G", "options": [{"value": "x"}, {"value": "y"}]}]},
        {"id": "e", "category": "thought_level", "currentValue": "low"},
    ]  # fmt: skip
    talk = Conversation().opened(configOptions=options)
    [started] = talk.of(ev.SessionStarted)
    assert (started.mode, started.model, started.effort) == ("a", "x", "low")
    assert [mode.id for mode in started.modes] == ["a", "b"]
    assert [model["value"] for model in started.models] == ["x", "y"]
    talk.update(
        "config_option_update",
        configOptions=[{**options[0], "currentValue": "b"}, {**options[1], "currentValue": "y"}, options[2]],
    )
    assert [event.mode for event in talk.of(ev.SessionMode)] == ["b"]
    assert [event.model for event in talk.of(ev.SessionUpdated)] == ["y"]
    talk.end(code=0)


@pytest.mark.parametrize(
    ("result", "command", "method", "params"),
    [
        ({"modes": MODES}, c.SetMode(mode="plan", id="x"), "session/set_mode", {"modeId": "plan"}),
        ({"models": {"currentModelId": "a", "availableModels": [{"modelId": "b"}]}}, c.SetModel(model="b", id="x"), "session/set_model", {"modelId": "b"}),
        ({"configOptions": [{"id": "o", "category": "model", "options": [{"value": "b"}]}]}, c.SetModel(model="b", id="x"), "session/set_config_option", {"configId": "o", "value": "b"}),
        ({"configOptions": [{"id": "o", "type": "boolean"}]}, c.SetOption(option="o", value=False, id="x"), "session/set_config_option", {"configId": "o", "type": "boolean", "value": False}),
    ],
)  # fmt: skip
def test_settings_are_answered_with_command_ended(
    result: Any, command: c.Command, method: str, params: dict[str, Any]
) -> None:
    talk = Conversation().opened(**result)
    talk.say(command)
    assert talk.sent[-1] == {
        "jsonrpc": "2.0",
        "id": "x",
        "method": method,
        "params": {"sessionId": SESSION, **params},
    }
    talk.answer({"configOptions": result.get("configOptions", [])}, to=method)
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.request_id, ended.ok) == ("x", True)
    talk.say(command)
    talk.answer(to=method, error={"code": -32603, "message": "no"})
    assert talk.of(ev.CommandEnded)[1].error == ev.ErrorInfo(message="no", code="-32603")
    talk.end(code=0)


def test_batches() -> None:
    talk = Conversation().working()
    lines = [{"jsonrpc": "2.0", **chunk("a")}, {"jsonrpc": "2.0", **chunk("b")}]
    talk.agent(json.dumps(lines).encode())
    assert [event.text for event in talk.of(ev.Delta)] == ["a", "b"]
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", ev.NativeKnown),
        (b"  ", ev.NativeKnown),
        (b"Loading...", ev.NativeInvalid),
        (b"42", ev.NativeInvalid),
        (b"{}", ev.NativeInvalid),
        (b"[]", ev.NativeInvalid),
        (b'{"jsonrpc":"2.0","method":"_vendor/thing"}', ev.NativeUnknown),
        (b'{"jsonrpc":"2.0","method":"session/update"}', ev.NativeUnknown),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}', ev.Error),
        (b'{"jsonrpc":"2.0","id":99,"result":{}}', ev.NativeKnown),
    ],
)
def test_odd_lines(line: bytes, kind: type[ev.Event]) -> None:
    talk = Conversation().opened()
    [event] = talk.agent(line)
    assert isinstance(event, kind)
    talk.end(code=0)
