"""What a tool is shown as: its kind and its title, by a table.

    names       the agent's tool name -> the table's name     Bash -> bash, read_file -> read, …
    rows        the table's name -> kind and title            read -> tool, `read: <path>`

Two tables: the one that is published for Gemini, and the one that the program has in its code, for all others and,
on request (version 0.35), for Gemini too. The second shows paths as they are seen from the working directory.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from dragoman._projections.untether.engines import Engine
from dragoman._projections.untether.model import ActionKind

Compat = Literal["untether-0.35"]

_PUBLISHED: Final[dict[str, str]] = {
    "read_file": "read",
    "edit_file": "edit",
    "write_file": "write",
    "web_search": "websearch",
    "web_fetch": "webfetch",
    "list_dir": "ls",
    "find_files": "glob",
    "search_files": "grep",
}
"""The table's own names for tools; any other name is only made lower case."""

_SPOKEN: Final[dict[str, str]] = {
    **_PUBLISHED,
    "run_shell_command": "bash",
    "replace": "edit",
    "read_many_files": "read",
    "list_directory": "ls",
    "grep_search": "grep",
    "search_file_content": "grep",
    "google_web_search": "websearch",
    "write_todos": "todowrite",
    "ask_user": "askuserquestion",
    "invoke_agent": "task",
}
"""Live profile: the names that Gemini CLI really uses, which the published table leaves to its last row."""

_SPOKEN_PATHS: Final = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "dir_path")
"""Live profile: the inputs that name a file, of all agents."""


class Call(Struct, frozen=True):
    """What a title is made of."""

    tool: str
    """The agent's own name for it."""
    name: str
    """The table's name for it."""
    input: Mapping[str, Any]
    path_keys: tuple[str, ...]
    task_kind: ActionKind
    cwd: str = ""
    """Where paths are seen from; "" leaves them as they are."""

    def text(self, *keys: str) -> str | None:
        """The first of these inputs that says something."""
        for key in keys:
            value = self.input.get(key)
            if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                value = " ".join(value)
            if isinstance(value, str) and value:
                return value
        return None

    @property
    def path(self) -> str | None:
        return self.text(*self.path_keys)

    @property
    def place(self) -> str | None:
        """The path as it is seen from the working directory."""
        path, folder = self.path, self._folder
        if not path or not folder:
            return path
        return "." if path + "/" == folder else path.removeprefix(folder) or "."

    @property
    def command(self) -> str | None:
        """Without the working directory before its paths."""
        command, folder = self.text("command", "cmd"), self._folder
        return command.replace(folder, "") if command and len(folder) > 1 else command

    @property
    def _folder(self) -> str:
        return self.cwd.rstrip("/") + "/" if self.cwd else ""


class Shown(Struct, frozen=True):
    kind: ActionKind
    title: str
    path: str | None = None
    """The file that a file_change changes."""


Row = Callable[[Call], Shown]


def _name_row(about: Callable[[Call], str | None], kind: ActionKind = "tool", quote: str = "") -> Row:
    """`name: <what it is about>`, or the bare name."""

    def row(call: Call) -> Shown:
        subject = about(call)
        title = f"{call.name}: {quote}{subject}{quote}" if subject else call.name
        return Shown(kind, title, call.path if kind == "file_change" else None)

    return row


def _command(call: Call) -> Shown:
    return Shown("command", call.command or call.tool)


def _task(call: Call) -> Shown:
    return Shown(call.task_kind, call.text("description", "prompt") or call.tool)


def _changed(call: Call) -> Shown:
    return Shown("file_change", call.place or call.tool, call.path)


def _note(title: str) -> Row:
    return lambda call: Shown("note", title)


def _web(key: str, otherwise: str) -> Row:
    return lambda call: Shown("web_search", call.text(key) or otherwise)


_TABLE: Final[dict[str, Row]] = {
    "bash": _command,
    "read": _name_row(lambda call: call.path),
    "edit": _name_row(lambda call: call.path, "file_change"),
    "write": _name_row(lambda call: call.path, "file_change"),
    "websearch": _name_row(lambda call: call.text("query")),
    "webfetch": _name_row(lambda call: call.text("url")),
    "ls": _name_row(lambda call: call.path),
    "glob": _name_row(lambda call: call.text("pattern")),
    "grep": _name_row(lambda call: call.text("pattern")),
}
"""The published table. Its last row is: tool, and the tool's name."""

_BEYOND: Final[dict[str, Row]] = {
    "shell": _command,
    "killshell": _command,
    "multiedit": _name_row(lambda call: call.path, "file_change"),
    "notebookedit": _name_row(lambda call: call.path, "file_change"),
    "find": _name_row(lambda call: call.text("pattern")),
    "todowrite": _note("update todos"),
    "todoread": _note("read todos"),
    "askuserquestion": _note("ask user"),
    "task": _task,
    "agent": _task,
}
"""Tools that the published table does not have."""

_LIVE_TABLE: Final = {**_BEYOND, **_TABLE}

_PROGRAM: Final[dict[str, Row]] = {
    **_BEYOND,
    "bash": _command,
    "edit": _changed,
    "write": _changed,
    "notebookedit": _changed,
    "multiedit": _changed,
    "read": _name_row(lambda call: call.place, quote="`"),
    "glob": _name_row(lambda call: call.text("pattern"), quote="`"),
    "grep": _name_row(lambda call: call.text("pattern")),
    "ls": _name_row(lambda call: call.place, quote="`"),
    **dict.fromkeys(("websearch", "web_search"), _web("query", "search")),
    **dict.fromkeys(("webfetch", "web_fetch"), _web("url", "fetch")),
}
"""What the program's code has, in version 0.35."""


def shown_call(
    engine: Engine,
    tool: str,
    input: Any,
    *,
    live: bool = False,
    compat: Compat | None = None,
    cwd: str | None = None,
) -> Shown:
    """How a call of `tool` is shown."""
    names = _SPOKEN if live else _PUBLISHED
    name = names.get(tool, tool.lower())
    published = engine.titles == "published" and compat is None
    rows = _PROGRAM if not published else _LIVE_TABLE if live else _TABLE
    row = rows.get(name)
    if row is None:
        return Shown("tool", tool)
    keys = _SPOKEN_PATHS if live and compat is None else engine.path_keys
    given = input if isinstance(input, dict) else {}
    seen_from = "" if published else cwd or ""
    return row(Call(tool, name, given, keys, engine.task_kind, seen_from))
