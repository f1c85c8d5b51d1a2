import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.events import Location
from dragoman._model.toolnames import (
    KINDS,
    TITLE_LENGTH,
    kind_of,
    locations_of,
    split_mcp,
    title_of,
    tool_started,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "execute"),
        ("KillShell", "execute"),
        ("Read", "read"),
        ("NotebookEdit", "edit"),
        ("ToolSearch", "search"),
        ("WebFetch", "fetch"),
        ("WebSearch", "browse"),
        ("Task", "think"),
        ("Agent", "think"),
        ("AskUserQuestion", "ask"),
        ("TaskUpdate", "memory"),
        ("ExitPlanMode", "switch_mode"),
        ("mcp__demo__echo", "mcp"),
        ("mcp_tiny_echo", "mcp"),
        ("run_shell_command", "execute"),
        ("apply_patch", "edit"),
        ("StructuredOutput", "other"),
        ("", "other"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_no_name_is_in_the_table_twice() -> None:
    from dragoman._model.toolnames import _NAMES

    assert sum(len(names.split()) for names in _NAMES.values()) == len(KINDS)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("mcp__demo__echo", ("demo", "echo")),
        ("mcp__demo__get__all", ("demo", "get__all")),
        ("mcp__plugin_a_b__run", ("plugin_a_b", "run")),
        ("mcp_tiny_list_all", ("tiny", "list_all")),
        ("mcp__", (None, "mcp__")),
        ("mcp_call", (None, "mcp_call")),
        ("Bash", (None, "Bash")),
    ],
)
def test_mcp_names_are_split(name: str, parts: tuple[str | None, str]) -> None:
    assert split_mcp(name) == parts


@pytest.mark.parametrize(
    ("name", "input", "title"),
    [
        ("Bash", {"command": "make test", "description": "Run tests"}, "make test"),
        ("Bash", {"command": "cat <<E\nx\nE"}, "cat <<E …"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("Read", {"file_path": "/a.py", "offset": 3}, "/a.py"),
        ("Grep", {"pattern": "def ", "path": "src"}, "def "),
        ("Task", {"description": "Sub job", "prompt": "do it"}, "Sub job"),
        ("AskUserQuestion", {"questions": [{"question": "Which colour?"}]}, "Which colour?"),
        ("mcp__demo__echo", {"text": "x"}, None),
        ("Bash", {"cmd": 1}, None),
        ("Bash", "not an object", None),
        ("TodoWrite", {"todos": []}, None),
    ],
)
def test_titles(name: str, input: object, title: str | None) -> None:
    want = title.strip() if title else None
    assert title_of(name, input) == want


def test_long_titles_are_cut() -> None:
    assert title_of("Bash", {"command": "x" * 1000}) == "x" * TITLE_LENGTH + " …"


def test_locations() -> None:
    assert locations_of({"file_path": "/a", "offset": 7}) == [Location(path="/a", line=7)]
    assert locations_of({"path": "/a", "file_path": "/a"}) == [Location(path="/a")]
    assert locations_of({"file_path": 3, "offset": True}) == []


def test_a_started_tool_has_its_server_split_off() -> None:
    event = tool_started("c1", "mcp__demo__echo", {"text": "x"})
    assert (event.name, event.native_name, event.server, event.kind) == (
        "echo",
        "mcp__demo__echo",
        "demo",
        "mcp",
    )
    assert tool_started("c2", "Bash", {}).native_name is None


@given(st.text() | st.sampled_from(sorted(KINDS)), JSON)
def test_any_name_and_input_is_taken(name: str, input: object) -> None:
    event = tool_started("c", name, input)
    assert event.title is None or "\n" not in event.title
