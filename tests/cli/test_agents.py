"""`dragoman agents`."""

import json

from dragoman._agents import AGENTS
from tests.cli.fake_program import Invoke


def test_all_are_listed_with_what_is_known(invoke: Invoke) -> None:
    text = invoke("agents").stdout
    assert all(name in text for name in AGENTS)
    assert "tested 7.7.7" in text
    assert "starts 3.0.65: wants a login" in text
    assert "not tried" in text


def test_one_in_full(invoke: Invoke) -> None:
    text = invoke("agents", "opencode").stdout
    assert "npm install -g opencode-ai" in text
    assert "interrupt" in text
    assert "opencode.json" in text
    assert "kilo" not in text


def test_as_json(invoke: Invoke) -> None:
    lines = [json.loads(line) for line in invoke("agents", "--json").stdout.splitlines()]
    assert [line["agent"] for line in lines] == list(AGENTS)
    (pi,) = (line for line in lines if line["agent"] == "pi-acp")
    assert (pi["state"], pi["fetched"], pi["dialects"]) == ("tested", True, ["acp"])
    assert "permissions" not in pi["capabilities"]
    assert "prompt" in pi["capabilities"]


def test_one_that_is_not_there(invoke: Invoke) -> None:
    done = invoke("agents", "nobody")
    assert done.exit_code == 2
    assert "no agent 'nobody'" in done.stderr
