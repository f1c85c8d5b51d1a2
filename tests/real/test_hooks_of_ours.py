"""Python functions as hooks of the real agents: they can forbid and add, and never allow what the policy does not."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

import dragoman
from dragoman import (
    HookAnswer,
    HookCall,
    PermissionRequested,
    PermissionResolved,
    ToolEnded,
    Unsupported,
    UsageError,
)
from dragoman.testing import ScriptedModel
from tests.real.capability_marks import by, ways
from tests.real.driving import Lines, Pinned, told

pytestmark = pytest.mark.anyio

DIALECTS = [("codex", "codex_exec"), ("gemini", "gemini_stream")]


def forbids(call: HookCall) -> HookAnswer | None:
    return HookAnswer(block="The hook says no.") if "forbidden" in json.dumps(call.input) else None


@by("claude", "codex")
async def test_a_hook_sees_calls_and_forbids_some(agent: Pinned) -> None:
    seen: list[HookCall] = []

    async def before(call: HookCall) -> HookAnswer | None:
        seen.append(call)
        return forbids(call)

    lines = [agent.tools.shell(f"touch {name}") for name in ("fine", "forbidden")]
    async with agent.open(
        [*lines, "One."], approve=lambda request: True, hooks={"PreToolUse": before}
    ) as run:
        said = await run.turn("Touch both.")
        answer = told(run.model, 2)
        session = run.session.id
    assert agent.files == ["fine"]
    assert [(call.event, call.agent, call.kind) for call in seen] == [
        ("PreToolUse", agent.name, "execute")
    ] * 2
    assert ["touch fine" in json.dumps(call.input) for call in seen] == [True, False]
    assert {(call.session, call.cwd) for call in seen} == {(session, str(agent.cwd))}
    assert all(call.native["hook_event_name"] == "PreToolUse" for call in seen)
    assert "The hook says no." in answer
    assert [
        request for request in said.of(PermissionRequested) if "forbidden" in json.dumps(request.input)
    ] == []


async def refuses_hooks(actor: Pinned, dialect: str) -> bool:
    """A version that would go on without them is not even started."""
    if dialect != "codex_exec" or not actor.differs("exec_calls_no_hooks"):
        return False
    with pytest.raises(Unsupported, match="hooks in codex_exec before"):
        await actor.ask(["Never said."], "Go.", dialect=dialect, hooks={"PreToolUse": forbids})
    return True


@ways(*DIALECTS)
async def test_a_hook_where_nobody_is_asked(actor: Pinned, dialect: str) -> None:
    if await refuses_hooks(actor, dialect):
        return
    lines = [actor.tools.shell(f"touch {file}") for file in ("fine", "forbidden")]
    seen: list[HookCall] = []

    def before(call: HookCall) -> HookAnswer | None:
        seen.append(call)
        return forbids(call)

    result = await actor.ask(
        [*lines, "One."], "Touch both.", mode="all", dialect=dialect, hooks={"PreToolUse": before}
    )
    assert actor.files == ["fine"]
    assert [(call.event, call.kind, call.session) for call in seen] == [
        ("PreToolUse", "execute", result.session)
    ] * 2
    assert result.text == "One."


def raises(call: HookCall) -> None:
    raise RuntimeError("The hook is broken.")


async def sleeps(call: HookCall) -> None:
    await anyio.sleep_forever()


def says_nonsense(call: HookCall) -> Any:
    return True


def says_no_json(call: HookCall) -> Any:
    return {"hookSpecificOutput": object()}


BROKEN = [raises, sleeps, says_nonsense, says_no_json]


@by("claude", "codex")
@pytest.mark.parametrize("hook", BROKEN)
async def test_a_broken_hook_allows_nothing(agent: Pinned, hook: Any) -> None:
    lines: Lines = [agent.tools.shell("touch it"), "Then not."]
    async with agent.open(lines, mode="all", hooks={"PreToolUse": hook}, handler_timeout=0.3) as run:
        said = await run.turn("Touch it.")
        assert re.search("The hook|a hook", told(run.model))
    assert agent.files == []
    assert said.of(ToolEnded, status="completed") == []
    assert said.ended.outcome == "completed"


@ways(*DIALECTS)
@pytest.mark.parametrize("hook", BROKEN)
async def test_a_broken_hook_allows_nothing_where_nobody_is_asked(
    actor: Pinned, dialect: str, hook: Any
) -> None:
    if await refuses_hooks(actor, dialect):
        return
    lines: Lines = [actor.tools.shell("touch it"), "Then not."]
    result = await actor.ask(
        lines, "Touch it.", mode="all", dialect=dialect, hooks={"PreToolUse": hook}, handler_timeout=0.3
    )
    assert actor.files == []
    assert result.outcome == "completed"


ALLOWS = {
    "hookEventName": "PreToolUse",
    "permissionDecision": "allow",
    "permissionDecisionReason": "I say so.",
}


@by("claude", "codex")
@pytest.mark.parametrize(
    "answer",
    [
        {"hookSpecificOutput": ALLOWS},
        {"decision": "approve", "reason": "I say so."},
        {"hookSpecificOutput": {**ALLOWS, "updatedInput": {"command": "touch other", "cmd": "touch other"}}},
        {"async": True},
        {"continue": True, "suppressOutput": True},
        None,
    ],
)
async def test_no_hook_allows_what_the_policy_does_not(agent: Pinned, answer: Any) -> None:
    """Neither the person nor a rule is passed over, and both see the input that would run."""
    asked: list[str] = []

    def approve(request: dragoman.PermissionRequest) -> bool:
        asked.append(request.command or "")
        return False

    lines: Lines = [agent.tools.shell("touch it"), "Then not."]
    async with agent.open(lines, approve=approve, hooks={"PreToolUse": lambda call: answer}) as run:
        said = await run.turn("Touch it.")
    assert agent.files == []
    assert said.of(ToolEnded, status="completed") == []
    assert asked == [
        "touch other" if agent.name == "codex" and "touch other" in json.dumps(answer) else "touch it"
    ]


@by("claude")
async def test_what_a_rule_denies_stays_denied(agent: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\ncommand = "touch"\neffect = "deny"\nname = "no touching"\n')
    hooks = {"PreToolUse": lambda call: {"hookSpecificOutput": ALLOWS}}
    async with agent.open(
        [agent.tools.shell("touch it"), "No."], mode="all", policy=rules, hooks=hooks
    ) as run:
        said = await run.turn("Touch it.")
    assert agent.files == []
    assert (said.one(PermissionResolved).rule or "").startswith("no touching")


@by("claude", "codex")
async def test_other_events(agent: Pinned) -> None:
    seen: list[tuple[str, Any]] = []

    def note(call: HookCall) -> HookAnswer | None:
        seen.append((call.event, call.prompt or call.tool_name))
        if call.event == "UserPromptSubmit":
            return HookAnswer(context="It is Sunday.")
        return HookAnswer(context="It took long.") if call.event == "PostToolUse" else None

    hooks = dict.fromkeys(("UserPromptSubmit", "PostToolUse", "Stop", "SessionStart"), note)
    async with agent.open([agent.tools.shell("touch it"), "Done."], mode="all", hooks=hooks) as run:
        await run.turn("Touch it.")
        first, second = (json.dumps(request.body) for request in run.model.requests_of("main"))
    assert [event for event, _ in seen if event != "SessionStart"] == [
        "UserPromptSubmit",
        "PostToolUse",
        "Stop",
    ]
    assert ("UserPromptSubmit", "Touch it.") in seen
    assert "It is Sunday." in first
    assert "It took long." in second


@by("claude", "codex")
async def test_a_prompt_is_blocked(agent: Pinned) -> None:
    hooks = {"UserPromptSubmit": lambda call: HookAnswer(block="Not on Sundays.")}
    async with agent.open(["Never said."], hooks=hooks) as run:
        said = await run.turn("Touch it.")
        assert run.model.requests_of("main") == []
    assert said.said() == [] or "Not on Sundays." in json.dumps(said.said())


@ways(*DIALECTS)
@pytest.mark.parametrize("hook", [lambda call: HookAnswer(block="Not on Sundays."), *BROKEN])
async def test_a_prompt_is_blocked_where_nobody_is_asked(actor: Pinned, dialect: str, hook: Any) -> None:
    if await refuses_hooks(actor, dialect):
        return
    with ScriptedModel(["Never said."]) as model:
        await actor.ask(model, "Go.", dialect=dialect, hooks={"UserPromptSubmit": hook}, handler_timeout=0.3)
        assert model.requests_of("main") == []


@pytest.mark.parametrize(("dialect", "called"), [("gemini_stream", True), ("acp", False)])
async def test_over_acp_gemini_calls_no_hook(gemini: Pinned, dialect: str, called: bool) -> None:
    """Which is why it takes none of ours there: even one of its settings is not heard of."""
    mark = gemini.home / "mark"
    answer = json.dumps({"decision": "deny", "reason": "No."})
    hook = {"type": "command", "command": f"touch {mark}; echo '{answer}'"}
    with ScriptedModel([gemini.write("new.txt"), "Done."]) as model:
        model.env("gemini", gemini.home)
        settings(gemini, hooks={"BeforeTool": [{"matcher": "*", "hooks": [hook]}]})
        await gemini.ask(model, "Write it.", mode="all", dialect=dialect, model="gemini-2.5-pro")
    assert mark.exists() is called
    assert gemini.files == ([] if called else ["new.txt"])


def settings(gemini: Pinned, **more: Any) -> None:
    """Add to the user's settings."""
    file = gemini.home / ".gemini" / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}) + "// mine")


async def test_where_gemini_takes_no_hook(gemini: Pinned) -> None:
    with pytest.raises(Unsupported, match="use the dialect gemini_stream"):
        await gemini.ask(["Never said."], "Go.", hooks={"PreToolUse": raises})
    settings(gemini, hooksConfig={"enabled": False})
    with pytest.raises(UsageError, match="switches them off"):
        await gemini.ask(["Never said."], "Go.", dialect="gemini_stream", hooks={"PreToolUse": raises})


async def test_hooks_of_an_untrusted_project_stay_off_beside_ours(codex: Pinned) -> None:
    """Ours run though nobody has looked at them; those that a project brings do not."""
    (codex.cwd / ".codex").mkdir()
    hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch theirs"}]}]}}
    (codex.cwd / ".codex" / "hooks.json").write_text(json.dumps(hooks))
    seen: list[str] = []
    lines: Lines = [codex.tools.shell("touch it"), "Done."]
    for trusted in (False, True):
        async with codex.open(
            lines, mode="all", trusted=trusted, hooks={"PreToolUse": lambda call: seen.append(call.event)}
        ) as run:
            await run.turn("Touch it.")
        assert ("theirs" in codex.files) is trusted
    assert seen == ["PreToolUse"] * 2
