"""What an agent tells of itself: before the first prompt, when it is asked, and with its turns."""

from collections.abc import Callable

import anyio
import pytest

from dragoman import (
    AgentFailed,
    AgentReady,
    Capability,
    CommandEnded,
    McpServer,
    PermissionRequested,
    SessionStarted,
    SessionUpdated,
    ToolEnded,
    TurnDiff,
    Unsupported,
    UsageError,
)
from tests.real.capability_marks import by, exercises
from tests.real.driving import SMALL_SERVER, Pinned, Watched

pytestmark = pytest.mark.anyio

SERVERS = {"small": SMALL_SERVER, "broken": {"command": "/nowhere/to/be/found"}}


async def servers(run: Watched, settled: Callable[[McpServer], bool]) -> dict[str, McpServer]:
    """Its MCP servers, once all of them have come up or failed: it goes on meanwhile, and says nothing of them."""
    while True:
        found = {server.name: server for server in await run.session.mcp_status()}
        if found and all(map(settled, found.values())):
            return found
        await anyio.sleep(0.05)


@exercises(Capability.REFRESH)
async def test_claude_tells_of_itself_before_the_first_prompt(claude: Pinned) -> None:
    async with claude.open(["Hi."], mcp_servers=SERVERS) as run:
        session = run.session
        await session.ready()
        assert {"compact", "init"} <= {command.name for command in session.commands}
        assert {"opus", "sonnet", "haiku"} & {model.id for model in session.models}
        assert session.models[0].default
        assert "high" in session.models[0].efforts
        assert {"general-purpose", "Plan"} <= {agent.name for agent in session.agents}
        assert all(agent.description for agent in session.agents)
        assert session.account is not None
        assert session.account.source == "ANTHROPIC_API_KEY"
        assert (session.tools, session.model) == ([], None)  # it tells those with its first turn
        found = await servers(run, lambda server: server.status != "pending")
        assert (found["small"].status, found["small"].server_info) == (
            "connected",
            {"name": "small", "version": "1"},
        )
        assert found["small"].tools == ["add", "shout", "greet"]
        assert found["broken"].status == "failed"
        assert "ENOENT" in (found["broken"].error or "")
        said = await run.turn("Hi.")
        assert {"Bash", "mcp__small__add"} <= set(session.tools)
        assert session.mcp_servers == list(found.values())  # init names them, and takes nothing away
        assert session.mode == "default"
        assert session.model
    [ready], [started] = run.events.of(AgentReady), run.events.of(SessionStarted)
    assert ready.commands == started.commands
    assert [agent.name for agent in ready.agents] == [agent.name for agent in started.agents]
    assert {skill.name for skill in started.skills} <= {command.name for command in started.commands}
    assert (started.output_style, started.api_key_source) == ("default", "ANTHROPIC_API_KEY")
    assert "default" in started.output_styles
    assert said.ended.outcome == "completed"


async def test_what_claude_can_be_asked(claude: Pinned) -> None:
    async with claude.open(["Hi."]) as run:
        await run.session.ready()
        before = run.session.models
        if claude.differs("models_are_not_told"):
            with pytest.raises(AgentFailed, match="claude does not tell its models: Unsupported control"):
                await run.session.refresh("models")
        else:
            await run.session.refresh("models")
        assert run.session.models == before
        with pytest.raises(Unsupported, match="asking for account"):
            await run.session.refresh("account")
        with pytest.raises(UsageError, match="there is no fact 'modles': did you mean models"):
            await run.session.refresh("modles")  # type: ignore[arg-type]
        await run.turn("Hi.")


async def test_what_a_plugin_and_a_beta_bring_to_claude(claude: Pinned) -> None:
    """`init.agents`, `skills`, `plugins` and `betas` of the specification (004 §3.5)."""
    plugin = claude.home / "plugin"
    files = {
        ".claude-plugin/plugin.json": '{"name": "small", "version": "1.0.0"}',
        "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.\n",
        "skills/hello/SKILL.md": "---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n",
    }
    for name, text in files.items():
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_text(text)
    beta = "context-1m-2025-08-07"
    async with claude.open(["Hi."], extra_args=["--plugin-dir", str(plugin), "--betas", beta]) as run:
        session = run.session
        await session.ready()
        [helper] = [agent for agent in session.agents if agent.name == "small:helper"]
        assert helper.description == "Helps."
        await run.turn("Hi.")
        [own] = [each for each in session.plugins if each.name == "small"]
        assert own.path == str(plugin)
        assert "small:hello" in {skill.name for skill in session.skills}
        assert session.betas == [beta]


async def test_how_much_claude_may_think(claude: Pinned) -> None:
    """What it then asks of the model; a model that thinks as it likes is only told whether to."""
    async with claude.open(["One.", "Two.", "Three.", "Four."], model="claude-haiku-4-5") as run:
        thoughts = []
        for tokens in (None, 2_000, 0, None):
            answer = await run.session.set_max_thinking_tokens(tokens)
            assert answer is not None
            assert answer.ok
            await run.turn("Think.")
            thoughts.append(run.model.requests_of("main")[-1].body.get("thinking"))
    usual, few, none, again = thoughts
    assert (few["type"], few["budget_tokens"]) == ("enabled", 2_000)
    assert none in (None, {"type": "disabled"})
    assert again == usual != few


@exercises(Capability.REFRESH)
async def test_codex_is_asked_for_what_it_has(codex: Pinned) -> None:
    skill = codex.home / ".codex" / "skills" / "hello"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n")
    async with codex.open(["Hi."], mcp_servers=SERVERS) as run:
        session = run.session
        await session.ready()
        assert session.model == "gpt-5.5"
        assert (session.models, session.account, session.skills) == ([], None, [])
        await session.refresh("models", "account", "skills")
        assert [model.id for model in session.models if model.default]
        assert all({"low", "high"} <= set(model.efforts) for model in session.models)
        [hello] = [skill for skill in session.skills if skill.name == "hello"]
        assert (hello.description, hello.path) == ("Says hello.", str(skill / "SKILL.md"))
        assert session.account is None  # a provider of config.toml needs none
        found = await servers(run, lambda server: server.status in ("connected", "ready", "failed"))
        small = found["small"]
        if codex.differs("servers_are_listed_by_name_and_tools"):
            assert (small.status, small.server_info) == ("ready", {})
        else:
            assert (small.status, small.server_info) == ("connected", {"name": "small", "version": "1"})
        assert small.tools == ["add", "greet", "shout"]
        assert "No such file" in (found["broken"].error or "")
        with pytest.raises(
            AgentFailed, match=r"codex does not tell its rate_limit: .*authentication required"
        ):
            await session.refresh("rate_limit")
        with pytest.raises(UsageError, match="codex has no option 'max_thinking_tokens'; it has: effort"):
            await session.set_max_thinking_tokens(5)
        await run.turn("Hi.")
    asked = [event.command for event in run.events.of(CommandEnded)]
    assert asked[:3] == ["model/list", "account/read", "skills/list"]
    assert [event.models for event in run.events.of(SessionUpdated) if event.models]


@by("gemini", "opencode", "codex-acp")
async def test_acp_agents_tell_with_their_session(agent: Pinned) -> None:
    async with agent.open(["Hi."]) as run:
        session = run.session
        await session.ready()
        assert session.id is not None
        assert session.models
        assert session.mode in {mode.id for mode in session.modes}
        with pytest.raises(Unsupported, match=f"{agent.name} cannot do this: refresh"):
            await session.mcp_status()
        await run.turn("Hi.")
        assert session.commands


async def test_what_codex_is_told_between_turns_holds_for_the_next(codex: Pinned) -> None:
    """The overrides of turn/start, by thread/settings/update: model, effort, folder, approvals and sandbox."""
    inner = codex.cwd / "inner"
    inner.mkdir()
    shell = codex.tools.shell("pwd | tee made")
    async with codex.open([shell, "One.", shell, "Two."], mode="ask", approve=lambda request: True) as run:
        first = await run.turn("Do it.")
        answers = [
            await run.session.set_model("gpt-5.4"),
            await run.session.set_option("effort", "high"),
            await run.session.set_option("cwd", str(inner)),
            await run.session.set_option("approvalPolicy", "never"),
            await run.session.set_option("sandboxPolicy", {"type": "dangerFullAccess"}),
        ]
        second = await run.turn("Again.")
        assert run.session.model == "gpt-5.4"
    assert [answer is not None and answer.ok for answer in answers] == [True] * 5
    asked = run.model.requests_of("main")
    assert [request.model for request in asked] == ["gpt-5.5", "gpt-5.5", "gpt-5.4", "gpt-5.4"]
    assert [request.body["reasoning"]["effort"] for request in asked[2:]] == ["high", "high"]
    assert [len(turn.of(PermissionRequested)) for turn in (first, second)] == [1, 0]
    folders = [f"{codex.cwd}\n", f"{inner}\n"]
    assert [(folder / "made").read_text() for folder in (codex.cwd, inner)] == folders
    outputs = [turn.one(ToolEnded).output for turn in (first, second)]
    missing = (
        codex.differs("an_output_may_be_missing") and outputs[0] is None
    )  # of the one that was asked for
    assert outputs[missing:] == folders[missing:]


async def test_what_a_turn_of_codex_has_changed(codex: Pinned) -> None:
    (codex.cwd / "there").write_text("old\n")
    lines = [codex.write("new", "text\n"), codex.tools.edit(codex.cwd / "there", "old", "new"), "Done."]
    async with codex.open(lines, approve="all") as run:
        said = await run.turn("Change them.")
    diffs = [event.diff for event in said.of(TurnDiff)]
    assert ["there" in diff for diff in diffs] == [False, True]
    assert all("+text" in diff for diff in diffs)
    assert "-old\n+new" in diffs[-1]
