"""The session files that the real CLI wrote."""

import pytest

from dragoman._model import events as ev
from dragoman._model.content import ImageBlock
from dragoman._model.usage import Usage
from tests.dialects.gemini.chat.chat_files import capture
from tests.interpreted import of


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("text", ["completed"]),
        ("tools_yolo", ["completed"]),
        ("resume_1_latest", ["completed", "completed"]),
        ("resume_3_uuid", ["completed"] * 4),
        ("acp_cancel_stream", ["truncated", "completed"]),
        ("loop_tool", ["limited"]),
        ("loop_text", ["limited"]),
        ("max_turns", ["truncated"]),
        ("err_nofinish", ["truncated"]),
        ("subagent_file", []),
    ],
)
def test_how_turns_ended(name: str, outcomes: list[str]) -> None:
    assert [turn.outcome for turn in of(capture(name), ev.TurnEnded)] == outcomes


def test_thoughts_text_and_tokens() -> None:
    events = capture("text")
    thought, text = [m for m in of(events, ev.Message) if m.role == "assistant"]
    assert (thought.kind, thought.text) == ("thinking", "**Planning**\nThinking hard about it.")
    assert (text.text, text.model) == ("Hello there, this is a streamed answer.", "gemini-2.5-pro")
    assert thought.message_id == text.message_id
    used = Usage(
        input_tokens=1000, cache_read_tokens=100, output_tokens=27, reasoning_tokens=7, total_tokens=1027
    )
    assert [event.usage for event in of(events, ev.UsageUpdated)] == [used]
    [turn] = of(events, ev.TurnEnded)
    assert (turn.text, turn.usage, turn.steps) == (text.text, used, 1)
    assert turn.model_usage.keys() == {"gemini-2.5-pro"}


def test_the_context_is_the_cli_s_own_message() -> None:
    events = capture("text")
    context, prompt = [m for m in of(events, ev.Message) if m.role == "user"]
    assert (context.synthetic, context.turn) == (True, 0)
    assert (prompt.text, prompt.synthetic, prompt.turn) == ("hello", False, 1)
    assert of(events, ev.SessionUpdated)[0].cwd == "/home/dev/work/text/proj"


def test_a_message_that_grew_is_said_once() -> None:
    """Every answer with calls is written twice, first without them."""
    events = capture("tools_yolo")
    said = [(m.message_id, m.block) for m in of(events, ev.Message)]
    assert len(said) == len(set(said))
    counted = [event.message_id for event in of(events, ev.UsageUpdated)]
    assert len(counted) == len(set(counted)) == 22
    assert len(of(events, ev.ToolStarted)) == 23


def test_what_files_became() -> None:
    created, modified = of(capture("tools_yolo"), ev.FileChanged)
    assert (created.change, created.before, created.after) == ("created", None, "one\ntwo\n")
    assert created.path == "/home/dev/work/tools_yolo/proj/new.txt"
    assert (modified.change, modified.before) == ("modified", "alpha\nbeta\ngamma\n")
    assert modified.after == "alpha\nBETA\ngamma\n"
    assert modified.diff is not None
    assert modified.diff.endswith("@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n")


def test_what_tools_answered() -> None:
    ended = {event.call_id.partition("__")[0]: event for event in of(capture("tools_yolo"), ev.ToolEnded)}
    assert ended["mcp_tiny_echo"].output == "echo: yo"
    assert ended["web_fetch"].status == "failed"
    assert ended["grep_search"].structured["summary"] == "Found 2 matches"
    [image] = ended["mcp_tiny_image"].content
    assert isinstance(image, ImageBlock)
    assert image.mime_type == "image/png"
    first = next(e for e in of(capture("tools_yolo"), ev.ToolEnded) if "read_file" in e.call_id)
    assert first.output == "alpha\nbeta\ngamma\n"


def test_commands_and_their_exit_codes() -> None:
    shells = [event for event in of(capture("tool_errors"), ev.ToolEnded) if "shell" in event.call_id]
    assert [(event.output, event.exit_code, event.status) for event in shells] == [
        ("", 3, "completed"),
        ("/usr/bin/bash: line 4: no_such_cmd_xyz: command not found", 127, "completed"),
    ]


def test_a_subagent_s_file_after_the_main_one() -> None:
    events = capture("subagent", "subagent_file")
    [started], [ended] = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert started.agent_id == ended.agent_id == "fc7e04c7-c88d-430a-a3ae-78a5df31a438"
    assert started.agent_type == "codebase_investigator"
    inside = [event for event in events if event.parent is not None]
    assert {event.parent for event in inside} == {started.call_id}
    assert [event.name for event in of(inside, ev.ToolStarted)] == ["list_directory", "complete_task"]
    assert len(of(events, ev.TurnStarted)) == 1
    assert len({event.session for event in events if event.session is not None}) == 1


def test_a_subagent_s_file_alone() -> None:
    events = capture("subagent_file")
    [started], [ended] = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert started.agent_id == ended.agent_id == events[-1].session
    assert ended.summary is not None
    assert "found it" in ended.summary
    assert of(events, ev.TurnStarted) == []


def test_what_the_user_typed() -> None:
    [turn] = of(capture("slash_custom"), ev.TurnStarted)
    assert turn.prompt == "/mycmd arg1"
    sent = [m.text for m in of(capture("slash_custom"), ev.Message) if m.role == "user" and not m.synthetic]
    assert sent == ["Do the thing with arg1"]


def test_a_resumed_session_repeats_nothing() -> None:
    prompts = [turn.prompt for turn in of(capture("resume_3_uuid"), ev.TurnStarted)]
    assert prompts == ["first question", "second question", "third question", "4th question"]
    assert len(of(capture("resume_3_uuid"), ev.SessionStarted)) == 1
    assert [event for event in capture("resume_3_uuid") if event.replay] == []
