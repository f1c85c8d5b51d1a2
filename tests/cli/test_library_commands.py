"""The commands about the library: what they print, write and refuse. The screens are in test_library_screens."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from dragoman._cli.terminal import library_access
from dragoman._library.library import Library
from tests.cli.fake_program import Invoke
from tests.cli.stored_sessions import keep_sessions

YOLO = "95979db5"
"""The session of the capture gemini_chat/0.61.0/tools_yolo."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in which nothing has been kept, and where we stand."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "DRAGOMAN_LIBRARY", "DRAGOMAN_RECORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        library_access, "AT_MOST", 60
    )  # half a second may pass on a busy machine before a file is read
    return tmp_path


@pytest.fixture
def stored(home: Path) -> Path:
    """A home in which agents have kept sessions."""
    keep_sessions(home)
    return home


def listed(invoke: Invoke, *words: object) -> list[dict[str, Any]]:
    """By newlines alone: one prompt has U+2028 in it."""
    return [json.loads(line) for line in invoke("ls", "--json", *words).stdout.split("\n") if line]


def ids(invoke: Invoke, *words: object) -> list[str]:
    return [row["id"] for row in listed(invoke, *words)]


# --- ls and sync -----------------------------------------------------------------------------------------------


def test_sessions_are_there_without_a_sync(stored: Path, invoke: Invoke) -> None:
    rows = listed(invoke)
    assert sorted(row["agent"] for row in rows) == ["claude", "claude", "codex", "codex", "gemini", "gemini"]
    [yolo] = [row for row in rows if row["id"].startswith(YOLO)]
    assert (yolo["turns"], yolo["tools"], yolo["files"], yolo["outcome"]) == (1, 23, 2, "completed")
    assert yolo["usage"]["calls"] == 22


def test_what_there_was_no_time_for_is_said(
    stored: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_access, "AT_MOST", 0)
    done = invoke("ls")
    assert "session files still unread; `dragoman sync` reads them" in done.stderr


def test_sync_says_what_it_read(stored: Path, invoke: Invoke) -> None:
    assert invoke("sync").stdout == "6 session files read, 0 as they were\n"
    assert invoke("sync").stdout == "0 session files read, 6 as they were\n"
    assert json.loads(invoke("sync", "--rebuild", "--json").stdout)["looked_at"] == 6


def test_a_folder_that_is_named(stored: Path, invoke: Invoke) -> None:
    """What nobody can tell is left alone, and is no reason to stop."""
    folder = stored / "mailed"
    folder.mkdir()
    (folder / "notes.json").write_text('{"a": 1}')
    (folder / "x.jsonl").write_bytes(next((stored / ".claude").rglob("*.jsonl")).read_bytes())
    done = invoke("sync", folder)
    assert (done.exit_code, done.stdout) == (0, "1 session file read, 1 as they were\n")
    assert invoke("sync", stored / "nowhere").exit_code == 2


def test_filters(stored: Path, invoke: Invoke) -> None:
    assert len(ids(invoke, "--agent", "codex")) == 2
    assert len(ids(invoke, "--agent", "codex", "--agent", "gemini")) == 4
    assert ids(invoke, "--since", "1h") == []
    assert len(ids(invoke, "--since", "7d", "--until", "today")) == 6
    assert [id[:8] for id in ids(invoke, "--text", "USE TOOLS")] == [YOLO]
    assert [id[:8] for id in ids(invoke, "--folder", "/home/dev/work/tools_yolo")] == [YOLO]
    assert invoke("ls", "--since", "soon").exit_code == 2
    done = invoke("ls", "--archived")
    assert (done.exit_code, done.stdout) == (2, "")


def test_those_of_this_folder_first(stored: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are any here; -a has all."""
    file = next((stored / ".codex").rglob("*19-36*.jsonl"))
    file.write_bytes(file.read_bytes().replace(b"/home/dev/work/exec_apply_patch", bytes(stored)))
    assert len(ids(invoke)) == 1
    assert len(ids(invoke, "-a")) == 6


# --- show ------------------------------------------------------------------------------------------------------


def test_the_bytes_of_a_session_that_its_agent_deleted(stored: Path, invoke: Invoke) -> None:
    file = next(path for path in (stored / ".gemini").rglob("*.jsonl") if "02d3e3ce" in path.name)
    content = file.read_bytes()
    assert invoke("sync").exit_code == 0
    file.unlink()
    done = invoke("show", YOLO, "--raw")
    assert done.stdout_bytes == content
    assert "deleted by its agent, kept here" in invoke("show", YOLO).stdout
    assert invoke("restore", YOLO).stdout == f"{file}\n"
    assert file.read_bytes() == content
    file.write_bytes(b"other\n")
    done = invoke("restore", YOLO)
    assert (done.exit_code, done.stdout) == (2, "")
    assert invoke("restore", YOLO, "--to", stored / "there").exit_code == 0
    assert [path.read_bytes() for path in (stored / "there").iterdir()] == [content]


def test_events_are_those_of_convert(stored: Path, invoke: Invoke) -> None:
    file = next(path for path in (stored / ".gemini").rglob("*.jsonl") if "02d3e3ce" in path.name)
    assert invoke("show", YOLO, "--json").stdout == invoke("convert", file).stdout
    one_turn = invoke("show", YOLO, "--json", "--turn", 1).stdout.splitlines()
    assert one_turn
    assert all(json.loads(line)["turn"] == 1 for line in one_turn)


@pytest.mark.parametrize(
    ("id", "said"), [("ffff", "the library has no session ffff"), ("", "sessions may be meant by")]
)
def test_which_one_is_meant(id: str, said: str, stored: Path, invoke: Invoke) -> None:
    done = invoke("show", id)
    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_id_wherever_a_file_is_taken(stored: Path, invoke: Invoke) -> None:
    file = next(path for path in (stored / ".gemini").rglob("*.jsonl") if "02d3e3ce" in path.name)
    for words in (["convert"], ["convert", "--view", "insights"], ["replay"]):
        assert invoke(*words, YOLO).stdout == invoke(*words, file).stdout
    assert invoke("check", YOLO).stdout.startswith(f"{YOLO}: holds")


# --- usage -----------------------------------------------------------------------------------------------------


def test_usage_is_one_object(stored: Path, invoke: Invoke) -> None:
    report = json.loads(invoke("usage", "--by", "model", "--json").stdout)
    totals = report["totals"]
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "calls", "unpriced_calls"):
        assert totals[name] == sum(row[name] for row in report["rows"])
    assert totals["sessions"] == 6
    [gemini] = [row for row in report["rows"] if row["key"] == "gemini-2.5-pro"]
    assert gemini["cost_usd"] is None
    assert gemini["cost_estimated_usd"] == pytest.approx(0.0338, abs=1e-4)
    assert {"totals", "rows", "unpriced", "incomplete"} <= report.keys()


@pytest.mark.parametrize("by", ["day", "week", "month", "model", "project", "agent", "session"])
def test_every_way_to_divide_it_has_the_same_sum(by: str, stored: Path, invoke: Invoke) -> None:
    report = json.loads(invoke("usage", "--by", by, "--json").stdout)
    assert sum(row["input_tokens"] for row in report["rows"]) == report["totals"]["input_tokens"] > 0


def test_rows_for_a_spreadsheet_and_a_plot(stored: Path, invoke: Invoke) -> None:
    rows = list(csv.DictReader(StringIO(invoke("usage", "--by", "agent", "--csv").stdout)))
    assert {row["key"] for row in rows} == {"claude", "codex", "gemini"}
    assert invoke("usage", "--svg", stored / "u.svg").exit_code == 0
    assert (stored / "u.svg").read_text().startswith("<svg ")


def test_prices_of_ones_own_come_first(stored: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(stored / "config"))
    own = stored / "config/dragoman/prices.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[price]]\nmodels = ["gemini-2.5-pro"]\ninput = 1000\noutput = 0\n')
    done = invoke("usage", "--by", "model", "--json")
    [gemini] = [row for row in json.loads(done.stdout)["rows"] if row["key"] == "gemini-2.5-pro"]
    assert gemini["cost_estimated_usd"] == pytest.approx(gemini["input_tokens"] / 1000)


# --- export ----------------------------------------------------------------------------------------------------


def test_a_file_that_is_there_stays(stored: Path, invoke: Invoke) -> None:
    place = stored / "s.html"
    assert invoke("export", YOLO, "-o", place).exit_code == 0
    assert place.read_text().startswith("<!doctype html>")
    done = invoke("export", YOLO, "-o", place)
    assert (done.exit_code, done.stderr) == (
        2,
        f"dragoman: {place} is there already; --overwrite replaces it\n",
    )
    assert invoke("export", YOLO, "-o", place, "--overwrite").exit_code == 0
    assert invoke("export", YOLO, "-o", stored / "s.pdf").exit_code == 2


def test_markdown_and_jsonl(stored: Path, invoke: Invoke) -> None:
    assert invoke("export", YOLO, "--format", "md").stdout.startswith("# gemini\n")
    lines = invoke("export", YOLO, "--format", "jsonl").stdout.splitlines()
    assert json.loads(lines[0])["type"] == "run.started"


def test_secrets_are_taken_out_of_what_is_given_away(stored: Path, invoke: Invoke) -> None:
    secret = "sk-ant-api03-" + "Zq9x" * 12
    file = next(path for path in (stored / ".gemini").rglob("*.jsonl") if "02d3e3ce" in path.name)
    file.write_bytes(file.read_bytes().replace(b"All done.", f"All done, {secret}.".encode()))
    shown = invoke("export", YOLO).stdout
    assert "All done, [redacted]" in shown
    assert secret not in shown
    assert secret in invoke("export", YOLO, "--no-redact").stdout


# --- runs ------------------------------------------------------------------------------------------------------

DEMO = ("--approve", "all", "--option", "pace=0")


def test_a_run_is_kept(home: Path, invoke: Invoke) -> None:
    done = invoke("run", "demo", "Hello.", *DEMO)
    [id] = ids(invoke)
    assert f"kept as {id[:8]}: dragoman show {id[:8]}" in done.stderr
    assert "> Hello." in invoke("show", id[:8]).stdout
    assert invoke("check", id[:8]).exit_code == 0
    with Library() as library:
        assert list(library.recordings.rglob("*.jsonl")) == []
    played = invoke("run", f"replay:{id[:8]}", "Hello.", *DEMO, "--no-record")
    assert played.exit_code == 0, played.stderr
    assert ids(invoke) == [id]


@pytest.mark.parametrize("way", ["option", "variable"])
def test_or_not(way: str, home: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "variable":
        monkeypatch.setenv("DRAGOMAN_RECORD", "false")
    done = invoke("run", "demo", "Hello.", *DEMO, *(["--no-record"] if way == "option" else []))
    assert (done.exit_code, done.stderr) == (0, "")
    assert ids(invoke) == []


def test_a_library_that_cannot_be_written_stops_no_run(
    home: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_LIBRARY", str(home / "data"))
    (home / "data").mkdir()
    done = invoke("run", "demo", "Hello.", *DEMO)
    assert done.exit_code == 0
    assert "and not in the library" in done.stderr


def test_a_session_is_handed_over(stored: Path, invoke: Invoke) -> None:
    done = invoke("run", "demo", "Go on.", "--from", YOLO, *DEMO)
    assert done.exit_code == 0, done.stderr
    for text in (done.stderr, done.stdout):
        assert "- created `/home/dev/work/tools_yolo/proj/new.txt`" in text
    assert "Go on." in done.stdout
    assert f"of {YOLO}, a session of gemini" in done.stderr
    assert invoke("run", "demo", "Go on.", "--from", "ffff", *DEMO).exit_code == 1


# --- what a person says of it ----------------------------------------------------------------------------------


def test_names_and_pins(stored: Path, invoke: Invoke) -> None:
    assert invoke("sync").exit_code == 0
    last = ids(invoke)[-1]
    assert invoke("library", "name", last, "the best").exit_code == 0
    assert invoke("library", "pin", "the best").exit_code == 0
    assert ids(invoke)[0] == last
    assert invoke("sync", "--rebuild").exit_code == 0
    assert ids(invoke)[0] == last
    assert invoke("library", "pin", "the best", "--undo").exit_code == 0
    assert ids(invoke)[-1] == last


def test_what_is_forgotten_stays_so(stored: Path, invoke: Invoke) -> None:
    assert invoke("sync").exit_code == 0
    assert invoke("forget", YOLO, input="n\n").exit_code == 130
    assert invoke("forget", YOLO, "--yes").exit_code == 0
    assert len(ids(invoke)) == 5
    assert invoke("show", YOLO).exit_code == 1
    with Library() as library:
        [id] = library.forgotten()
    assert invoke("forget", id, "--undo").stdout == f"{id} comes back with the next sync\n"
    assert len(ids(invoke)) == 6


def test_folders_that_are_left_out(stored: Path, invoke: Invoke) -> None:
    assert invoke("library", "leave-out", stored / ".codex").exit_code == 0
    assert len(ids(invoke)) == 4
    assert json.loads(invoke("library", "--json").stdout)["left_out"] == [str(stored / ".codex")]
    assert invoke("library", "take-in", stored / ".codex").exit_code == 0
    assert len(ids(invoke)) == 6


def test_a_copy_answers_the_same(stored: Path, invoke: Invoke) -> None:
    before = ids(invoke)
    assert invoke("library", "copy", stored / "other.db").exit_code == 0
    assert ids(invoke, "--library", stored / "other.db") == before
    assert invoke("library", "copy", stored / "other.db").exit_code == 2


@pytest.mark.parametrize("rubbish", [b"", b"no database", bytes(range(256)) * 100])
def test_a_library_that_is_none(rubbish: bytes, home: Path, invoke: Invoke) -> None:
    (home / "x.db").write_bytes(rubbish)
    done = invoke("ls", "--library", home / "x.db")
    assert done.exit_code == (0 if not rubbish else 2)
    assert len(done.stderr.splitlines()) == 1
