"""`dragoman drift` as a command: what it reads, says and exits with. What counts as new is in tests/test_drift.py."""

import json
import shutil
from pathlib import Path

import pytest

from dragoman._agents import AGENTS
from dragoman.testing._live_script import KINDS
from tests.cli.fake_program import HELLO, INIT, Invoke, result
from tests.golden import CAPTURES

TRANSCRIPTS = CAPTURES / "claude_transcript" / "2.1.325"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where nothing is installed and no session is kept."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def stream(folder: Path, *lines: object) -> Path:
    path = folder / "stream.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_nothing_new(invoke: Invoke, tmp_path: Path) -> None:
    path = stream(tmp_path, INIT, HELLO, result())
    done = invoke("drift", path)
    assert (done.exit_code, done.stdout) == (0, f"{path}: claude 2.1.197, tested\n  nothing new in 3 lines\n")


@pytest.mark.parametrize(
    ("version", "words"),
    [("1.0.0", "older than tested"), ("2.1.301", "between tested versions"), ("9.9.9", "newer than tested")],
)
def test_an_untested_version_is_said_and_is_nothing_new(
    invoke: Invoke, tmp_path: Path, version: str, words: str
) -> None:
    done = invoke("drift", stream(tmp_path, {**INIT, "claude_code_version": version}, HELLO, result()))
    assert done.exit_code == 0
    tested = ", ".join(AGENTS["claude"].tested_versions)
    assert f"claude {version}, {words} ({tested})" in done.stdout


def test_what_tested_versions_send_as_well_is_told_apart(invoke: Invoke) -> None:
    capture = CAPTURES / "acp" / "codex-acp-2.6.0" / "drift_fork" / "frames.jsonl"
    done = invoke("drift", capture, "--agent", "codex-acp")
    assert done.exit_code == 0
    assert "not understood, as in tested versions: _auth/status_update, 1 time" in done.stdout


def test_every_file_and_the_worst_of_their_statuses(invoke: Invoke, tmp_path: Path) -> None:
    good, bad = stream(tmp_path, INIT, HELLO, result()), tmp_path / "no.jsonl"
    bad.write_text("no JSON\n")
    done = invoke("drift", good, bad, tmp_path / "gone.jsonl")
    assert done.exit_code == 2
    assert "nothing new" in done.stdout
    assert done.stderr.splitlines() == [
        f"{bad} is no stream of an agent: it does not begin with JSON",
        f"there is no file {tmp_path / 'gone.jsonl'}",
    ]


def test_json(invoke: Invoke, tmp_path: Path) -> None:
    path = stream(tmp_path, INIT, {**HELLO, "shiny": 1}, {"type": "odd"}, {"type": "odd"}, result())
    done = invoke("drift", "--json", path, tmp_path / "gone.jsonl")
    told, gone = map(json.loads, done.stdout.splitlines())
    assert (told["agent"], told["dialect"], told["cli_version"]) == ("claude", "claude_stream", "2.1.197")
    assert (told["standing"], told["frames"], told["unknown"]) == ("tested", 5, {"odd": 2})
    assert told["new"] == [
        {"what": "field", "message": "assistant", "field": "shiny", "kind": "number", "count": 1, "frame": 2},
        {"what": "message", "message": "odd", "count": 2, "frame": 3},
    ]
    assert gone["error"].startswith("there is no file")


def test_a_canonical_stream_tells_of_fields_if_it_has_the_lines(invoke: Invoke, tmp_path: Path) -> None:
    path = stream(tmp_path, INIT, {**HELLO, "shiny": 1}, {"type": "odd"}, result())
    events = tmp_path / "events.jsonl"
    for options, expected in (((), ["odd"]), (("--native",), ["assistant", "odd"])):
        events.write_bytes(invoke("convert", *options, path).stdout_bytes)
        done = invoke("drift", "--json", events)
        assert done.exit_code == 1
        assert [new["message"] for new in json.loads(done.stdout)["new"]] == expected


@pytest.mark.parametrize("view", ["events", "insights", "agent-event"])
def test_where_the_agent_s_own_lines_are_not_in_it(invoke: Invoke, tmp_path: Path, view: str) -> None:
    shown = tmp_path / "shown.jsonl"
    shown.write_bytes(invoke("convert", "--view", view, stream(tmp_path, INIT, HELLO, result())).stdout_bytes)
    done = invoke("drift", shown)
    assert done.exit_code == 0
    assert "none of the agent's own lines is in it" in done.stdout


def test_stdin(invoke: Invoke) -> None:
    done = invoke("drift", "-", input=json.dumps(INIT) + "\n" + json.dumps(HELLO) + "\n")
    assert done.exit_code == 0


# --- what is on this machine ---------------------------------------------------------------------------------


@pytest.fixture
def sessions(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    for number, capture in enumerate(sorted(path for path in TRANSCRIPTS.iterdir() if path.is_dir())):
        shutil.copy(capture / "session.jsonl", folder / f"{number}.jsonl")
    (folder / "notes.json").write_text('{"nothing": "of a session"}')
    return folder


@pytest.mark.parametrize("arguments", [(), ("claude",)])
def test_an_agent_s_own_session_files(invoke: Invoke, sessions: Path, arguments: tuple[str, ...]) -> None:
    done = invoke("drift", *arguments)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("claude 2.1.325, tested\n  nothing new in ")
    lines = [json.loads(line) for line in (sessions / "0.jsonl").read_text().splitlines()]
    lines[-1]["shiny"] = 1
    (sessions / "0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = invoke("drift", *arguments)
    assert done.exit_code == 1
    assert f"shiny (number), 1 time, first in frame {len(lines)} of {sessions / '0.jsonl'}" in done.stdout


def test_an_agent_without_session_files(invoke: Invoke) -> None:
    done = invoke("drift", "claude")
    assert (done.exit_code, done.stderr) == (3, "claude: there is no session file of it here\n")


def test_nothing_to_look_at(invoke: Invoke) -> None:
    done = invoke("drift")
    assert done.exit_code == 2
    assert "name a FILE" in done.output


# --- live: what can be said before anything starts; the rest is in tests/real/test_drift.py ------------------


def test_live_with_an_agent_that_takes_no_scripted_model(invoke: Invoke) -> None:
    done = invoke("drift", "--live", "cursor")
    assert done.exit_code == 2
    assert "'cursor' cannot be given a scripted model" in done.output
    assert ", ".join(KINDS) in done.output


def test_live_with_an_agent_that_is_not_here(invoke: Invoke) -> None:
    done = invoke("drift", "--live", "claude")
    assert done.exit_code == 3
    assert done.stderr.startswith("claude: not installed: npm install")


@pytest.mark.parametrize(
    "arguments", [("--keep", "x", "claude"), ("--executable", "x", "claude"), ("--live", "--executable", "x")]
)
def test_options_that_say_nothing_without_live(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    assert invoke("drift", *arguments).exit_code == 2


def test_live_with_a_program_that_is_no_agent(invoke: Invoke, home: Path) -> None:
    """Every step fails, with its reason, and that is what is told."""
    (home / "bin").mkdir()
    program = home / "bin" / "claude"
    program.write_text("#!/bin/sh\necho 'no node here' >&2\nexit 127\n")
    program.chmod(0o755)
    done = invoke("drift", "--live", "--json", "claude")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert all(
        "no node here" in trial["error"] for trial in told["trials"] if trial["step"] in ("text", "two-turns")
    )
    assert all(trial["error"] for trial in told["trials"])
