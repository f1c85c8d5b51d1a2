"""What `sandbox` keeps an agent from, where the agent has one; elsewhere it is refused before anything starts."""

import base64
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman import PermissionResolved, RunEnded, ToolEnded, Unsupported
from dragoman.testing import ToolCall, tool
from tests.real.agent_tools import TOOLS, outside
from tests.real.capability_marks import by
from tests.real.driving import Events, Lines, Pinned, saying
from tests.real.test_answers import PIXEL

pytestmark = pytest.mark.anyio


@by("gemini", "opencode")
@pytest.mark.parametrize("sandbox", ["read-only", "workspace"])
async def test_there_is_none(agent: Pinned, sandbox: Any) -> None:
    with pytest.raises(Unsupported, match=f"sandbox={sandbox}"):
        await agent.ask(["Never said."], "Do it.", sandbox=sandbox)


@pytest.mark.parametrize("sandbox", ["none", "full"])
async def test_without_one_nothing_is_in_the_way(actor: Pinned, sandbox: Any, tmp_path: Path) -> None:
    lines: Lines = [actor.tools.shell(f"touch here {tmp_path}/there"), "Done."]
    await actor.ask(lines, "Do it.", approve="all", sandbox=sandbox)
    assert actor.files == ["here"]
    assert (tmp_path / "there").exists()


# --- that of Claude Code -------------------------------------------------------------------------------------

needs_programs = pytest.mark.skipif(
    shutil.which("bwrap") is None or shutil.which("socat") is None,
    reason="the sandbox of Claude Code needs bubblewrap and socat",
)


async def left_by(claude: Pinned, tmp_path: Path, **fields: Any) -> tuple[list[str], Events]:
    """What is there after an attempt to write in five ways, the last out of the sandbox, and the events of it."""
    out = tmp_path / "out"
    out.mkdir()
    acts = [
        claude.tools.shell("touch ran"),
        claude.write("written"),
        claude.tools.shell(f"touch {out}/ran"),
        claude.write(out / "written"),
        tool("Bash", command=f"touch {out}/let_out", dangerouslyDisableSandbox=True),
        claude.tools.shell("cat ran; echo looked"),
    ]
    result = await claude.ask([*acts, "Done."], "Do it.", **fields)
    assert result.text == "Done."
    return [*claude.files, *sorted(f"out/{path.name}" for path in out.iterdir())], Events(result.events)


@needs_programs
@pytest.mark.parametrize(
    ("mode", "sandbox", "there"),
    [
        ("all", "read-only", []),
        ("all", "workspace", ["ran", "written"]),
        ("edits", "workspace", ["ran", "written"]),
        ("edits", "read-only", []),
    ],
)
async def test_what_that_of_claude_lets_through(
    claude: Pinned, tmp_path: Path, mode: Any, sandbox: Any, there: list[str]
) -> None:
    """Whatever a person says, who is asked where the mode does not settle it."""
    found, events = await left_by(claude, tmp_path, mode=mode, approve=saying("allow"), sandbox=sandbox)
    assert found == there
    denied = {resolved.rule for resolved in events.of(PermissionResolved, outcome="denied")}
    assert denied == {f"sandbox={sandbox}"}
    if sandbox == "workspace":
        assert events.of(ToolEnded)[-1].output == "looked"


@needs_programs
async def test_in_a_sandbox_that_only_reads_commands_look(claude: Pinned) -> None:
    (claude.cwd / "notes").write_text("read me\n")
    lines: Lines = [claude.tools.shell("cat notes; echo more >> notes"), "Done."]
    result = await claude.ask(lines, "Do it.", approve="all", sandbox="read-only")
    output = Events(result.events).one(ToolEnded).output or ""
    broken = claude.differs("nothing_starts_in_a_sandbox_that_only_reads")
    assert ("read me" in output, "bwrap" in output) == (not broken, broken)
    assert (claude.cwd / "notes").read_text() == "read me\n"


@needs_programs
async def test_further_folders_are_in_that_of_claude(claude: Pinned, tmp_path: Path) -> None:
    (tmp_path / "added").mkdir()
    lines: Lines = [
        claude.tools.shell(f"touch {tmp_path}/added/ran"),
        claude.write(tmp_path / "added" / "written"),
        "Done.",
    ]
    await claude.ask(lines, "Do it.", approve="all", sandbox="workspace", add_dirs=[tmp_path / "added"])
    assert sorted(path.name for path in (tmp_path / "added").iterdir()) == ["ran", "written"]


async def test_without_its_programs_claude_is_not_started(claude: Pinned, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="needs bubblewrap and socat"):
        await claude.ask(["Never."], "Do it.", sandbox="workspace", env={"PATH": str(tmp_path)})


@needs_programs
async def test_a_setting_that_lets_commands_out_is_refused(claude: Pinned) -> None:
    folder = claude.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"sandbox": {"excludedCommands": ["touch *"]}}')
    with pytest.raises(Unsupported, match=r"settings\.json lets commands out of it"):
        await claude.ask(["Never."], "Do it.", sandbox="workspace", env={"CLAUDE_CONFIG_DIR": str(folder)})


# --- that of Gemini CLI, which is a container ---------------------------------------------------------------------

IN_CONTAINER: dict[str, Any] = {"dialect": "gemini_stream", "sandbox": "workspace", "model": "gemini-2.5-pro"}
IMAGE = "registry.example/sandbox:1"


@pytest.fixture
def docker(gemini: Pinned, tmp_path: Path) -> dict[str, str]:
    """An environment with a `docker` that writes down how it is called, and makes a sandbox all the same."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "docker"
    player = Path(__file__).parent / "peers" / "docker.py"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {player} {tmp_path}/called "$@"\n')
    program.chmod(0o755)
    places = (tmp_path / "bin", gemini.executable.parent, os.environ["PATH"])
    return {"PATH": ":".join(map(str, places)), "SANDBOX_SET_UID_GID": "false"}


async def holds(gemini: Pinned, docker: dict[str, str]) -> bool:
    """Whether the container of this version is a sandbox; one that is not is refused."""
    if not gemini.differs("its_container_has_the_users_settings"):
        return True
    with pytest.raises(Unsupported, match=r"could write to ~/\.gemini"):
        await gemini.ask(["Never said."], "Do it.", env=docker, **IN_CONTAINER)
    return False


def container(tmp_path: Path) -> tuple[list[str], str]:
    """The words of `docker run`, and the command that is run in it."""
    calls = [json.loads(line) for line in (tmp_path / "called").read_text().splitlines()]
    [words] = [words for words in calls if words[0] == "run"]
    return words, words[-1]


@needs_programs
async def test_what_that_of_gemini_lets_through(
    gemini: Pinned, docker: dict[str, str], tmp_path: Path
) -> None:
    if not await holds(gemini, docker):
        return
    out, added = tmp_path / "out", tmp_path / "added"
    for folder in (out, added):
        folder.mkdir()
    shell = gemini.tools.shell
    lines: Lines = [
        shell("touch ran"),
        gemini.write("written"),
        shell(f"touch {out}/ran"),
        shell(f"touch {added}/ran"),
        shell("echo looked"),
        "Done.",
    ]
    fields = {"approve": "all", "env": docker, "native": {"sandbox_image": IMAGE}, "add_dirs": [added]}
    result = await gemini.ask(lines, "Do it.", **IN_CONTAINER, **fields)
    assert result.text == "Done."
    assert gemini.files == ["ran", "written"]
    assert ([*out.iterdir()], [*added.iterdir()]) == ([], [added / "ran"])
    words, command = container(tmp_path)
    assert IMAGE in words
    assert {f"{gemini.cwd}:{gemini.cwd}", f"{added}:{added}:rw"} <= set(words)
    assert "--sandbox" in command
    assert "--approval-mode yolo" in command


@needs_programs
async def test_images_reach_it_in_its_container(
    gemini: Pinned, docker: dict[str, str], tmp_path: Path
) -> None:
    if not await holds(gemini, docker):
        return
    picture = tmp_path / "dot.png"
    picture.write_bytes(base64.b64decode(PIXEL))
    async with gemini.open(
        ["A dot."], prompt="What is it?", images=[picture], env=docker, **IN_CONTAINER
    ) as run:
        await run.until(RunEnded)
        [request] = run.model.requests_of("main")
    assert PIXEL in json.dumps(request.messages)


@needs_programs
async def test_a_sandbox_that_the_environment_turns_off_is_one_all_the_same(
    gemini: Pinned, docker: dict[str, str], tmp_path: Path
) -> None:
    if not await holds(gemini, docker):
        return
    off = {"GEMINI_SANDBOX": "false", "SANDBOX": "elsewhere"}
    await gemini.ask(["Done."], "Do it.", env={**docker, **off}, **IN_CONTAINER)
    assert "--sandbox" in container(tmp_path)[1]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"dialect": "acp"}, "with the dialect gemini_stream only"),
        ({"env": {"PATH": "/nowhere"}}, "needs docker or podman: install that"),
        ({"env": {"PATH": "/nowhere", "GEMINI_SANDBOX": "runsc"}}, "needs runsc"),
        ({"sandbox": "read-only"}, "always lets it write to its folder: use approve=plan"),
        ({"resume": "5ed284d4-4d13-40e6-896a-95f3a285be16"}, "sessions end with the container"),
    ],
)
async def test_where_that_of_gemini_would_not_hold(gemini: Pinned, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        await gemini.ask(["Never said."], "Do it.", **{**IN_CONTAINER, **fields})


# --- that of codex-acp, which is a mode ---------------------------------------------------------------------------


@by("codex-acp")
@pytest.mark.parametrize(
    ("approve", "sandbox", "there"),
    [("all", "read-only", []), ("all", "workspace", ["ran"]), ("plan", "workspace", [])],
)
async def test_what_that_of_codex_acp_lets_through(
    agent: Pinned, approve: Any, sandbox: Any, there: list[str]
) -> None:
    """What would lead out of it is asked for, and denied; then it ends the turn."""
    held = TOOLS["codex"].shell
    lines: Lines = [held("touch ran"), held("echo looked"), agent.tools.shell("touch let_out"), "Never said."]
    result = await agent.ask(lines, "Do it.", approve=approve, sandbox=sandbox)
    events = Events(result.events)
    assert agent.files == there
    assert "looked\n" in [done.output for done in events.of(ToolEnded)]
    assert events.one(PermissionResolved).rule == f"sandbox={sandbox}"


@by("codex-acp")
async def test_no_mode_of_ours_leads_out_of_that_of_codex_acp(agent: Pinned) -> None:
    lines: Lines = [TOOLS["codex"].shell("touch ran"), "Done."]
    async with agent.open(lines, approve="ask", sandbox="read-only") as run:
        await run.session.set_mode("all")
        await run.turn("Do it.")
    assert agent.files == []


# --- that of Codex -------------------------------------------------------------------------------------------

NO_TEMP = {"config": {"sandbox_workspace_write": {"exclude_slash_tmp": True, "exclude_tmpdir_env_var": True}}}
"""The tests work below the folder for temporary files, which else belongs to every workspace."""


async def written(
    codex: Pinned, tmp_path: Path, shell: Callable[[str], ToolCall] | None = None, **fields: Any
) -> list[str]:
    """What is there after an attempt to write in four ways."""
    shell = shell or codex.tools.shell
    out = tmp_path / "out"
    out.mkdir()
    acts = [
        shell("touch ran"),
        codex.write("patched"),
        shell(f"touch {out}/ran"),
        codex.write(out / "patched"),
    ]
    result = await codex.ask([*acts, "Done."], "Do it.", native=NO_TEMP, **fields)
    assert result.text == "Done."
    return [*codex.files, *sorted(f"out/{path.name}" for path in out.iterdir())]


@pytest.mark.parametrize(
    ("approve", "sandbox", "there"),
    [
        ("all", "read-only", []),
        ("all", "workspace", ["patched", "ran"]),
        ("all", "full", ["patched", "ran", "out/patched", "out/ran"]),
        ("edits", "read-only", []),
        ("edits", "workspace", ["patched"]),
        ("dangerous", "read-only", []),
        ("dangerous", "workspace", ["patched"]),
        ("plan", "workspace", []),
        ("plan", "full", []),
        ("never", "full", []),
        ("ask", "full", []),
    ],
)
async def test_what_it_lets_through(
    codex: Pinned, tmp_path: Path, approve: Any, sandbox: Any, there: list[str]
) -> None:
    assert await written(codex, tmp_path, approve=approve, sandbox=sandbox) == there


@pytest.mark.parametrize(
    ("approve", "sandbox", "there"),
    [
        ("ask", "none", []),
        ("all", "read-only", []),
        ("all", "workspace", ["patched", "ran"]),
        ("plan", "full", []),
        ("never", "full", []),
    ],
)
async def test_what_it_lets_through_in_one_turn(
    codex: Pinned, tmp_path: Path, approve: Any, sandbox: Any, there: list[str]
) -> None:
    """`codex exec`, which asks nobody."""
    fields = {"dialect": "codex_exec", "approve": approve, "sandbox": sandbox}
    assert await written(codex, tmp_path, **fields) == there


async def test_a_yes_of_a_person_goes_beyond_it(codex: Pinned, tmp_path: Path) -> None:
    """So it is in Codex: what was approved runs outside of the sandbox."""
    shell = codex.tools.shell if codex.differs("nothing_may_be_asked_to_run_outside") else outside
    there = await written(codex, tmp_path, shell, sandbox="read-only", approve=lambda request: True)
    assert there == ["patched", "ran", "out/patched", "out/ran"]


async def test_a_policy_that_could_not_be_obeyed_is_refused(codex: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\ncommand = "rm"\neffect = "deny"\n')
    with pytest.raises(Unsupported, match="asks nobody"):
        await codex.ask(["Never said."], "Do it.", approve="all", sandbox="workspace", policy=rules)
