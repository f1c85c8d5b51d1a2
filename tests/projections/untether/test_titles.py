"""Specification 001 §5: what a tool is shown as. Every row of its table, what it says beside it, and the form of
the program's own code."""

from typing import Any

import pytest

from dragoman._projections.untether.engines import ENGINES
from dragoman._projections.untether.titles import shown_call

GEMINI, CLAUDE = ENGINES["gemini"], ENGINES["claude"]
INPUT = {
    "command": "ls -l", "file_path": "/w/a.py", "query": "q", "url": "http://x", "pattern": "*.py",
}  # fmt: skip

TABLE = [
    ("Bash", "command", "ls -l", "command", "ls -l"),
    ("read_file", "tool", "read: /w/a.py", "tool", "read: `a.py`"),
    ("edit_file", "file_change", "edit: /w/a.py", "file_change", "a.py"),
    ("write_file", "file_change", "write: /w/a.py", "file_change", "a.py"),
    ("web_search", "tool", "websearch: q", "web_search", "q"),
    ("web_fetch", "tool", "webfetch: http://x", "web_search", "http://x"),
    ("list_dir", "tool", "ls: /w/a.py", "tool", "ls: `a.py`"),
    ("find_files", "tool", "glob: *.py", "tool", "glob: `*.py`"),
    ("search_files", "tool", "grep: *.py", "tool", "grep: *.py"),
    ("Frobnicate", "tool", "Frobnicate", "tool", "Frobnicate"),
]


@pytest.mark.parametrize(("tool", "kind", "title", "kind_035", "title_035"), TABLE)
def test_the_table_and_the_form_of_version_0_35(
    tool: str, kind: str, title: str, kind_035: str, title_035: str
) -> None:
    look = shown_call(GEMINI, tool, INPUT)
    assert (look.kind, look.title) == (kind, title)
    look = shown_call(GEMINI, tool, INPUT, compat="untether-0.35", cwd="/w")
    assert (look.kind, look.title) == (kind_035, title_035)


@pytest.mark.parametrize("tool", [row[0] for row in TABLE])
@pytest.mark.parametrize("input", [None, {}, {"command": 1, "file_path": None, "pattern": []}, "text", [1]])
def test_without_a_usable_input_the_name_stands_alone(tool: str, input: Any) -> None:
    look = shown_call(GEMINI, tool, input)
    assert ":" not in look.title
    assert look.title
    assert look.path is None


@pytest.mark.parametrize("key", ["file_path", "path", "filePath"])
def test_the_keys_of_paths(key: str) -> None:
    assert shown_call(GEMINI, "read_file", {key: "/a", "other": "/b"}).title == "read: /a"
    change = shown_call(GEMINI, "write_file", {key: "/a"})
    assert (change.title, change.path) == ("write: /a", "/a")


@pytest.mark.parametrize(
    ("engine", "keys"),
    [("claude", ("file_path", "path")), ("opencode", ("file_path", "filePath")), ("pi", ("path",))],
)
def test_the_keys_of_paths_by_engine_in_version_0_35(engine: str, keys: tuple[str, ...]) -> None:
    for key in ("file_path", "path", "filePath"):
        title = shown_call(ENGINES[engine], "read", {key: "/a"}, compat="untether-0.35").title
        assert title == ("read: `/a`" if key in keys else "read")


@pytest.mark.parametrize(
    ("tool", "kind", "title"),
    [
        ("Bash", "command", "cat b.py"),
        ("Read", "tool", "read: `a.py`"),
        ("LS", "tool", "ls: `a.py`"),
        ("Glob", "tool", "glob: `*.py`"),
        ("Grep", "tool", "grep: *.py"),
        ("Edit", "file_change", "a.py"),
        ("Write", "file_change", "a.py"),
        ("MultiEdit", "file_change", "a.py"),
        ("NotebookEdit", "file_change", "a.py"),
        ("WebSearch", "web_search", "q"),
        ("WebFetch", "web_search", "http://x"),
        ("Task", "subagent", "Look around"),
        ("Agent", "subagent", "Look around"),
        ("TodoWrite", "note", "update todos"),
        ("TodoRead", "note", "read todos"),
        ("AskUserQuestion", "note", "ask user"),
        ("mcp__files__read", "tool", "mcp__files__read"),
    ],
)
@pytest.mark.parametrize("how", [{}, {"live": True}, {"compat": "untether-0.35"}])
def test_tools_of_claude(tool: str, kind: str, title: str, how: Any) -> None:
    """The published table is Gemini's: Claude's tools are titled by the program's own."""
    given = {**INPUT, "command": "cat /w/b.py", "description": "Look around"}
    look = shown_call(CLAUDE, tool, given, cwd="/w", **how)
    assert (look.kind, look.title) == (kind, title)
    assert look.path == ("/w/a.py" if kind == "file_change" else None)


@pytest.mark.parametrize(
    ("tool", "kind", "title"),
    [
        ("run_shell_command", "command", "ls -l"),
        ("replace", "file_change", "edit: /w/a.py"),
        ("read_many_files", "tool", "read: /w/a.py"),
        ("list_directory", "tool", "ls: /w/a.py"),
        ("glob", "tool", "glob: *.py"),
        ("grep_search", "tool", "grep: *.py"),
        ("search_file_content", "tool", "grep: *.py"),
        ("google_web_search", "tool", "websearch: q"),
        ("write_todos", "note", "update todos"),
        ("ask_user", "note", "ask user"),
        ("invoke_agent", "tool", "invoke_agent"),
    ],
)
def test_the_names_that_gemini_really_uses_are_known_live(tool: str, kind: str, title: str) -> None:
    look = shown_call(GEMINI, tool, INPUT, live=True)
    assert (look.kind, look.title) == (kind, title)
    if tool != "glob":  # the one real name that the table's last row makes a row of
        assert shown_call(GEMINI, tool, INPUT).title == tool


def test_a_path_outside_stays_whole() -> None:
    assert (
        shown_call(GEMINI, "read_file", {"path": "/elsewhere/a"}, compat="untether-0.35", cwd="/w").title
        == "read: `/elsewhere/a`"
    )
    assert (
        shown_call(GEMINI, "read_file", {"path": "/wide/a"}, compat="untether-0.35", cwd="/w").title
        == "read: `/wide/a`"
    )


@pytest.mark.parametrize(
    ("path", "cwd", "shown"),
    [("/w", "/w", "."), ("/w/", "/w", "."), ("/w/a/b", "/w/", "a/b"), ("/a", "/", "a"), ("a", "/w", "a")],
)
def test_a_path_is_seen_from_the_working_directory(path: str, cwd: str, shown: str) -> None:
    assert shown_call(CLAUDE, "LS", {"path": path}, cwd=cwd).title == f"ls: `{shown}`"


def test_a_command_may_be_a_list_of_words() -> None:
    assert shown_call(CLAUDE, "Bash", {"command": ["git", "status"]}).title == "git status"


@pytest.mark.parametrize(
    ("command", "cwd", "shown"),
    [
        ("cp /w/a /w/b/c", "/w", "cp a b/c"),
        ("ls /w", "/w", "ls /w"),
        ("ls /etc", "/", "ls /etc"),
        ("ls /etc", None, "ls /etc"),
    ],
)
def test_a_command_is_shown_without_the_working_directory(command: str, cwd: str | None, shown: str) -> None:
    assert shown_call(CLAUDE, "Bash", {"command": command}, cwd=cwd).title == shown
