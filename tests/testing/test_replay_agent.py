"""A recording plays the agent: the events of the run are those that were recorded, and what the program sends otherwise is
told with both lines."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman import blocking
from dragoman._files.convert import convert
from dragoman._files.playback import Playback
from dragoman._files.sources import open_source
from dragoman._model.events import Event
from dragoman._model.frames import Frame
from dragoman._runtime.process.played import Stage, Stopped
from dragoman._wire.event_json import encode
from dragoman._wire.redaction import Redactor
from dragoman.testing import FakeAgent, ReplayAgent, asks, asks_user, fails, spends, thinks, waits, writes
from dragoman.testing._demo_agent import PROMPT, prepare
from tests.golden import CAPTURES

BOTH_WAYS = sorted(CAPTURES.glob("*/*/*/frames.jsonl"))
CLAUDE = CAPTURES / "claude_stream" / "2.1.325"

OURS = {"at", "time", "seq", "frame", "agent"}
"""What a run has of its own."""
BEGINNING = {"pid", "config", "cwd"}
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def told(events: list[Event], *folders: Path | str) -> list[dict[str, Any]]:
    """Events without what no two runs have in common: folders are one, and ids are told by their order."""
    ids: dict[str, str] = {}
    rows = []
    for event in events:
        text = encode(event).decode()
        for folder in folders:
            text = text.replace(str(folder), "/folder")
        row = json.loads(UUID.sub(lambda found: ids.setdefault(found[0], f"id-{len(ids)}"), text))
        left_out = OURS | (BEGINNING if row["type"] == "run.started" else set())
        rows.append({key: value for key, value in row.items() if key not in left_out})
    return rows


def name(path: Path) -> str:
    return "/".join(path.parts[-4:-1])


# --- every capture that has both directions, line by line --------------------------------------------------


class Script(Stage):
    """A stage whose client says prepared lines."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self.said: list[bytes] = []

    def line(self, seconds: float | None = None) -> bytes | None:
        return self._lines.pop(0) if self._lines else None

    def say(self, line: bytes, eol: bool = True) -> None:
        self.said.append(line)

    def complain(self, line: bytes, eol: bool = True) -> None:
        pass


def playback(path: Path, **fields: Any) -> Playback:
    known: dict[str, Any] = {
        "speed": None,
        "places": [],
        "redactor": Redactor(),
        "waits_for_end": True,
        **fields,
    }
    return Playback(lambda: open_source(path, path.parts[-4]), **known)


def renamed(line: bytes) -> bytes:
    """What another run of the same program would say: its own ids, in another folder."""
    message = json.loads(line.replace(b"/home/dev", b"/elsewhere"))
    if "uuid" in message:
        message["uuid"] = f"other-{message['uuid']}"
    for key in ("id", "request_id"):
        if key in message and ("method" in message or message.get("type") == "control_request"):
            message[key] = f"other-{message[key]}"
    return json.dumps(message).encode()


def frames_of(path: Path, direction: str) -> list[Frame]:
    return [frame for frame in open_source(path, path.parts[-4]) if frame.dir == direction]


def sayable(path: Path) -> bool:
    """Whether a client can have said all of it: some captures say what is no JSON, to see what comes of it."""
    for frame in frames_of(path, "in"):
        with suppress(ValueError):
            if isinstance(json.loads(frame.line), dict):
                continue
        return False
    return True


@pytest.mark.parametrize("path", [path for path in BOTH_WAYS if sayable(path)], ids=name)
def test_ids_of_another_run_are_the_agents_again(path: Path) -> None:
    """Every line is said, in order; each of our ids that the agent names is the one of this run."""
    stage = Script([renamed(frame.line) for frame in frames_of(path, "in")])
    player = playback(path, places=[("/home/dev", "/elsewhere")])
    player(stage)
    back = [
        json.loads(line.replace(b"/elsewhere", b"/home/dev").replace(b"other-", b""))
        if line.strip()
        else None
        for line in stage.said
    ]
    recorded = [json.loads(frame.line) if frame.line.strip() else None for frame in frames_of(path, "out")]
    assert _comparable(back) == _comparable(recorded)
    assert player.left == []


def _comparable(messages: list[Any]) -> list[Any]:
    """An id of ours that was a number has become a text."""
    return [
        {**message, "id": str(message["id"])} if isinstance(message, dict) and "id" in message else message
        for message in messages
    ]


def test_the_captures_that_are_played_are_of_both_kinds() -> None:
    played = {path.parts[-4] for path in BOTH_WAYS if sayable(path)}
    assert played == {"acp", "claude_stream", "codex_app"}
    assert len([path for path in BOTH_WAYS if not sayable(path)]) <= 3
    echoed = (CLAUDE / "drift_text" / "frames.jsonl").read_text()
    assert echoed.count("41534bfc-c8aa-468b-833e-14da275f8804") > 3


# --- runs of the public surface ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "prompt", "allowed"),
    [
        *((CLAUDE.parent / version / "drift_text", "Say hello.", True) for version in ("2.1.197", "2.1.325")),
        *((CLAUDE / f"drift_tool_{word}", "Make it.", word == "allowed") for word in ("allowed", "denied")),
        (CAPTURES / "acp" / "codex-acp-2.6.0" / "drift_tool_allowed", "Make it.", True),
    ],
    ids=lambda value: name(value / "x") if isinstance(value, Path) else None,
)
def test_a_real_run_again(path: Path, prompt: str, allowed: bool, tmp_path: Path) -> None:
    file = path / "frames.jsonl"
    agent = ReplayAgent(file)
    record = tmp_path / "again.jsonl"
    result = blocking.ask(agent, prompt, approve=lambda request: allowed, cwd=tmp_path, record=record)
    assert result.outcome == "completed"
    assert agent.left == []
    folders = ("/home/dev/work", tmp_path)
    assert told(result.events, *folders)[1:] == told(list(convert(file, path.parts[-3])), *folders)[1:]
    assert told(list(convert(record)), *folders) == told(result.events, *folders)


def test_a_real_run_that_was_interrupted(tmp_path: Path) -> None:
    file = CLAUDE / "drift_interrupt" / "frames.jsonl"
    record, begun, cut = tmp_path / "again.jsonl", False, False
    with blocking.open(ReplayAgent(file), cwd=tmp_path, record=record) as session:
        for event in session.prompt("Go on."):
            if isinstance(event, dragoman.SessionStatus) and begun and not cut:
                cut = True
                session.interrupt()
            begun = begun or isinstance(event, dragoman.SessionStarted)
    folders = ("/home/dev/work", tmp_path)
    assert (
        told(list(convert(record)), *folders)[1:] == told(list(convert(file, "claude_stream")), *folders)[1:]
    )


def test_the_first_turn_of_codex(tmp_path: Path) -> None:
    """Its client was another one, and had a second prompt."""
    agent = ReplayAgent(CAPTURES / "codex_app" / "0.166.0" / "approval_command" / "frames.jsonl")
    asked: list[str] = []

    def approve(request: dragoman.PermissionRequest) -> bool:
        asked.append(request.tool)
        return True

    result = blocking.ask(agent, "t0", approve=approve, cwd=tmp_path)
    assert (result.outcome, result.text, len(asked)) == ("completed", "1", 1)
    assert json.loads(agent.left[0])["params"]["input"] == [{"type": "text", "text": "t1"}]


@pytest.mark.parametrize(
    ("path", "prompt"),
    [("codex_exec/0.166.0/resume", "remember 42"), ("gemini_stream/0.61.0/allowed_tools", "x")],
)
def test_a_prompt_on_the_command_line(path: str, prompt: str, tmp_path: Path) -> None:
    file = CAPTURES / path / "stdout.jsonl"
    record = tmp_path / "run.jsonl"
    result = blocking.ask(ReplayAgent(file), prompt, cwd=tmp_path, approve="all", record=record)
    assert result.outcome == "completed"
    before, after = (  # a file that has only what the agent said does not know the prompt
        [{**row, "prompt": None} for row in told(events) if not row.get("synthesized")][1:-1]
        for events in (list(convert(file)), result.events)
    )
    assert before == after
    again = blocking.ask(ReplayAgent(record), prompt, cwd=tmp_path)
    assert told(again.events) == told(result.events)
    with pytest.raises(dragoman.NotAsRecorded, match="another prompt") as raised:
        blocking.ask(ReplayAgent(file), "something else", cwd=tmp_path, approve="all")
    assert (
        prompt in raised.value.recorded.split()[-1:] + raised.value.recorded.split(" -")
        or prompt in raised.value.recorded
    )
    assert raised.value.sent == "something else"


def everything(prompt: str) -> Any:
    yield thinks("Let me see.")
    allowed = yield asks("Bash", command="make", output="made")
    colour = yield asks_user("Which colour?", "red", "blue")
    yield writes("colour.txt", "red\n")
    yield spends(input_tokens=7, cost_usd=0.25)
    yield f"{allowed}, {colour}"


def ask_everything(agent: Any, folder: Path, prompt: str = "Go", **options: Any) -> dragoman.Result:
    folder.mkdir(exist_ok=True)
    return blocking.ask(
        agent,
        prompt,
        cwd=folder,
        approve=lambda request: True,
        answer=lambda question: {"answer": "red", "Which colour?": "red"},
        **options,
    )


@pytest.mark.parametrize("dialect", ["claude_stream", "acp"])
def test_a_fake_agents_run_again(dialect: str, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    first = ask_everything(FakeAgent([everything]), tmp_path / "one", record=record, dialect=dialect)
    second = ask_everything(ReplayAgent(record), tmp_path / "two")
    assert (first.outcome, second.outcome) == ("completed", "completed")
    folders = (tmp_path / "one", tmp_path / "two")
    assert told(first.events, *folders) == told(second.events, *folders)
    assert not (tmp_path / "two" / "colour.txt").exists()  # what the agent did itself, nobody does now


def test_the_demo_agents_run_again(tmp_path: Path) -> None:
    """What it has its client do with files is answered as it was, and not done again."""
    one, other, record = tmp_path / "one", tmp_path / "two", tmp_path / "run.jsonl"
    for folder in (one, other):
        folder.mkdir()
    prepare(one)
    options: dict[str, Any] = {"approve": lambda request: True}
    first = blocking.ask("demo", PROMPT, cwd=one, native={"pace": 0}, record=record, **options)
    second = blocking.ask(f"replay:{record}", PROMPT, cwd=other, **options)
    assert [event.type for event in first.events].count("host.answered") > 1
    assert told(first.events, one, other) == told(second.events, one, other)
    assert list(other.iterdir()) == []


def test_a_configuration_may_name_a_recording(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    ask_everything(FakeAgent([everything]), tmp_path / "one", record=record)
    config = dragoman.SessionConfig(agent=f"replay:{record}", prompt="Go")
    assert ask_everything(config, tmp_path / "two").outcome == "completed"


def test_a_run_that_failed_or_was_interrupted(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"

    def run(agent: Any, **options: Any) -> list[str]:
        outcomes = []
        with blocking.open(agent, **options) as session:
            for event in session.prompt("first"):
                if event.type == "session.started":
                    session.interrupt()
                if isinstance(event, dragoman.TurnEnded):
                    outcomes.append(event.outcome)
            outcomes += [e.outcome for e in session.prompt("second") if isinstance(e, dragoman.TurnEnded)]
        return outcomes

    assert run(FakeAgent([waits(), fails("no")]), record=record) == ["cancelled", "failed"]
    assert run(ReplayAgent(record)) == ["cancelled", "failed"]


# --- what is not as it was recorded ------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """One turn in which everything happens."""
    record = tmp_path / "run.jsonl"
    ask_everything(FakeAgent([everything]), tmp_path / "one", record=record)
    return record


def test_another_prompt_is_told_with_both_lines(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(dragoman.NotAsRecorded) as raised:
        ask_everything(ReplayAgent(recording), tmp_path / "two", "Stop")
    assert json.loads(raised.value.recorded)["message"]["content"] == "Go"
    assert json.loads(raised.value.sent)["message"]["content"] == "Stop"
    for shown in ("message.content was 'Go' and is 'Stop'", raised.value.recorded, raised.value.sent):
        assert shown in raised.value.message


def test_another_answer_is_told(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(dragoman.NotAsRecorded, match="behavior was 'allow' and is 'deny'"):
        blocking.ask(ReplayAgent(recording), "Go", cwd=tmp_path, approve=lambda request: False)


def test_a_prompt_too_many_is_told(recording: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"answer": lambda question: {"answer": "red", "Which colour?": "red"}}
    session = blocking.open(
        ReplayAgent(recording), cwd=tmp_path / "one", approve=lambda request: True, **options
    )
    with pytest.raises(dragoman.NotAsRecorded, match="the recording is over") as raised:
        _prompt(session, "Go", "And on")
    assert raised.value.recorded == "nothing more"


def _prompt(session: blocking.BlockingSession, *prompts: str, error: Exception | None = None) -> None:
    with session:
        for prompt in prompts:
            list(session.prompt(prompt))
        if error is not None:
            raise error


def test_a_tests_own_error_keeps_its_place(recording: Path, tmp_path: Path) -> None:
    session = blocking.open(ReplayAgent(recording), cwd=tmp_path)
    with pytest.raises(AssertionError, match="mine") as raised:
        _prompt(session, "Stop", error=AssertionError("mine"))
    assert "message.content was 'Go' and is 'Stop'" in raised.value.__notes__[0]


def test_a_secret_is_compared_as_it_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not shown where it differs."""
    secret = "sk-ant-api03-" + "x7Kq" * 20
    record = tmp_path / "run.jsonl"
    blocking.ask(FakeAgent(["Yes."]), f"Use {secret} here", record=record)
    assert secret not in record.read_text()
    assert blocking.ask(ReplayAgent(record), f"Use {secret} here").text == "Yes."
    with pytest.raises(dragoman.NotAsRecorded) as raised:
        blocking.ask(ReplayAgent(record), f"Never use {secret} here")
    assert secret not in raised.value.message


def test_answers_may_come_in_another_order(tmp_path: Path) -> None:
    """Those to several requests that are open at once."""
    path = CAPTURES / "codex_app" / "0.166.0" / "approval_parallel" / "frames.jsonl"
    lines = [frame.line for frame in frames_of(path, "in")]
    answers = [at for at, line in enumerate(lines) if b'"method"' not in line]
    assert len(answers) >= 2
    one, two = answers[:2]
    assert two == one + 1
    lines[one], lines[two] = lines[two], lines[one]
    stage = Script(lines)
    playback(path)(stage)
    assert stage.said == [frame.line for frame in frames_of(path, "out")]


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dragoman.UsageError, match="there is no file"):
        blocking.ask(f"replay:{tmp_path / 'none.jsonl'}", "x")
    transcript = next((CAPTURES / "claude_transcript").glob("*/*/*.jsonl"))
    with pytest.raises(dragoman.UsageError, match="no recording of a run"):
        ReplayAgent(transcript)
    for speed in (0, -1):
        with pytest.raises(dragoman.UsageError, match="speed must be"):
            ReplayAgent(transcript, speed=speed)


def test_its_own_speed(recording: Path) -> None:
    """The pauses are those between the lines, shorter by the speed; an answer begins the time anew."""

    class Timed(Script):
        def __init__(self, lines: list[bytes]) -> None:
            super().__init__(lines)
            self.pauses: list[float] = []

        def pause(self, seconds: float) -> None:
            self.pauses.append(seconds)

    path = CLAUDE / "drift_text" / "frames.jsonl"
    lines = [frame.line for frame in frames_of(path, "in")]
    stage = Timed(list(lines))
    playback(path, speed=2.0)(stage)
    last = frames_of(path, "out")[-1].t or 0.0
    prompted = frames_of(path, "in")[-1].t or 0.0
    longest = (last - prompted) / 2.0
    assert longest * 0.5 < max(stage.pauses) <= longest
    quick = Timed(list(lines))
    playback(path)(quick)
    assert quick.pauses == []


def test_a_signal_ends_it() -> None:
    class Stops(Script):
        def line(self, seconds: float | None = None) -> bytes | None:
            raise Stopped(15)

    path = CLAUDE / "drift_text" / "frames.jsonl"
    assert playback(path)(Stops([])) == -15
