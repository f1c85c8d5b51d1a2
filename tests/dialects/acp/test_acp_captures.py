"""The recorded runs of real agents: what holds beyond what tests/test_captures.py asks of every dialect."""

import json
from pathlib import Path

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects.acp import looks_like
from dragoman._dialects.acp.counting import RULES
from dragoman._files.convert import convert
from dragoman._files.sources import open_source
from dragoman._model import events as ev
from dragoman._wire.lines import LineSplitter
from tests.golden import captures, name

ALL = captures("acp")
VENDORS = ("_", "craft/", "qwen/")


@pytest.fixture(params=ALL, ids=name)
def capture(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def written(capture: Path) -> list[bytes]:
    return [frame.line for frame in open_source(capture / "frames.jsonl", "acp") if frame.dir == "out"]


def test_only_vendors_say_what_is_not_known(capture: Path) -> None:
    events = list(convert(capture / "frames.jsonl", dialect="acp"))
    unknown = [event.native_type or "" for event in events if isinstance(event, ev.NativeUnknown)]
    assert [kind for kind in unknown if not kind.startswith(VENDORS)] == []
    assert not [event for event in events if isinstance(event, ev.NativeInvalid)]


def test_without_the_client_and_in_any_chunks(capture: Path) -> None:
    lines = written(capture)
    data = b"".join(line + b"\n" for line in lines)
    events = list(convert(data, dialect="acp"))
    assert broken(events, frames=range(1, len(lines) + 1)) == []
    splitter = LineSplitter()
    again = [line for at in range(0, len(data), 777) for line in splitter.feed(data[at : at + 777])]
    assert splitter.close() is None
    assert list(convert(again, dialect="acp")) == events


def test_lines_are_recognized(capture: Path) -> None:
    assert all(
        looks_like(json.loads(line))
        for line in written(capture)
        if not json.loads(line).get("method", "").startswith(VENDORS)
    )


def test_every_agent_is_there() -> None:
    names = {path.parent.name for path in ALL}
    assert len(names) == 16
    assert RULES.keys() <= {
        event.name
        for path in ALL
        for event in convert(path / "frames.jsonl", dialect="acp")
        if isinstance(event, ev.AgentReady)
    }


# --- what single captures show ---------------------------------------------------------------------------------------


def events(name: str) -> list[ev.Event]:
    return list(convert(Path(ALL[0]).parents[1] / name / "frames.jsonl", dialect="acp"))


def test_codex_shell_output_is_in_meta_alone() -> None:
    [ended] = [event for event in events("codex-acp-2.6.0/shell_noterm") if isinstance(event, ev.ToolEnded)]
    assert (ended.output, ended.exit_code) == ("hi-from-shell\nseed.txt\n", 0)


def test_copilot_counts_per_session() -> None:
    usages = [
        event.usage for event in events("copilot-1.0.102/cancel_perm") if isinstance(event, ev.TurnEnded)
    ]
    assert [usage and usage.total_tokens for usage in usages] == [140, 140]


def test_gemini_has_two_sessions_at_once() -> None:
    ended = [event for event in events("gemini-0.61.0/acp_two_sessions") if isinstance(event, ev.TurnEnded)]
    assert len({event.session for event in ended}) == 2
    assert [(event.text or "")[:2] for event in ended] == ["A0", "B0"]


def test_gemini_modes() -> None:
    told = events("gemini-0.61.0/acp_modes")
    assert [event.mode for event in told if isinstance(event, ev.SessionMode)] == ["autoEdit", "yolo", "plan"]
    assert not any("MODE_UPDATE" in (event.text or "") for event in told if isinstance(event, ev.Message))


def test_a_login_is_asked_for() -> None:
    told = events("cline-3.0.65/init")
    [auth] = [event for event in told if isinstance(event, ev.Auth)]
    assert auth.status == "required"
    assert "Sign in with Cline" in (auth.message or "")


def test_protocol_2_plays_its_history_back() -> None:
    told = events("claude-agent-acp-0.99.1/v2_shell")
    assert [event.turn for event in told if isinstance(event, ev.TurnStarted)] == [1]
    tools = [(event.replay, event.output) for event in told if isinstance(event, ev.ToolEnded)]
    assert tools == [(False, "hi-from-shell\nseed.txt"), (True, "hi-from-shell\nseed.txt")]
