"""How a configuration becomes a run of Gemini CLI."""

import json
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dragoman._agents import AGENTS, gemini_rules
from dragoman._agents.gemini import _POLICY
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._runtime import own_files
from dragoman._runtime.plan import LaunchPlan

GEMINI = AGENTS["gemini"]


def planned(dialect: str, **fields: Any) -> LaunchPlan:
    config = SessionConfig(agent="gemini", inherit_env=False, cwd="/tmp", **fields)
    return GEMINI.plan(config, "/bin/gemini", dialect)


def test_acp_comes_first() -> None:
    assert GEMINI.dialects == ("acp", "gemini_stream")
    assert Capability.PERMISSIONS in GEMINI.capabilities
    assert not GEMINI.capabilities & {
        Capability.FORK,
        Capability.COST,
        Capability.SET_OPTION,
        Capability.STEER,
    }


def test_over_acp() -> None:
    plan = planned(
        "acp", model="m", allowed_tools=["glob"], native={"extensions": ["a", "b"], "mode": "plan"}
    )
    assert plan.argv == [
        *("/bin/gemini", "--acp", "--model", "m", "--allowed-tools", "glob"),
        *("--extensions", "a", "--extensions", "b"),
        *("--policy", str(_POLICY)),
    ]
    assert _POLICY.is_file()
    assert "--policy" not in planned("acp", approve="plan").argv
    assert (plan.dialect, plan.one_shot, plan.spool) == ("acp", False, False)
    assert plan.options.opening.modes == ("plan",)
    assert plan.options.opening.model == "m"
    assert plan.config["allowed_tools"] == ["glob"]
    assert plan.capabilities == GEMINI.capabilities


def test_one_process_for_a_turn() -> None:
    plan = planned(
        "gemini_stream",
        prompt="-what?",
        resume="5ed284d4-4d13-40e6-896a-95f3a285be16",
        model="m",
        add_dirs=["/a", "/b"],
        native={"debug": True},
        extra_args=["--screen-reader"],
    )
    assert plan.argv == [
        *("/bin/gemini", "--output-format", "stream-json", "--approval-mode", "default"),
        *("--resume", "5ed284d4-4d13-40e6-896a-95f3a285be16"),
        *("--model", "m", "--include-directories", "/a", "--include-directories", "/b"),
        *("--debug", "--screen-reader", "--prompt=-what?"),
    ]
    assert (plan.one_shot, plan.spool) == (True, True)
    assert "prompt" not in plan.config


@pytest.mark.parametrize(
    ("approve", "mode"),
    [
        ("ask", "default"),
        ("dangerous", "default"),
        ("never", "default"),
        ("edits", "auto_edit"),
        ("all", "yolo"),
        ("plan", "plan"),
    ],
)
def test_approval_modes(approve: Any, mode: str) -> None:
    argv = planned("gemini_stream", prompt="x", approve=approve).argv
    assert argv[argv.index("--approval-mode") + 1] == mode


@pytest.mark.parametrize("dialect", GEMINI.dialects)
def test_the_environment(dialect: str) -> None:
    env = planned(dialect, prompt="x", env={"GEMINI_CLI_TRUST_WORKSPACE": "false", "A": "b"}).env
    assert env == {
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_TRUST_WORKSPACE": "false",
        "GEMINI_PTY_INFO": "child_process",
        "NO_COLOR": "1",
        "A": "b",
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"output_schema": {"type": "object"}},
        {"fork": True, "resume": "x"},
        {"sandbox": "workspace"},
    ],
)
@pytest.mark.parametrize("dialect", GEMINI.dialects)
def test_what_it_cannot_do(dialect: str, fields: dict[str, Any]) -> None:
    with pytest.raises(Unsupported, match="gemini cannot do this"):
        planned(dialect, prompt="x", **fields)


def test_what_stream_json_cannot_do() -> None:
    with pytest.raises(UsageError, match="takes its prompt when it starts"):
        planned("gemini_stream")
    with pytest.raises(UsageError, match="no native option 'mode'"):
        planned("gemini_stream", prompt="x", native={"mode": "plan"})


def test_mcp_servers_of_stream_json_come_in_a_home_of_the_run(tmp_path: Path) -> None:
    """What the user has is linked, and nothing of it is changed."""
    own = tmp_path / ".gemini"
    (own / "extensions" / "theirs").mkdir(parents=True)
    (own / "settings.json").write_text("{}")
    server = {"command": "b"}
    plan = planned("gemini_stream", prompt="x", mcp_servers={"a": server}, env={"HOME": str(tmp_path)})
    home = Path(plan.env["GEMINI_CLI_HOME"])
    own_files.write(plan.files)
    try:
        assert home.stat().st_mode & 0o777 == 0o700
        folder = home / ".gemini"
        assert (folder / "settings.json").readlink() == own / "settings.json"
        assert sorted(path.name for path in (folder / "extensions").iterdir()) == ["dragoman", "theirs"]
        manifest = json.loads((folder / "extensions" / "dragoman" / "gemini-extension.json").read_text())
        assert manifest["mcpServers"] == {"a": server}
        (folder / "tmp" / "session").write_text("kept")
    finally:
        own_files.remove(plan.files)
    assert not home.exists()
    assert (own / "tmp" / "session").read_text() == "kept"
    assert sorted(path.name for path in own.iterdir()) == ["extensions", "history", "settings.json", "tmp"]
    assert [path.name for path in (own / "extensions").iterdir()] == ["theirs"]


@pytest.mark.parametrize("text", ['{"hooksConfig": {"enabled": false}} // off', "{"])
def test_hooks_that_are_switched_off(text: str, tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(text)
    with pytest.raises(UsageError, match="hooks"):
        planned(
            "gemini_stream", prompt="x", native={"hooks": {"BeforeTool": []}}, env={"HOME": str(tmp_path)}
        )


def test_unknown_options() -> None:
    with pytest.raises(UsageError, match="no native option 'zip'"):
        planned("acp", native={"zip": 1})


def test_where_its_sessions_are() -> None:
    assert GEMINI.session_dirs({"HOME": "/h"}) == [Path("/h/.gemini/tmp")]
    assert GEMINI.session_dirs({"HOME": "/h", "GEMINI_CLI_HOME": "/g"}) == [Path("/g/.gemini/tmp")]


def test_a_session_is_not_resumed_over_acp_in_the_minute_in_which_it_began(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "work" / "chats"
    chats.mkdir(parents=True)
    now = datetime.now(UTC)
    for minute in (now, now + timedelta(minutes=1)):
        (chats / f"session-{minute:%Y-%m-%dT%H-%M}-11111111.jsonl").touch()
    (chats / "session-2020-01-01T00-00-22222222.jsonl").touch()
    young, old = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"
    home = {"HOME": str(tmp_path)}
    with pytest.raises(UsageError, match="in this very minute"):
        planned("acp", resume=young, env=home)
    planned("acp", resume=old, env=home)
    planned("gemini_stream", resume=young, prompt="Go", env=home)


@pytest.mark.parametrize("brings", [".env", ".gemini/settings.json"])
def test_what_a_project_brings_stays_out_unless_it_is_trusted(brings: str, tmp_path: Path) -> None:
    """Told not to trust a folder, the CLI does not run without a person, and starts no server of the caller's either: so
    it is told only where there is something to keep out."""

    def made(**fields: Any) -> Any:
        given = {"cwd": str(tmp_path), "trusted": False, **fields}
        dialect = given.pop("dialect", "acp")
        return GEMINI.plan(SessionConfig(agent="gemini", **given), "gemini", dialect)

    name = "GEMINI_CLI_TRUST_WORKSPACE"
    assert made().env[name] == "true"
    (tmp_path / brings).parent.mkdir(exist_ok=True)
    (tmp_path / brings).touch()
    assert made().env[name] == "false"
    assert made(trusted=True).env[name] == "true"
    for refused in ({"mcp_servers": {"x": {"command": "y"}}}, {"dialect": "gemini_stream", "prompt": "hi"}):
        with pytest.raises(UsageError, match=f"is not trusted and brings {brings}"):
            made(**refused)
        if "mcp_servers" in refused:
            made(trusted=True, **refused)


def test_what_it_finds_in_its_container(tmp_path: Path) -> None:
    (tmp_path / "podman").touch(0o755)
    env = {"PATH": str(tmp_path), "SANDBOX_ENV": "A=1", "SANDBOX": "within", "SANDBOX_MOUNTS": "/x"}
    native = {"policies": ["rules.toml"], "sandbox_image": "image:1"}
    fields = {"prompt": "hi", "sandbox": "workspace", "env": env, "add_dirs": ["/a", "/b"], "native": native}
    plan = planned("gemini_stream", **fields)
    assert "--sandbox" in plan.argv
    assert plan.env["GEMINI_SANDBOX"] == "podman"
    assert plan.env["GEMINI_SANDBOX_IMAGE"] == "image:1"
    assert plan.env["SANDBOX_ENV"].startswith("A=1,GEMINI_CLI_NO_RELAUNCH=true,")
    assert plan.env["SANDBOX_MOUNTS"] == "/x,/tmp/rules.toml:/tmp/rules.toml:ro,/a:/a:rw,/b:/b:rw"
    assert "SANDBOX" not in plan.env
    with pytest.raises(UsageError, match="without comma and colon"):
        planned("gemini_stream", **{**fields, "add_dirs": ["/a:b"]})


def test_an_image_without_a_container() -> None:
    for dialect in ("acp", "gemini_stream"):
        with pytest.raises(UsageError, match="give sandbox=workspace"):
            planned(dialect, prompt="hi", native={"sandbox_image": "image:1"})


def test_a_prompt_that_is_too_long_for_an_argument() -> None:
    with pytest.raises(UsageError, match="use the dialect acp"):
        planned("gemini_stream", prompt="ü" * 60_001)
    assert planned("gemini_stream", prompt="ü" * 60_000).one_shot


# --- which tools it gets -----------------------------------------------------------------------------------------


def server(**fields: Any) -> dict[str, Any]:
    return {"command": "small", **fields}


def kept_out(plan: LaunchPlan) -> list[tuple[Any, ...]]:
    """The rules of the policy that the run is given: server, tool, decision, from the weakest to the strongest."""
    [(path, text)] = plan.files.items()
    assert plan.argv[plan.argv.index("--admin-policy") + 1] == path
    rules = sorted(tomllib.loads(text.decode())["rule"], key=lambda rule: rule["priority"])
    return [(rule.get("mcpName"), rule["toolName"], rule["decision"]) for rule in rules]


@pytest.mark.parametrize("dialect", ["acp", "gemini_stream"])
def test_tools_that_it_does_not_get(dialect: str) -> None:
    plan = planned(dialect, prompt="hi", blocked_tools=["glob", 'a"b\\'])
    assert kept_out(plan) == [(None, "glob", "deny"), (None, 'a"b\\', "deny")]
    assert planned(dialect, prompt="hi").files == {}


def test_tools_of_servers_that_it_does_not_get() -> None:
    servers = {"one": server(includeTools=["a", "b"], excludeTools=["b"]), "two": server(trust=True)}
    plan = planned("acp", mcp_servers=servers)
    assert kept_out(plan) == [
        ("one", "*", "deny"),
        ("one", "a", "ask_user"),
        ("one", "b", "ask_user"),
        ("one", "b", "deny"),
    ]
    assert plan.options.opening.mcp_servers == {"one": server(), "two": server()}
    assert [(rule.effect, rule.server) for rule in plan.granted] == [("allow", "two")]
    assert kept_out(planned("acp", mcp_servers={"one": server(includeTools=[])})) == [("one", "*", "deny")]


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("my_server", {"excludeTools": ["a"]}, "letters, digits and dashes"),
        ("one", {"includeTools": "a"}, "must be a list of names"),
        ("one", {"excludeTools": [""]}, "must be a list of names"),
        ("one", {"trust": "yes"}, "must be True or False"),
    ],
)
def test_servers_that_are_not_described_well(name: str, fields: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        planned("acp", mcp_servers={name: server(**fields)})


def test_beside_policies_of_an_administrator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gemini_rules, "_ADMINISTRATOR", str(tmp_path))
    assert planned("acp", blocked_tools=["glob"]).files
    (tmp_path / "rules.toml").touch()
    with pytest.raises(Unsupported, match="has policies, beside which it takes none"):
        planned("acp", blocked_tools=["glob"])
    assert planned("acp").files == {}
