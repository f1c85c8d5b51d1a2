"""What `dangerous` lets pass and what it asks for: two tables of commands that a person can read, and every row of the
tables that decide."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dragoman._model import toolnames
from dragoman._model.config import Approve
from dragoman._model.events import PermissionRequested, ToolKind
from dragoman._policy import looking, places, rulebook, shell
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy

HERE = Path(__file__).parent
PASS = (HERE / "commands_that_pass.txt").read_text().splitlines()
ASKED = (HERE / "commands_that_are_asked.txt").read_text().splitlines()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("secret")
    return tmp_path / "home"


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    """A folder as one works in."""
    root = tmp_path / "project"
    for path in ("src/a.py", "src/b.py", "README.md", "package.json", "a.tar"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")
    (root / "Makefile").write_text("all: test\ntest:\n\t@echo $(HOME) done\n")
    (root / "sub").mkdir()
    (root / "sub" / "secret_link").symlink_to(home / ".ssh" / "id_rsa")
    (root / "link_to_secret").symlink_to(home / ".ssh" / "id_rsa")
    return root


def asked(tool: str | None, folder: Path, /, kind: ToolKind | None = None, **input: Any) -> PermissionRequest:
    event = PermissionRequested(
        request_id="r",
        tool_name=tool,
        kind=kind or toolnames.kind_of(tool or ""),
        input=input,
        agent="claude",
    )
    return PermissionRequest(event, str(folder))


def effect(mode: Approve, request: PermissionRequest) -> str:
    return Policy(mode).decide(request).effect


# --- commands ----------------------------------------------------------------------------------------------------


def test_the_tables_are_as_long_as_the_documentation_says() -> None:
    text = (HERE.parent.parent / "docs" / "approval.md").read_text()
    assert f"{len(PASS)} everyday commands" in text
    assert f"{len(ASKED)} commands that do more" in text
    assert len(set(PASS)) == len(PASS) >= 60
    assert len(set(ASKED)) == len(ASKED) >= 60


@pytest.mark.parametrize("command", PASS)
def test_everyday_commands_pass(command: str, project: Path) -> None:
    assert effect("dangerous", asked("Bash", project, command=command)) == "allow"


@pytest.mark.parametrize("command", ASKED)
def test_commands_that_do_more_are_asked_for(command: str, project: Path) -> None:
    line = command.encode().decode("unicode_escape") if "\\x" in command else command
    assert effect("dangerous", asked("Bash", project, command=line)) == "ask"
    assert effect("never", asked("Bash", project, command=line)) == "deny"


ROWS = [(" ".join(name), row) for name, rows in looking.rows().items() for row in rows]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_every_row(name: str, row: looking.Row, project: Path) -> None:
    """A command of the table passes with what it needs, and with nothing that a row forbids."""
    needed = {"sed -n": "1,2p", "awk": "{print $1}", "gawk": "{print $1}", "mawk": "{print $1}", "tar": "tf"}
    words = [*name.split(), *([needed.get(name, "-n")] if row.needs else [])]
    words += ["x"] * (row.skip - (1 if row.needs else 0))

    def passes(*more: str) -> bool:
        line = shell.ShellLine(commands=[[*words, *more]], sure=True, hidden=False, files=[])
        return looking.only_looks(line, [str(project)], str(project))

    assert passes()
    if row.reads and row.only is None:
        assert passes("README.md")
        assert not passes("/etc/passwd")
        assert not passes("link_to_secret")
    if row.only is not None:
        assert not row.fits([*words[1:], "--no-such-option"])
    for never in row.never:
        # The shortest text that the expression means.
        option = re.sub(r"\[\^-\]\*|\\[bB]", "", never).replace(".*", "").replace("\\$", "$")
        option = re.sub(r"[\[(]([^|\])])[^\])]*[\])]", r"\1", option)
        assert not row.fits([*words[1:], option]), option


@pytest.mark.parametrize("line", [shell.ShellLine(), shell.ShellLine(commands=[["ls"]], sure=False)])
def test_a_line_that_is_not_understood_does_not_only_look(line: shell.ShellLine, project: Path) -> None:
    assert not looking.only_looks(line, [str(project)], str(project))


@pytest.mark.parametrize("command", ["find *", "sort *", "rg x *", "find [a-z]*", "find ?delete"])
def test_a_file_may_be_called_like_an_option(command: str, project: Path) -> None:
    (project / "-delete").touch()
    assert effect("dangerous", asked("Bash", project, command=command)) == "ask"


def test_what_a_glob_finds_is_looked_at(project: Path, home: Path) -> None:
    assert effect("dangerous", asked("Bash", project, command="cat conf/*")) == "allow"
    (project / "conf").mkdir()
    (project / "conf" / "plain").symlink_to(home / ".ssh" / "id_rsa")
    assert effect("dangerous", asked("Bash", project, command="cat conf/*")) == "ask"
    assert effect("dangerous", asked("Bash", project, command="cat conf/pl?in")) == "ask"


def test_a_glob_that_finds_too_much_is_asked_for(project: Path) -> None:
    (project / "many").mkdir()
    for number in range(places.MOST + 1):
        (project / "many" / str(number)).touch()
    assert effect("dangerous", asked("Bash", project, command="cat many/*")) == "ask"


@pytest.mark.parametrize("name", ["many/{}*", "many/{}"])
def test_a_call_that_names_too_much_holds_up_nobody(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of globs would be looked up on disk, one by one, while all other sessions wait: counted, not timed."""
    names = [name.format(number) for number in range(4000)]
    looked, look, follow = 0, os.scandir, os.path.realpath

    def counted(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal looked
            looked += 1
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(os, "scandir", counted(look))
    monkeypatch.setattr(os.path, "realpath", counted(follow))
    for request in (
        asked("Bash", project, command="cat " + " ".join(names)),
        asked("read_many_files", project, paths=names),
        asked("apply_patch", project, kind="edit", changes={path: {"type": "add"} for path in names}),
    ):
        assert effect("dangerous", request) == "ask"
        rules = [rulebook.Rule(effect="deny", path="secret")]
        assert Policy("all", rulebook.Rulebook(("mine", rules))).decide(request).effect == "deny"
    assert looked < 5 * places.MOST_NAMES


def test_searching_all_that_is_below_reads_the_secret_that_lies_there(project: Path) -> None:
    assert effect("dangerous", asked("Bash", project, command="grep -r . .")) == "allow"
    (project / ".env").write_text("KEY=1")
    for command in ("grep -r . .", "grep -R x", "rg -uu .", "rg --hidden ."):
        assert effect("dangerous", asked("Bash", project, command=command)) == "ask"
    assert (
        effect("dangerous", asked("Bash", project, command="rg x")) == "allow"
    )  # which passes over hidden files


class TestFolders:
    def test_a_planted_repository_is_not_looked_into(self, project: Path) -> None:
        """Plain files that git takes for a repository, whose settings then run a program."""
        planted = project / "sub"
        (planted / "objects").mkdir()
        (planted / "refs").mkdir()
        (planted / "HEAD").write_text("ref: refs/heads/main\n")
        (planted / "config").write_text(
            f"[core]\n\tbare = false\n\tworktree = .\n\trepositoryformatversion = 0\n"
            f"\tfsmonitor = touch {project}/pwned\n"
        )
        for command in ("cd sub && git status", "git -C sub status", "cd sub; git diff"):
            assert effect("dangerous", asked("Bash", project, command=command)) == "ask"
        subprocess.run(["git", "-C", "sub", "status"], cwd=project, capture_output=True, check=False)
        assert (project / "pwned").exists(), "if git has learned better, this check can go"

    @pytest.mark.parametrize(
        "text",
        [
            "X := $(shell touch pwned)\nall:\n\techo $X\n",
            "X != touch pwned\nall:\n\techo\n",
            "all:\n\t+touch pwned\n",
            "P = +\nall:\n\t$(P)touch pwned\n",
            "all:\n\techo $(shell touch pwned)\n",
            "F = shell touch pwned\nall:\n\techo $($(F))\n",
            "Makefile: other\n\ttouch pwned\nother:\n",
            "M = Makef\n$(M)ile: other\n\ttouch pwned\nother:\n",
            "all: ; +touch pwned\n",
            "all:\n\t$(MAKE) -f other\n",
            "include other\nother:\n\ttouch pwned\n",
            "all: x\n%: other\n\ttouch pwned\nother:\n",
            "define x\n$(shell touch pwned)\nendef\n$(eval $(x))\nall:\n",
            "all:\n\techo $(foreach x,1,$(shell touch pwned))\n",
            "all: a\\\n\n\t+touch pwned\n",
            ".RECIPEPREFIX = >\nall:\n>+touch pwned\n",
        ],
    )
    def test_a_makefile_that_runs_something_is_asked_for(self, text: str, project: Path) -> None:
        (project / "Makefile").write_text(text)
        assert effect("dangerous", asked("Bash", project, command="make -n")) == "ask"

    def test_a_makefile_that_is_made_of_another_file(self, project: Path) -> None:
        (project / "Makefile.sh").write_text("all:\n\t+touch pwned\n")
        assert effect("dangerous", asked("Bash", project, command="make -n")) == "ask"

    @pytest.mark.parametrize(
        "text",
        ["", "# $(shell x)\n", "V := .venv\nB = $(V)/bin\n.PHONY: all\nall: $(B)/x\n\t@$(B)/x $@ || true\n"],
    )
    def test_a_plain_makefile_passes(self, text: str, project: Path) -> None:
        (project / "Makefile").write_text(text.replace("\t@$(B)", "\t@echo $(B)"))
        assert effect("dangerous", asked("Bash", project, command="make -n")) == "allow"


# --- files ---------------------------------------------------------------------------------------------------------

SECRETS = [
    ".env",
    ".env.local",
    "prod.env",
    ".ENV",
    "server.pem",
    "tls.key",
    "id_rsa",
    "id_ed25519.bak",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "credentials.json",
    "secrets.yaml",
    "a/.ssh/config",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".bash_history",
    "terraform.tfstate",
    "prod.tfvars",
    "x.ovpn",
    "wallet.dat",
]
PLAIN = [
    "a.py",
    "README.md",
    ".env.example",
    "keyboard.py",
    "environment.py",
    "id.py",
    "tokens.py",
    "src/secret_santa.py",
    "docs/auth.md",
]


class TestSecrets:
    @pytest.mark.parametrize("path", SECRETS)
    def test_secrets_are_asked_for(self, path: str, project: Path) -> None:
        for tool in ("Read", "Edit", "Write"):
            assert effect("dangerous", asked(tool, project, file_path=path)) == "ask"
        assert effect("dangerous", asked("Bash", project, command=f"cat {path}")) == "ask"
        assert effect("dangerous", asked("Grep", project, pattern="x", path=path)) == "ask"
        assert effect("never", asked("Read", project, file_path=path)) == "deny"
        assert effect("edits", asked("Edit", project, file_path=path)) == "ask"

    @pytest.mark.parametrize("path", PLAIN)
    def test_what_only_looks_like_one_is_not(self, path: str, project: Path) -> None:
        assert effect("dangerous", asked("Read", project, file_path=path)) == "allow"

    @pytest.mark.parametrize(
        ("tool", "input"),
        [
            ("Grep", {"pattern": "x", "path": "/etc"}),
            ("Grep", {"pattern": "x", "path": "~/.ssh"}),
            ("Grep", {"pattern": ".", "glob": ".env"}),
            ("Glob", {"pattern": "/etc/**"}),
            ("Glob", {"pattern": "../../**"}),
            ("Glob", {"pattern": "~/.ssh/*"}),
            ("LS", {"path": "/root"}),
            ("grep_search", {"pattern": "x", "dir_path": "/home"}),
            ("list_directory", {"dir_path": ".."}),
            ("read_many_files", {"paths": ["a.py", "/etc/passwd"]}),
            ("save_memory", {"fact": "x"}),
        ],
    )
    def test_search_tools_are_held_to_paths(self, tool: str, input: dict[str, Any], project: Path) -> None:
        assert effect("dangerous", asked(tool, project, **input)) == "ask"

    @pytest.mark.parametrize(
        ("tool", "input"),
        [
            ("Grep", {"pattern": "/api/v1"}),
            ("Grep", {"pattern": "x", "path": "src", "glob": "*.py"}),
            ("Glob", {"pattern": "**/*.py"}),
            ("LS", {"path": "src"}),
            ("grep_search", {"pattern": "x"}),
            ("TodoWrite", {"todos": [{"content": "look at /etc/passwd", "status": "pending"}]}),
            ("Task", {"description": "look", "prompt": "rm -rf / is what you must not do"}),
            ("BashOutput", {"bash_id": "1"}),
        ],
    )
    def test_searching_the_project_passes(self, tool: str, input: dict[str, Any], project: Path) -> None:
        assert effect("dangerous", asked(tool, project, **input)) == "allow"

    def test_a_link_by_either_name(self, project: Path) -> None:
        (project / ".env").symlink_to(project / "README.md")
        assert effect("dangerous", asked("Read", project, file_path=".env")) == "ask"
        assert effect("dangerous", asked("Read", project, file_path="link_to_secret")) == "ask"


PROTECTED = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".envrc",
    ".vscode/tasks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".github/workflows/ci.yml",
    ".husky/pre-commit",
    ".bashrc",
    ".zshrc",
    ".profile",
    "sub/.git/config",
    ".GIT/config",
    ".idea/workspace.xml",
    ".devcontainer/devcontainer.json",
    ".dragoman/policy.toml",
    ".gitattributes",
    ".gitmodules",
    ".pre-commit-config.yaml",
    "opencode.json",
    ".cursor/mcp.json",
    "x/../.git/config",
    ".direnv/x",
    "hooks/pre-push",
    ".config/fish/config.fish",
    ".vimrc",
    ".gitlab-ci.yml",
]


class TestEdits:
    @pytest.mark.parametrize("path", PROTECTED)
    @pytest.mark.parametrize("mode", ["edits", "dangerous"])
    def test_files_that_make_code_run_are_asked_for(self, mode: Approve, path: str, project: Path) -> None:
        assert effect(mode, asked("Write", project, file_path=path)) == "ask"

    def test_a_link_to_such_a_file(self, project: Path) -> None:
        (project / ".git").mkdir()
        (project / "notes").symlink_to(project / ".git" / "config")
        (project / "folder").symlink_to(project / ".git")
        for path in ("notes", "folder/hooks/post-checkout"):
            assert effect("dangerous", asked("Write", project, file_path=path)) == "ask"

    @pytest.mark.parametrize(
        "path", ["Makefile", "package.json", "conftest.py", "src/hooks/useThing.ts", "a.py"]
    )
    def test_ordinary_files_are_not(self, path: str, project: Path) -> None:
        assert effect("edits", asked("Write", project, file_path=path)) == "allow"

    def test_how_a_project_is_built_is_protected_by_choice(self, project: Path) -> None:
        policy = Policy(
            "edits", rulebook.Rulebook(("mine", [rulebook.Rule(effect="ask", kind="edit", path="build")]))
        )
        assert policy.decide(asked("Write", project, file_path="Makefile")).effect == "ask"
        assert policy.decide(asked("Write", project, file_path="a.py")).effect == "allow"

    @pytest.mark.parametrize(
        "key",
        [
            "file_path",
            "path",
            "filePath",
            "target_file",
            "file",
            "uri",
            "files",
            "paths",
            "filename",
            "absolute_path",
            "target",
            "destination",
            "dst",
            "output_path",
            "outputFile",
            "notebook_path",
            "directory",
            "dir",
            "root",
            "folder",
            "location",
            "to_path",
            "anything_at_all",
        ],
    )
    @pytest.mark.parametrize("mode", ["edits", "dangerous"])
    def test_whatever_the_key_is_called(self, mode: Approve, key: str, project: Path) -> None:
        for value in ("/etc/passwd", ["a.py", "/etc/passwd"], "file:///etc/passwd", "../x"):
            assert effect(mode, asked("write", project, kind="edit", **{key: value})) == "ask"

    @pytest.mark.parametrize(
        "input",
        [
            {},
            {"content": "x"},
            {"patch": "*** Begin Patch\n*** Update File: /etc/passwd\n+x\n*** End Patch"},
            {"input": "*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch"},
            {"diff": "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n"},
            {"changes": {"/etc/passwd": {"type": "update"}}},
            {"edits": [{"path": "a.py"}, {"path": "/etc/passwd"}]},
            {"path": "a.py", "backup": "/etc/passwd"},
            {"path": "a\0b"},
        ],
    )
    @pytest.mark.parametrize("mode", ["edits", "dangerous"])
    def test_where_no_file_inside_is_known(self, mode: Approve, input: dict[str, Any], project: Path) -> None:
        assert effect(mode, asked("apply_patch", project, kind="edit", **input)) == "ask"

    def test_a_patch_inside_passes(self, project: Path) -> None:
        patch = "*** Begin Patch\n*** Update File: src/a.py\n-x\n+y\n*** End Patch"
        assert effect("edits", asked("apply_patch", project, kind="edit", input=patch)) == "allow"


class TestKinds:
    @pytest.mark.parametrize(
        "kind",
        [
            "read",
            "search",
            "think",
            "memory",
            "switch_mode",
            "fetch",
            "browse",
            "ask",
            "edit",
            "move",
            "other",
            "execute",
        ],
    )
    @pytest.mark.parametrize("key", ["command", "cmd", "script", "commands", "argv", "code", "shell"])
    def test_a_command_counts_for_more_than_what_the_agent_calls_it(
        self, kind: ToolKind, key: str, project: Path
    ) -> None:
        for value in ("rm -rf ~", ["rm", "-rf", "~"]):
            for mode, expected in (("dangerous", "ask"), ("plan", "deny"), ("edits", "ask")):
                for tool in (None, "TodoWrite", "Read"):
                    request = asked(tool, project, kind=kind, **{key: value, "path": "a.py"})
                    assert effect(mode, request) == expected  # type: ignore[arg-type]

    def test_where_there_are_two_commands_nobody_knows_which_runs(self, project: Path) -> None:
        for more in ({"script": "rm x"}, {"argv": ["rm", "x"]}, {"commands": ["ls", "rm x"]}, {"code": "x"}):
            request = asked("Bash", project, command="ls", **more)
            assert request.commands is None
            assert effect("dangerous", request) == "ask"
        assert any(
            words[0] == "rm" for words in asked("Bash", project, command="ls", script="rm x").line.commands
        )
        for more in ({"commands": ["ls"]}, {"shell": "bash"}):  # as Goose and Codex have them
            assert effect("dangerous", asked("Bash", project, command="ls", **more)) == "allow"

    def test_only_tools_that_are_known_to_plan_pass_by_name(self, project: Path) -> None:
        assert effect("dangerous", asked("TodoWrite", project, todos=[])) == "allow"
        assert effect("dangerous", asked("mcp__x__TodoWrite", project, todos=[])) == "ask"
        for kind in ("think", "memory", "switch_mode", "read", "search"):
            assert effect("dangerous", asked(None, project, kind=kind)) == "ask"  # type: ignore[arg-type]

    def test_powershell_is_not_read(self, project: Path) -> None:
        assert asked("PowerShell", project, command="ls").commands is None
        assert effect("dangerous", asked("PowerShell", project, command="ls")) == "ask"


class TestUnasked:
    """Calls that are here because every call is: the modes that ask let pass what only looks."""

    @pytest.mark.parametrize("mode", ["ask", "edits", "never", "dangerous", "plan"])
    def test_looking_passes(self, mode: Approve, project: Path) -> None:
        for tool, input in (
            ("Read", {"file_path": "a.py"}),
            ("Bash", {"command": "ls"}),
            ("TodoWrite", {"todos": []}),
        ):
            request = asked(tool, project, **input)
            request.unasked = True
            assert effect(mode, request) == "allow"

    @pytest.mark.parametrize(
        ("mode", "expected"), [("ask", "ask"), ("edits", "ask"), ("never", "deny"), ("plan", "deny")]
    )
    def test_the_rest_does_not(self, mode: Approve, expected: str, project: Path) -> None:
        for tool, input in (
            ("Read", {"file_path": ".env"}),
            ("Bash", {"command": "cat .env"}),
            ("Bash", {"command": "touch x"}),
            ("Write", {"file_path": ".git/config"}),
        ):
            request = asked(tool, project, **input)
            request.unasked = True
            assert effect(mode, request) == expected

    def test_what_the_agent_asks_for_is_asked(self, project: Path) -> None:
        assert effect("ask", asked("Bash", project, command="ls")) == "ask"


def test_the_variables_of_a_command_count(project: Path) -> None:
    for env in ({"PATH": "."}, {"LD_PRELOAD": "x"}, [{"name": "GIT_PAGER", "value": "x"}], ["BASH_ENV=x"]):
        assert (
            effect("dangerous", asked("terminal/create", project, kind="execute", command="ls", env=env))
            == "ask"
        )
    harmless = {"TERM": "dumb", "PAGER": "cat"}
    assert (
        effect("dangerous", asked("terminal/create", project, kind="execute", command="ls", env=harmless))
        == "allow"
    )


def test_a_command_that_runs_elsewhere_looks_elsewhere(project: Path, home: Path) -> None:
    for cwd in ("/etc", "..", str(home)):
        assert effect("dangerous", asked("shell", project, command="cat x", cwd=cwd)) == "ask"
    assert effect("dangerous", asked("shell", project, command="cat a.py", cwd="src")) == "allow"


def test_a_way_that_is_closed_or_gone_does_not_end_the_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody but root gets a PermissionError for /proc/1/cwd, and a link may vanish while it is followed."""

    def closed(path: str, **_: Any) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "readlink", closed)
    (project / "loop").symlink_to("x")
    for request in (asked("Bash", project, command="cat loop/x"), asked("Read", project, file_path="loop/x")):
        assert effect("dangerous", request) == "ask"
