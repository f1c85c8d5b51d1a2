"""Where turns begin and how they end."""

from pathlib import Path

import pytest

from dragoman._model import events as ev
from dragoman._model.content import ImageBlock
from dragoman._model.usage import Usage
from tests.dialects.claude.transcript.transcript_files import NEW, OLD, files, lines, outcomes, read
from tests.interpreted import of


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (OLD / "interrupt_tool", [("cancelled", "interrupted"), ("completed", "end_turn")]),
        (OLD / "kill_sigterm", [("truncated", "tool_use")]),
        (OLD / "killresume_2", [("truncated", "tool_use"), ("completed", "end_turn")]),
        (OLD / "api_refusal", [("refused", "invalid_request")]),
        (OLD / "hook_blocks_prompt", [("refused", "hook")]),
        (OLD / "max_turns", [("limited", "max_turns")]),
        (OLD / "json_schema_ok", [("completed", "tool")]),
        (OLD / "bash_background", [("completed", "end_turn")] * 2),
        (OLD / "bad_stdin_assistant_type", [("completed", "end_turn")]),
        (NEW / "api_529_exhausted", [("failed", "server_error")]),
        (NEW / "kill_sigint_stream", [("cancelled", "interrupted")]),
        (NEW / "refusal", [("refused", "invalid_request")]),
        (NEW / "subagent_bidi", [("completed", "end_turn")] * 3),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_how_turns_end(scenario: Path, expected: list[tuple[str, str]]) -> None:
    assert outcomes(read(*files(scenario))) == expected


def test_a_turn_in_full() -> None:
    events = read(OLD / "tools_basic" / "session.jsonl")
    (started,) = of(events, ev.TurnStarted)
    assert (started.prompt, started.native_turn_id) == ("Do things", "bebed092-35f1-4707-8a6c-d97aafa38d79")
    users = [message for message in of(events, ev.Message) if message.role == "user"]
    assert [message.text for message in users] == ["Do things"]
    (session,) = of(events, ev.SessionStarted)
    assert (session.cwd, session.cli_version) == ("/home/dev/work/tools_basic", "2.1.197")
    assert [update.model for update in of(events, ev.SessionUpdated)] == ["claude-opus-4-8"]
    (ended,) = of(events, ev.TurnEnded)
    assert (ended.text, ended.steps) == ("All done.", 6)
    assert ended.usage == Usage(
        input_tokens=960, cache_read_tokens=300, cache_write_tokens=60, output_tokens=120
    )
    assert [(change.change, change.path[-5:]) for change in of(events, ev.FileChanged)] == [
        ("modified", "a.txt"),
        ("created", "b.txt"),
        ("modified", "b.txt"),
    ]
    assert (of(events, ev.FileChanged)[0].diff or "").endswith(
        "@@ -1,2 +1,2 @@\n-line one\n+LINE ONE\n line two\n"
    )


def test_times_are_the_agents() -> None:
    events = read(OLD / "tools_basic" / "session.jsonl")
    prompt = of(events, ev.TurnStarted)[0]
    assert prompt.agent_time == "2026-11-15T19:36:20.529Z"
    assert prompt.time is None
    assert of(events, ev.TurnEnded)[0].agent_time == "2026-11-15T19:36:21.382Z"


def test_commands_are_prompts_as_they_were_typed() -> None:
    events = read(OLD / "slash_various" / "session.jsonl")
    prompts = [turn.prompt for turn in of(events, ev.TurnStarted)]
    assert prompts == ["one", "/usage", "/context", "/nosuchcommand", "/hello bob"]
    assert outcomes(events)[1:4] == [("completed", None)] * 3
    printed = [message.text for message in of(events, ev.Message) if message.role == "system"]
    assert printed[2] == "Unknown command: /nosuchcommand"
    expanded = [message.text for message in of(events, ev.Message) if message.synthetic]
    assert expanded[-1] == "Say hello to bob"


def test_words_said_into_a_turn_start_none() -> None:
    events = read(OLD / "send_while_busy" / "session.jsonl")
    assert len(of(events, ev.TurnStarted)) == 1
    said = [
        message.text for message in of(events, ev.Message) if message.role == "user" and not message.synthetic
    ]
    assert said == ["go", "steer: also this"]


def test_images_are_kept() -> None:
    (message,) = [m for m in of(read(OLD / "image_input" / "session.jsonl"), ev.Message) if m.role == "user"]
    assert message.text == "What is this?"
    assert isinstance(message.blocks[1], ImageBlock)
    assert message.blocks[1].mime_type == "image/png"


def test_costs_go_to_the_turn_where_one_process_had_one() -> None:
    (turn,) = of(read(NEW / "parallel_tools" / "session.jsonl"), ev.TurnEnded)
    assert turn.cost_usd == pytest.approx(0.00172)
    several = of(read(NEW / "subagent_bidi" / "session.jsonl"), ev.TurnEnded)
    assert [turn.cost_usd for turn in several] == [None] * 3


def test_a_stopgap_answer_ends_nothing() -> None:
    """2.1.325 writes one when it resumes a session that was killed."""
    events = lines(
        {"type": "user", "uuid": "1", "message": {"content": "go"}},
        {"type": "assistant", "uuid": "2", "message": {"id": "m1", "model": "x", "stop_reason": "tool_use"}},
        {
            "type": "assistant",
            "uuid": "3",
            "isApiErrorMessage": False,
            "message": {
                "id": "m2",
                "model": "<synthetic>",
                "stop_reason": "stop_sequence",
                "content": [{"type": "text", "text": "No response requested."}],
            },
        },
        {"type": "user", "uuid": "4", "message": {"content": "go on"}},
    )
    assert outcomes(events) == [("truncated", "tool_use"), ("truncated", None)]
