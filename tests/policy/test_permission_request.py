"""What a handler can see of a permission request: the same for every agent, however it words its calls."""

import os
from pathlib import Path
from typing import Any

import pytest

from dragoman._model import toolnames
from dragoman._model.commands import Answer
from dragoman._model.events import PermissionOption, PermissionRequested, ToolKind
from dragoman._policy.permission import Decision, PermissionRequest


def asked(
    tool: str | None,
    input: Any = None,
    *,
    agent: str = "claude",
    kind: ToolKind | None = None,
    cwd: str = "/work",
    files: tuple[str, ...] = (),
    **fields: Any,
) -> PermissionRequest:
    event = PermissionRequested(
        request_id="r",
        tool_name=tool,
        kind=kind or toolnames.kind_of(tool or ""),
        input=input,
        agent=agent,
        session="s",
        **fields,
    )
    return PermissionRequest(event, cwd, files)


def claude(tool: str, **input: Any) -> PermissionRequest:
    return asked(tool, input)


def codex(command: Any, **input: Any) -> PermissionRequest:
    """As codex_app has it (capture approval_command)."""
    return asked("shell", {"command": command, "cwd": "/work", **input}, agent="codex")


def gemini(title: str) -> PermissionRequest:
    """Over ACP: no input, the title is the command (capture acp_tools_default)."""
    return asked("run_shell_command", None, agent="gemini", title=title)


def opencode(command: str) -> PermissionRequest:
    """Over ACP, with its input (capture cancel_perm of opencode)."""
    return asked("bash", {"command": command}, agent="opencode", kind="execute", title=command)


def goose(command: str) -> PermissionRequest:
    """Over ACP; the title is made up by the model (capture cancel_perm of goose)."""
    given = {"command": command, "commands": [command]}
    return asked("execute", given, agent="goose", kind="execute", title="look around")


def terminal(command: str, *args: str) -> PermissionRequest:
    """What an ACP agent wants its client to run."""
    given = {"command": command, **({"args": list(args)} if args else {})}
    return asked("terminal/create", given, agent="acp", kind="execute")


ONE, TWO = [["git", "status"]], [["git", "status"], ["ls", "-l"]]


class TestCommands:
    @pytest.mark.parametrize(
        ("request_", "commands"),
        [
            (claude("Bash", command="git status", description="look"), ONE),
            (claude("Bash", command="git status && ls -l"), TWO),
            (claude("Bash", command="git status 2>&1 | ls -l"), TWO),
            (codex("/bin/bash -lc 'git status'"), ONE),
            (codex("/bin/bash -lc 'git status && ls -l'"), TWO),
            (codex(["/bin/bash", "-lc", "git status && ls -l"]), TWO),
            (codex("zsh -c 'git status'"), ONE),
            (codex("git status"), ONE),
            (codex(["git", "status"]), ONE),
            (asked("exec_command", {"cmd": "git status"}, agent="codex"), ONE),
            (gemini("git status"), ONE),
            (gemini("git status; ls -l"), TWO),
            (opencode("git status && ls -l"), TWO),
            (claude("Bash", command="bash -c 'git status'"), ONE),
            (goose("git status"), ONE),
            (terminal("git", "status"), ONE),
            (terminal("git status && ls -l"), TWO),
            (terminal("bash", "-lc", "git status && ls -l"), TWO),
        ],
    )
    def test_every_command_that_runs(
        self, request_: PermissionRequest, commands: list[list[str]] | None
    ) -> None:
        assert request_.commands == commands
        assert request_.kind == "execute"

    @pytest.mark.parametrize(
        ("request_", "found"),
        [
            (claude("Bash", command="git status > /etc/passwd"), ["git"]),
            (claude("Bash", command="git status $(rm x)"), ["git", "rm"]),
            (claude("Bash", command="PAGER=rm git status"), ["git"]),
            (claude("Bash", command="ls; bash -c 'rm x'"), ["ls", "bash", "rm"]),
            (claude("Bash", command="sudo rm x"), ["sudo", "rm"]),
            (claude("Bash", command="git 'status"), ["git"]),
            (codex("/bin/bash -lc 'git status; bash -c \"rm x\"'"), ["git", "bash", "rm"]),
            (codex("/bin/bash -lc 'git status' rm x"), ["/bin/bash", "git"]),
            (codex(["bash", "-lc", "git status > out"]), ["git"]),
            (gemini("if true; then rm x; fi"), ["true", "rm"]),
            (opencode("eval rm x"), ["eval"]),
            (terminal("sh", "-c", "rm x", "ignored"), ["sh", "rm"]),
        ],
    )
    def test_what_is_not_fully_understood_is_none(
        self, request_: PermissionRequest, found: list[str]
    ) -> None:
        """Who denies may still look for what can be seen of it."""
        assert request_.commands is None
        assert {words[0] for words in request_.line.commands} >= set(found)

    @pytest.mark.parametrize(
        "request_",
        [
            claude("Bash"),
            claude("Bash", command=""),
            claude("Bash", command="  "),
            claude("Bash", command=7),
            claude("Bash", command=None),
            asked("Bash", "ls"),
            asked("Bash", ["ls"]),
            claude("KillShell", shell_id="1"),
            codex(None),
            codex([]),
            asked("execute", None, agent="goose", kind="execute", title="git status"),
            asked(None, {}, kind="execute"),
            terminal("", "git status"),
        ],
    )
    def test_where_a_command_must_be_and_none_is_seen(self, request_: PermissionRequest) -> None:
        """The title of any other tool is no command."""
        assert request_.commands is None

    @pytest.mark.parametrize(
        "request_",
        [
            claude("Read", file_path="a.py"),
            claude("Write", file_path="a.py", content="rm x"),
            claude("WebFetch", url="https://example.com", prompt="rm x"),
            claude("ExitPlanMode", plan="rm x"),
            claude("mcp__db__drop"),
            asked("apply_patch", {"changes": [{"path": "a.py"}]}, agent="codex"),
            asked("write_file", None, agent="gemini", title="Writing to a.py"),
            asked("read", None, agent="gemini", kind="read", title="Allow access to absolute path: /x"),
        ],
    )
    def test_a_tool_that_runs_none_has_none(self, request_: PermissionRequest) -> None:
        assert request_.commands == []
        assert request_.command is None

    def test_a_tool_that_is_no_shell_and_has_a_command_runs_one(self) -> None:
        """What a server of the agent's does with it, nobody knows: it counts."""
        request = claude("mcp__shell__run", command="rm x; ls")
        assert (request.kind, request.server, request.tool) == ("mcp", "shell", "run")
        assert request.commands == [["rm", "x"], ["ls"]]

    def test_a_handler_cannot_change_what_is_asked(self) -> None:
        request = claude("Bash", command="git status")
        assert request.commands is not None
        request.commands[0].append("--short")
        request.commands.clear()
        assert request.commands == ONE

    def test_the_line_without_its_wrapping(self) -> None:
        assert codex("/bin/bash -lc 'git status && ls'").command == "git status && ls"
        assert codex(["bash", "-lc", "git status && ls"]).command == "git status && ls"
        assert claude("Bash", command="bash x.sh").command == "bash x.sh"
        assert terminal("touch", "a b").command == "touch 'a b'"


class TestPaths:
    @pytest.mark.parametrize(
        ("request_", "paths"),
        [
            (claude("Edit", file_path="a.py"), ["/work/a.py"]),
            (claude("Edit", file_path="/work/sub/../a.py"), ["/work/a.py"]),
            (claude("Read", file_path="../other/a.py"), ["/other/a.py"]),
            (claude("NotebookEdit", notebook_path="n.ipynb"), ["/work/n.ipynb"]),
            (claude("Glob", pattern="*.py", path="src"), ["/work/src"]),
            (claude("Bash", command="cat a.py"), []),
            (claude("Edit", file_path=7), []),
            (claude("Edit"), []),
            (asked("Bash", {"command": "cat /etc/x"}, blocked_path="/etc/x"), ["/etc/x"]),
            (asked("Edit", {"file_path": "a.py"}, blocked_path="/work/a.py"), ["/work/a.py"]),
            (
                asked("apply_patch", {"changes": []}, agent="codex", files=("/work/a", "/work/b")),
                ["/work/a", "/work/b"],
            ),
            (
                asked("edit", {"filepath": "/work/a"}, agent="opencode", kind="edit", files=("/work/a",)),
                ["/work/a"],
            ),
            (asked("write_file", None, agent="gemini", files=("a.py",)), ["/work/a.py"]),
            (asked("fs/write_text_file", {"path": "a.py", "content": ""}, kind="edit"), ["/work/a.py"]),
        ],
    )
    def test_the_files_that_it_names(self, request_: PermissionRequest, paths: list[str]) -> None:
        """Some agents name them in the input, others only where the call was announced."""
        assert request_.paths == paths

    def test_links_are_followed(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "out").mkdir()
        (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
        request = asked("Write", {"file_path": "link/x"}, cwd=str(tmp_path / "in"))
        assert request.paths == [str(tmp_path / "out" / "x")]

    def test_home_is_the_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/me")
        assert claude("Read", file_path="~/.ssh/config").paths == ["/home/me/.ssh/config"]

    @pytest.mark.parametrize("path", ["a\0b", "a\ud83d", "~" * 5000])
    def test_names_that_no_file_can_have(self, path: str) -> None:
        assert len(claude("Read", file_path=path).paths) == 1


@pytest.mark.parametrize(
    ("request_", "hosts"),
    [
        (claude("WebFetch", url="https://example.com/x", prompt="?"), ["example.com"]),
        (claude("WebFetch", url="https://me:secret@Example.COM:8080/x"), ["example.com"]),
        (claude("WebFetch", url="https://example.com@evil.org/"), ["evil.org"]),
        (claude("WebFetch", url="http://[::1]/"), ["::1"]),
        (claude("WebFetch", url="http://["), []),
        (claude("WebFetch", url="no address"), []),
        (claude("WebFetch", url=7), []),
        (claude("WebFetch"), []),
        (asked("web_fetch", {"url": "https://example.com"}, agent="gemini"), ["example.com"]),
        (asked("web_fetch", None, agent="gemini", title="https://example.com"), []),
        (claude("Bash", command="curl https://example.com"), []),
    ],
)
def test_the_hosts_that_it_names(request_: PermissionRequest, hosts: list[str]) -> None:
    assert request_.hosts == hosts


# --- what a handler makes of it --------------------------------------------------------------------------------


def careful(request: PermissionRequest) -> bool:
    """Looks only: commands that do no more, files of the folder, and one host."""
    if request.commands is None:
        return False
    return (
        all(words[0] in ("ls", "git") for words in request.commands)
        and all(path.startswith(f"{request.cwd}/") for path in request.paths)
        and all(host == "example.com" for host in request.hosts)
        and bool(request.commands or request.paths or request.hosts)
    )


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (claude("Bash", command="git log && ls"), True),
        (claude("Bash", command="git log && rm x"), False),
        (claude("Bash", command="git log $(rm x)"), False),
        (codex("/bin/bash -lc 'git log && ls'"), True),
        (codex("/bin/bash -lc 'git log && rm x'"), False),
        (codex(None), False),
        (gemini("git log"), True),
        (gemini("rm x"), False),
        (goose("git log"), True),
        (terminal("git", "log"), True),
        (terminal("rm", "git"), False),
        (claude("Read", file_path="a.py"), True),
        (claude("Read", file_path="../a.py"), False),
        (asked("apply_patch", {}, agent="codex", files=("/work/a.py",)), True),
        (asked("apply_patch", {}, agent="codex", files=("/work/a.py", "/etc/x")), False),
        (claude("WebFetch", url="https://example.com/x"), True),
        (claude("WebFetch", url="https://example.com@evil.org/x"), False),
        (claude("mcp__db__drop"), False),
        (asked("execute", None, agent="goose", kind="execute", title="git log"), False),
    ],
)
def test_a_handler_that_looks_at_what_is_asked_works_for_every_agent(
    request_: PermissionRequest, allowed: bool
) -> None:
    assert careful(request_) is allowed


# --- the rest ----------------------------------------------------------------------------------------------------


def test_what_the_agent_said_is_there() -> None:
    options = [PermissionOption(id="yes", kind="allow_once")]
    given = {"a": 1}
    request = asked(
        "mcp__db__drop", given, agent="codex", title="Drop it?", reason="because", options=options
    )
    assert (request.id, request.agent, request.session, request.kind) == ("r", "codex", "s", "mcp")
    assert (request.title, request.reason, request.options) == ("Drop it?", "because", options)
    assert (request.server, request.tool, request.input) == ("db", "drop", given)
    assert request.event.request_id == "r"
    assert repr(request) == "PermissionRequest(tool='drop', kind='mcp', input={'a': 1})"


@pytest.mark.parametrize(
    ("name", "server", "tool"),
    [
        ("mcp__db__drop", "db", "drop"),
        ("mcp_tiny_echo", "tiny", "echo"),
        ("Bash", None, "Bash"),
        (None, None, ""),
    ],
)
def test_a_tool_and_its_server(name: str | None, server: str | None, tool: str) -> None:
    request = asked(name, {})
    assert (request.server, request.tool) == (server, tool)


@pytest.mark.parametrize("given", [None, "text", ["a"], 7, True])
def test_an_input_that_is_no_object_is_an_empty_one(given: Any) -> None:
    assert asked("Read", given).input == {}


def test_gemini_tells_its_command_in_the_title_alone() -> None:
    assert gemini("git status").input == {"command": "git status"}
    assert asked("run_shell_command", {}, title="git status").commands is None


def test_where_the_session_works() -> None:
    event = PermissionRequested(request_id="r")
    assert PermissionRequest(event).cwd == os.getcwd()
    assert PermissionRequest(event, "sub").cwd == os.path.join(os.getcwd(), "sub")


def test_a_decision_is_an_answer_unless_somebody_must_be_asked() -> None:
    assert Decision("ask", "approve=ask").answer() is None
    assert Decision("allow", "mine").answer() == Answer(decision="allow", by="policy", rule="mine")
    assert Decision("deny", None, "no", by="timeout").answer() == Answer(
        decision="deny", by="timeout", message="no"
    )


def test_paths_are_meant_from_where_the_agent_stands(tmp_path: Path) -> None:
    """The shell of an agent may have gone elsewhere since the session began."""
    (tmp_path / "sub").mkdir()
    request = asked("Bash", {"command": "cat x"}, cwd=str(tmp_path))
    request.event.cwd = str(tmp_path / "sub")
    assert (request.cwd, request.runs_in) == (str(tmp_path), str(tmp_path / "sub"))
    found = asked("Grep", {"pattern": "x"}, cwd=str(tmp_path))
    found.event.cwd = "/etc"
    assert found.paths == ["/etc"]
