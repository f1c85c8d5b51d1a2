"""Rules that somebody wrote, obeyed by real agents and named in what is recorded."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    Answer,
    PermissionRequest,
    PermissionResolved,
    ToolEnded,
    Unsupported,
)
from dragoman._policy import rulebook
from tests.real.agent_tools import outside
from tests.real.capability_marks import by
from tests.real.driving import Events, Lines, Pinned, told

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own rules."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "dragoman" / "policy.toml"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(
        """
        [[rule]]
        name = "keep files"
        command = "rm"
        effect = "deny"
        message = "Nothing is removed here."

        [[rule]]
        name = "marks"
        command = ["touch", "echo"]
        effect = "allow"

        [[rule]]
        name = "the vault"
        kind = "edit"
        path = "vault/**"
        effect = "deny"

        [[rule]]
        name = "notes"
        kind = "edit"
        path = "notes/*"
        effect = "allow"
        """
    )
    return path


async def done(actor: Pinned, *acts: Any, **fields: Any) -> Events:
    lines: Lines = [*acts, "Done."]
    result = await actor.ask(lines, "Do it.", **fields)
    assert Events(result.events).said()[-1:] == ["Done."]
    return Events(result.events)


def settled(events: Events) -> list[tuple[str, str | None, str | None]]:
    return [(event.outcome, event.by, event.rule) for event in events.of(PermissionResolved)]


async def test_commands(actor: Pinned, policy: Path) -> None:
    """Allowed although the mode denies all, denied although one of several commands would be allowed."""
    (actor.cwd / "victim").write_text("dear")
    asks = actor.name == "codex" and not actor.differs("nothing_may_be_asked_to_run_outside")
    shell = outside if asks else actor.tools.shell
    acts = (shell("touch here"), shell("touch there && rm victim"))
    events = await done(actor, *acts, approve="never", policy=policy)
    assert actor.files == ["here", "victim"]
    assert settled(events) == [
        ("allowed", "policy", f"marks ({policy})"),
        ("denied", "policy", f"keep files ({policy})"),
    ]
    assert [event.status for event in events.of(ToolEnded)] == ["completed", "declined"]


async def test_a_denial_holds_in_the_mode_that_allows_all(actor: Pinned, policy: Path) -> None:
    """And the model is told why, where the protocol has a place for it: those of Codex and Gemini have none."""
    (actor.cwd / "victim").write_text("dear")
    lines: Lines = [actor.tools.shell("rm victim"), "Done."]
    async with actor.open(lines, approve="all", policy=policy) as run:
        said = await run.turn("Do it.")
        answer = told(run.model)
    assert actor.files == ["victim"]
    assert settled(said) == [("denied", "policy", f"keep files ({policy})")]
    assert ("Nothing is removed here." in answer) == (actor.name == "claude")


async def test_paths(actor: Pinned, policy: Path) -> None:
    for name in ("notes", "vault", "src"):
        (actor.cwd / name).mkdir()
    acts = [actor.write(f"{name}/new.txt") for name in ("notes", "vault", "src")]
    events = await done(actor, *acts, approve="ask", policy=policy)
    assert actor.files == ["notes/new.txt"]
    assert settled(events) == [
        ("allowed", "policy", f"notes ({policy})"),
        ("denied", "policy", f"the vault ({policy})"),
        ("denied", "policy", "no handler"),
    ]


async def test_a_path_is_denied_in_every_mode(actor: Pinned, policy: Path) -> None:
    (actor.cwd / "vault").mkdir()
    for mode in ("edits", "all"):
        events = await done(actor, actor.write("vault/new.txt"), approve=mode, policy=policy)
        assert actor.files == []
        assert settled(events) == [("denied", "policy", f"the vault ({policy})")]


async def test_a_project_can_only_be_stricter(actor: Pinned) -> None:
    rules = actor.cwd / rulebook.PROJECT_FILE
    rules.parent.mkdir()
    rules.write_text(
        '[[rule]]\ncommand="touch"\neffect="allow"\n[[rule]]\nname="n"\ncommand="mkdir"\neffect="deny"\n'
    )
    acts = (actor.tools.shell("touch here"), actor.tools.shell("mkdir sub"))
    events = await done(actor, *acts, approve=lambda request: False)
    assert actor.files == [str(rulebook.PROJECT_FILE)]
    assert settled(events) == [("denied", "client", None), ("denied", "policy", "n (the project's policy)")]


@pytest.mark.parametrize("scope", ["session", "always"])
async def test_an_answer_that_lasts(actor: Pinned, scope: str, config: Path) -> None:
    """It is for this very command, and it is kept by us, not in the agent's settings."""
    asked: list[PermissionRequest] = []

    def approve(request: PermissionRequest) -> Answer:
        asked.append(request)
        return Answer(decision="allow", remember=[scope])

    lines: Lines = [
        actor.tools.shell("touch a"),
        actor.tools.shell("touch a"),
        actor.tools.shell("touch b"),
        "Done.",
    ]
    async with actor.open(lines, approve=approve) as run:
        await run.turn("Do it.")
    assert actor.files == ["a", "b"]
    assert len(asked) == 2
    assert "touch" not in settings(actor)
    assert [rule.line for rule in rulebook.read(config)] == (
        ["touch a", "touch b"] if scope == "always" else []
    )
    if scope == "always":
        (actor.cwd / "a").unlink()
        events = await done(actor, actor.tools.shell("touch a"))
        assert actor.files == ["a", "b"]
        assert settled(events) == [("allowed", "policy", "rule 1 (your policy)")]


def settings(actor: Pinned) -> str:
    """What the agent has written down of rules and trust, in its home and where it works."""
    names = ("settings*.json", "config.toml", "*.rules", "polic*/*.toml", "auto-saved.toml")
    places = (actor.home, actor.cwd)
    return "".join(path.read_text() for place in places for name in names for path in place.rglob(name))


@by("codex", "gemini")
async def test_who_asks_nobody_takes_no_policy(agent: Pinned, policy: Path) -> None:
    dialect = {"codex": "codex_exec", "gemini": "gemini_stream"}[agent.name]
    with pytest.raises(Unsupported, match=f"policy in {dialect}"):
        await agent.ask(["Never said."], "Do it.", dialect=dialect, policy=policy)
