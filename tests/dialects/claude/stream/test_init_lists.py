"""The lists of an init: read once for the same bytes, and into lists of each event's own."""

from typing import Any

import pytest

from dragoman import encode
from dragoman._dialects.claude.stream import translate
from dragoman._model import events as ev
from tests.interpreted import interpreted, of, out

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s",
    "tools": ["Bash", "Read"],
    "mcp_servers": [{"name": "files", "status": "connected"}],
    "slash_commands": ["/clear", "compact"],
    "agents": ["Explore", {"name": "Plan", "model": "opus"}],
    "skills": ["pdf", {"name": "xls", "description": "tables"}],
    "plugins": [{"name": "p", "path": "/p"}],
}
LISTS = ("tools", "mcp_servers", "slash_commands", "agents", "skills", "plugins")


def started(**said: Any) -> ev.SessionStarted:
    [event] = of(interpreted("claude_stream", out([{**INIT, **said}])), ev.SessionStarted)
    return event


def test_they_become_values() -> None:
    event = started()
    assert event.tools == ["Bash", "Read"]
    assert event.mcp_servers == [ev.McpServer(name="files", status="connected")]
    assert event.commands == [ev.SlashCommand(name="clear"), ev.SlashCommand(name="compact")]
    assert event.agents == [ev.SubagentType(name="Explore"), ev.SubagentType(name="Plan", model="opus")]
    assert event.skills == [ev.Skill(name="pdf"), ev.Skill(name="xls", description="tables")]
    assert event.plugins == [ev.Plugin(name="p", path="/p")]


def test_what_is_done_to_the_lists_of_one_event_is_not_done_to_the_next() -> None:
    first, before = started(), encode(started())
    for values in (first.tools, first.mcp_servers, first.commands, first.agents, first.skills, first.plugins):
        values.clear()
    assert encode(started()) == before


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "odd", [None, 5, "x", {}, [], [5], [None, "a"], ["a", 5, {"name": "b"}], ["a\ud83d"]]
)
def test_odd_ones_are_read_as_on_the_road_of_lines_that_do_not_fit(name: str, odd: Any) -> None:
    """A `cwd` that is no text sends the whole line there."""
    short, general = started(**{name: odd}), started(**{name: odd, "cwd": 5})
    assert encode(short) == encode(general)


def test_long_ones_are_read_and_not_kept() -> None:
    kept = translate._lists_kept.cache_info().currsize
    names = [f"tool-{n}" for n in range(translate._LONGEST // 8)]
    assert started(tools=names).tools == names
    assert translate._lists_kept.cache_info().currsize == kept
