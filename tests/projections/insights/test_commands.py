"""The commands of the Insights model, as ours."""

import json
from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model.content import ImageBlock
from dragoman._model.errors import UsageError
from dragoman._projections.insights.commands import read_command


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"command": "send_message", "sessionId": "s", "text": "Hi"}, [c.Prompt(text="Hi", session="s")]),
        (
            {
                "command": "send_message",
                "text": "Look",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
                ],
            },
            [c.Prompt(text="Look", blocks=[ImageBlock(mime_type="image/png", data="AA")])],
        ),
        (
            {"command": "permission_response", "requestId": "r", "allowed": True},
            [c.Answer(request="r", decision="allow")],
        ),
        (
            {
                "command": "permission_response",
                "requestId": "r",
                "allowed": True,
                "updatedInput": {"command": "ls"},
                "updatedPermissions": [{"type": "setMode"}],
            },
            [
                c.Answer(
                    request="r",
                    decision="allow",
                    updated_input={"command": "ls"},
                    remember=[{"type": "setMode"}],
                )
            ],
        ),
        (
            {
                "command": "permission_response",
                "requestId": "r",
                "allowed": False,
                "message": "no",
                "interrupt": True,
            },
            [c.Answer(request="r", decision="deny", message="no", interrupt=True)],
        ),
        (
            {
                "command": "permission_response",
                "requestId": "100",
                "allowed": True,
                "updatedInput": {"optionId": "allow_once"},
            },
            [c.Answer(request="100", decision="allow", option="allow_once")],
        ),
        (
            {
                "command": "permission_response",
                "requestId": "r",
                "allowed": True,
                "updatedInput": {"questions": [], "answers": {"Which?": "this"}},
            },
            [c.AnswerQuestion(request="r", answers={"Which?": "this"})],
        ),
        ({"command": "interrupt", "sessionId": "s"}, [c.Interrupt(session="s")]),
        ({"command": "kill"}, [c.Close()]),
        ({"command": "set_model", "model": "opus"}, [c.SetModel(model="opus")]),
        ({"command": "set_permission_mode", "mode": "plan"}, [c.SetMode(mode="plan")]),
        (
            {"command": "set_config_option", "configId": "model", "value": "b"},
            [c.SetOption(option="model", value="b")],
        ),
        ({"command": "set_reasoning_effort", "effort": "high"}, [c.SetOption(option="effort", value="high")]),
        (
            {"command": "create_session", "cwd": "/p", "prompt": "Hi"},
            [c.OpenSession(cwd="/p"), c.Prompt(text="Hi")],
        ),
        ({"command": "create_session", "cwd": "/p"}, [c.OpenSession(cwd="/p")]),
    ],
    ids=lambda value: value["command"] if isinstance(value, dict) else "",
)
def test_commands(said: dict[str, Any], expected: list[c.Command]) -> None:
    assert read_command(json.dumps(said)) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no command"),
        ("[]", "no command"),
        ("{}", "no command"),
        ('{"command":"dance"}', "no command is called 'dance'"),
        ('{"command":"set_model"}', "set_model needs model"),
        ('{"command":"permission_response","allowed":true}', "permission_response needs requestId"),
        ('{"command":"permission_response","requestId":"r"}', "needs allowed"),
        ('{"command":"set_reasoning_effort"}', "needs effort"),
        ('{"command":"create_session","prompt":"Hi"}', "create_session needs cwd"),
    ],
)
def test_what_is_no_command(line: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        read_command(line)
