"""How a configuration becomes a run of Codex."""

import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman._agents import AGENTS
from dragoman._agents.codex import native_binary, plan
from dragoman._dialects.codex.app.machine import CodexApp
from dragoman._model.config import APPROVE_MODES, SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._runtime.plan import LaunchPlan
from tests.dialects.codex.app.conversation import check


def planned(dialect: str = "codex_app", **fields: Any) -> LaunchPlan:
    return plan(SessionConfig(agent="codex", inherit_env=False, **fields), "/bin/codex", dialect)


def opening(**fields: Any) -> dict[str, Any]:
    """How a thread is opened, but for what is said of the project."""
    run = planned(**fields)
    assert isinstance(run.machine, CodexApp)
    opened: dict[str, Any] = run.options.opening
    check({"id": 1, "method": opened["method"], "params": opened["params"]})
    config = opened["params"]["config"]
    assert config.pop("projects")
    if not config:
        del opened["params"]["config"]
    return opened


def test_a_project_is_trusted_only_if_the_user_trusts_it(tmp_path: Path) -> None:
    """If nothing is said, Codex trusts a folder as soon as it may write there, and runs what its .codex names."""
    for trusted, level in ((None, "untrusted"), (False, "untrusted"), (True, "trusted")):
        link = tmp_path / f"{level}-{trusted}"
        link.symlink_to(tmp_path)
        params = planned(cwd=str(link), trusted=trusted).options.opening["params"]
        assert params["config"]["projects"] == {
            str(link): {"trust_level": level},
            str(tmp_path): {"trust_level": level},
        }


def test_the_record() -> None:
    agent = AGENTS["codex"]
    assert agent.dialects == ("codex_app", "codex_exec")
    assert agent.session_dirs({"HOME": "/home/x"}) == [Path("/home/x/.codex/sessions")]
    assert agent.session_dirs({"HOME": "/home/x", "CODEX_HOME": "/c"}) == [Path("/c/sessions")]


def test_an_app_server_is_started_and_stopped_gently() -> None:
    run = planned(cwd="/w", env={"A": "1"}, extra_args=["-c", "x=1"])
    assert (run.argv, run.cwd, run.env) == (["/bin/codex", "app-server", "-c", "x=1"], "/w", {"A": "1"})
    assert [what for what, _ in run.stop] == ["interrupt", "eof", "SIGTERM", "SIGKILL"]
    assert not run.one_shot
    assert "env" not in run.config


@pytest.mark.parametrize(
    ("approve", "policy", "sandbox"),
    [
        ("ask", "untrusted", "workspace-write"),
        ("edits", "untrusted", "workspace-write"),
        ("dangerous", "untrusted", "workspace-write"),
        ("all", "untrusted", "danger-full-access"),
        ("plan", "never", "read-only"),
        ("never", "untrusted", "read-only"),
    ],
)
def test_who_is_asked_for_what(approve: Any, policy: str, sandbox: str) -> None:
    opened = opening(approve=approve)
    assert opened["method"] == "thread/start"
    assert opened["params"] == {"approvalPolicy": policy, "sandbox": sandbox}
    assert opened.get("mode") == ("plan" if approve == "plan" else None)


@pytest.mark.parametrize(
    ("approve", "asked_for", "policy", "sandbox"),
    [
        ("all", "workspace", "never", "workspace-write"),
        ("all", "read-only", "never", "read-only"),
        ("all", "full", "untrusted", "danger-full-access"),
        ("edits", "read-only", "never", "read-only"),
        ("edits", "workspace", "untrusted", "workspace-write"),
        ("ask", "read-only", "untrusted", "read-only"),
        ("never", "workspace", "untrusted", "workspace-write"),
        ("plan", "full", "never", "read-only"),
    ],
)
def test_a_sandbox_is_not_lifted_by_a_mode(approve: Any, asked_for: Any, policy: str, sandbox: str) -> None:
    params = opening(approve=approve, sandbox=asked_for)["params"]
    assert params == {"approvalPolicy": policy, "sandbox": sandbox}


def test_every_mode_is_known() -> None:
    for approve in APPROVE_MODES:
        assert opening(approve=approve)


@pytest.mark.parametrize(
    ("sandbox", "word"),
    [("read-only", "read-only"), ("workspace", "workspace-write"), ("full", "danger-full-access")],
)
def test_a_sandbox_that_was_asked_for_is_used(sandbox: Any, word: str) -> None:
    assert opening(approve="all", sandbox=sandbox)["params"]["sandbox"] == word


def test_everything_that_can_be_set() -> None:
    opened = opening(
        model="m",
        cwd="/w",
        output_schema={"type": "object"},
        mcp_servers={"s": {"command": "x", "args": ["y"]}},
        allowed_tools=["mcp__s__one"],
        blocked_tools=["mcp__s__two"],
        native={
            "model_provider": "p",
            "developer_instructions": "d",
            "effort": "high",
            "ephemeral": True,
            "config": {"tools": {"web_search": False}},
        },
    )
    assert opened["params"] == {
        "cwd": "/w",
        "model": "m",
        "modelProvider": "p",
        "developerInstructions": "d",
        "ephemeral": True,
        "approvalPolicy": "untrusted",
        "sandbox": "workspace-write",
        "config": {
            "tools": {"web_search": False},
            "mcp_servers": {
                "s": {"command": "x", "args": ["y"], "enabled_tools": ["one"], "disabled_tools": ["two"]}
            },
        },
    }
    assert opened["turn"] == {"outputSchema": {"type": "object"}}
    assert opened["first_turn"] == {"effort": "high"}


def test_resuming_and_forking() -> None:
    assert opening(resume="t")["method"] == "thread/resume"
    forked = opening(resume="t", fork=True, native={"ephemeral": True})
    assert (forked["method"], forked["params"]["threadId"]) == ("thread/fork", "t")


def test_secrets_are_not_told() -> None:
    told = planned(
        env={"KEY": "k"}, mcp_servers={"s": {"command": "x", "env": {"TOKEN": "t"}}}, prompt="p"
    ).config
    assert told["mcp_servers"] == ["s"]
    assert "env" not in told
    assert "prompt" not in told


@pytest.mark.parametrize(
    "fields",
    [
        {"allowed_tools": ["Bash"]},
        {"blocked_tools": ["mcp__elsewhere__x"]},
    ],
)
def test_what_codex_cannot_do(fields: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        planned(**fields)


def test_what_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="no native option 'colour'"):
        planned(native={"colour": "red"})
    with pytest.raises(UsageError, match="prompt"):
        planned("codex_exec")
    with pytest.raises(Unsupported):
        planned("codex_exec", prompt="p", native={"dynamic_tools": []})


def test_exec_has_its_prompt_on_the_command_line() -> None:
    run = planned(
        "codex_exec",
        prompt="-v?",
        cwd="/w",
        model="m",
        approve="edits",
        native={"effort": "high", "ephemeral": True, "config": {"tools.web_search": True}},
        mcp_servers={"s": {"command": "x", "env": {"K": 'a"b'}}},
    )
    assert run.argv == [
        "/bin/codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        *("--sandbox", "workspace-write"),
        *("--model", "m"),
        *("--config", "tools.web_search=true"),
        *("--config", 'mcp_servers={"s" = {"command" = "x", "env" = {"K" = "a\\"b"}}}'),
        *("--config", 'projects={"/w" = {"trust_level" = "untrusted"}}'),
        *("--config", 'model_reasoning_effort="high"'),
        "--ephemeral",
        "--",
        "-v?",
    ]
    assert run.one_shot
    assert run.config["prompt"] == "-v?"
    assert [what for what, _ in run.stop] == ["SIGINT", "SIGKILL"]


@pytest.mark.parametrize(("fork", "word"), [(False, "resume"), (True, "fork")])
def test_exec_goes_on_with_a_session(fork: bool, word: str) -> None:
    run = planned("codex_exec", prompt="more", resume="t", fork=fork)
    assert run.argv[-4:] == [word, "t", "--", "more"]


@pytest.mark.parametrize("approve", ["ask", "plan", "never"])
def test_what_exec_would_have_to_ask_for_must_not_work(approve: Any) -> None:
    run = planned("codex_exec", prompt="p", approve=approve)
    assert run.argv[run.argv.index("--sandbox") + 1] == "read-only"


# --- the program behind the script -------------------------------------------------------------------------

TRIPLE = f"{platform.machine()}-{'apple-darwin' if sys.platform == 'darwin' else 'unknown-linux-musl'}"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the package is named otherwise")
@pytest.mark.parametrize(
    "place",
    [
        f"@openai/codex-linux-x64/vendor/{TRIPLE}/bin/codex",
        f"@openai/codex/vendor/{TRIPLE}/codex/codex",
        f"@openai/codex/node_modules/@openai/codex-linux-x64/vendor/{TRIPLE}/bin/codex",
    ],
)
def test_the_native_program_is_found(tmp_path: Path, place: str) -> None:
    script = tmp_path / "@openai/codex/bin/codex.js"
    program = tmp_path / place
    for path in (script, program):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    link = tmp_path / "codex"
    link.symlink_to(script)
    assert native_binary(str(link)) == str(link)
    os.chmod(program, 0o755)
    assert native_binary(str(link)) == str(program)


def test_a_program_of_its_own_is_taken_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("")
    assert native_binary(str(program)) == str(program)


def test_the_schema_of_exec_is_a_file() -> None:
    plan = planned("codex_exec", prompt="p", output_schema={"type": "object"})
    [(path, content)] = plan.files.items()
    assert plan.argv[plan.argv.index("--output-schema") + 1] == path
    assert json.loads(content) == {"type": "object"}
    assert not os.path.exists(os.path.dirname(path))
    assert planned("codex_exec", prompt="p").files == {}
