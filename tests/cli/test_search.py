"""`dragoman search`: what it prints, on a terminal and elsewhere, and what it refuses."""

import json
import os
from pathlib import Path

import pytest

from dragoman._cli.terminal import library_access
from dragoman._library.library import Library
from tests.cli.fake_program import Invoke
from tests.library.transcripts import transcript


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two sessions of Claude Code's."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "DRAGOMAN_LIBRARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    projects = tmp_path / ".claude/projects"
    transcript(
        projects / "-w",
        "one",
        [
            ("user", "Fix the mean."),
            (
                "tool",
                "Read",
                "/w/stats.py",
                "def mean(values):\n    return sum(values) / (len(values) - 1)\n",
            ),
            ("assistant", "It is len(values), \x1b[31mnot one less."),
        ],
        cwd="/w",
    )
    transcript(projects / "-x", "two", [("user", "What is len( values )?")], at=86_400, cwd="/x/y")
    synced()
    return tmp_path


def synced() -> None:
    """All of it is in the library before: half a second may be too short for that."""
    with Library() as library:
        library.sync(jobs=1)


def test_places_by_session_newest_first(invoke: Invoke) -> None:
    done = invoke("search", "len(values)")
    assert done.exit_code == 0
    first, hit, second, *others = done.stdout.splitlines()
    assert first.startswith("What is len( values )?  claude  /x/y  ")
    assert second.startswith("Fix the mean.  claude  /w  ")
    id = hit.split()[0]
    assert hit == f"  {id}  turn 1  user         What is len( values )?"
    other = others[0].split()[0]
    assert others == [
        f"  {other}  turn 1  Read output  return sum(values) / (len(values) - 1)",
        rf"  {other}  turn 1  assistant    It is len(values), \x1b[31mnot one less.",
    ]
    assert done.stderr == f"dragoman: it is in 2 sessions; `dragoman show {id} --turn 1` shows the first\n"


def test_matches_are_marked_on_a_terminal(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    out = invoke("search", "sum").stdout
    assert "return \x1b[1;33msum\x1b[0m(values)" in out
    assert "…" in out


def test_json(invoke: Invoke) -> None:
    done = invoke("search", "sum", "--json")
    [line] = done.stdout.splitlines()
    hit = json.loads(line)
    assert hit["snippet"] == {"text": "return sum(values) / (len(values) - 1)", "marks": [[7, 10]]}
    told = {
        "turn": 1,
        "role": "output",
        "tool": "Read",
        "path": "/w/stats.py",
        "agent": "claude",
        "cwd": "/w",
    }
    assert hit.items() >= told.items()
    assert hit["at"].startswith("2026-")


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 3),
        (("--role", "user"), 1),
        (("--role", "user", "--role", "assistant"), 2),
        (("--tool", "read"), 1),
        (("--path", "stats"), 1),
        (("--path", "*.md"), 0),
        (("--agent", "claude"), 3),
        (("--agent", "codex"), 0),
        (("--folder", "/x"), 1),
        (("--since", "2026-11-02"), 1),
        (("--until", "2026-11-01T12:00"), 2),
        (("--until", "2026-11-02"), 3),
        (("--since", "2000w"), 3),
        (("--since", "2026-11-01", "--until", "2026-10-30"), 0),
        (("--limit", "2"), 2),
    ],
)
def test_options(
    invoke: Invoke, options: tuple[str, ...], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    done = invoke("search", "--json", "len(values)", *options)
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == count
    assert ("not found" in done.stderr) is (count == 0)
    assert ("--limit" in done.stderr) is ("--limit" in options)


def test_all_places_of_one_session(invoke: Invoke, home: Path) -> None:
    said = [("user", "go"), *(("assistant", f"a needle, {n}") for n in range(9))]
    transcript(home / ".claude/projects/-z", "three", said)  # type: ignore[arg-type]
    synced()
    lines = invoke("search", "needle", "--json").stdout.splitlines()
    assert len(lines) == 3
    id = json.loads(lines[0])["session"]
    assert len(invoke("search", "needle", "--json", "--session", id[:8]).stdout.splitlines()) == 9


def test_what_is_still_unread_is_told(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_access, "AT_MOST", 0)
    for name in ("new", "newer"):
        transcript(home / ".claude/projects/-z", name, [("user", "a needle")], at=90_000)
    done = invoke("search", "needle", "--json")
    assert done.stdout == ""
    assert "2 session files still unread" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("search", "()"), 2, "no word to look for"),
        (("search", "*a*"), 2, "at least 2 letters"),
        (("search",), 2, "Missing argument"),
        (("search", "x", "--since", "soon"), 2, "'soon' is no time"),
        (("search", "x", "--since", "999999w"), 2, "is no time"),
        (("search", "x", "--role", "nobody"), 2, "nobody"),
        (("search", "x", "--session", "zz"), None, "the library has no session zz"),
        (("search", "x", "--library", os.devnull + "/x"), 2, "cannot be opened"),
    ],
)
def test_refused(invoke: Invoke, words: tuple[str, ...], status: int | None, said: str) -> None:
    done = invoke(*words)
    assert done.exit_code == status if status is not None else done.exit_code != 0
    assert done.stdout == ""
    assert said in done.stderr
