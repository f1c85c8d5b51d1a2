"""What is piped in beside a prompt: the model is sent the same as by the agent's own command line."""

import subprocess
from collections.abc import Callable

import pytest

from dragoman import TurnStarted
from dragoman.testing import Scenario, ScriptedModel
from tests.real.capability_marks import by
from tests.real.command_line import events_of, run
from tests.real.driving import PATIENCE, Pinned

PROMPT = "Analyze this"
OWN: dict[str, Callable[[str], list[str]]] = {
    "claude": lambda model: ["-p", PROMPT, "--output-format", "stream-json", "--verbose"],
    "codex": lambda model: ["exec", "--json", "--skip-git-repo-check", PROMPT],
    "gemini": lambda model: ["--model", model, "-p", PROMPT, "--output-format", "stream-json"],
}
"""The same at the agent's own command line."""


def own(pinned: Pinned, model: Scenario, piped: bytes) -> None:
    command = [str(pinned.executable), *OWN[pinned.name](pinned.tools.model or "")]
    env = model.env(pinned.name, pinned.home) | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    subprocess.run(
        command, input=piped, env=env, cwd=pinned.cwd, capture_output=True, timeout=PATIENCE, check=True
    )


@by("claude", "codex", "gemini")
@pytest.mark.parametrize("piped", [b"first line\nsecond line\n", b"no end of line", b""])
def test_it_is_sent_as_the_agent_itself_would_send_it(agent: Pinned, piped: bytes) -> None:
    with ScriptedModel(["Done.", "Done."]) as model:
        own(agent, model, piped)
        done = run(agent, model, PROMPT, "--json", piped=piped)
        its, ours = (request.texts[-1] for request in model.requests_of("main"))
    assert done.returncode == 0, done.stderr
    assert its == ours
    assert piped.decode() in ours
    assert events_of(done.stdout).one(TurnStarted).prompt == ours


@by("codex", "gemini")
def test_in_one_turn(agent: Pinned) -> None:
    dialect = {"codex": "codex_exec", "gemini": "gemini_stream"}[agent.name]
    options = ("--dialect", dialect, "--model", agent.tools.model or "gpt-5.5")
    with ScriptedModel(["Done.", "Done."]) as model:
        own(agent, model, b"the file\n")
        done = run(agent, model, PROMPT, "--json", *options, piped=b"the file\n")
        its, ours = (request.texts[-1] for request in model.requests_of("main"))
    assert done.returncode == 0, done.stderr
    assert its == ours
    assert events_of(done.stdout).one(TurnStarted).prompt == ours


@by("codex", "gemini")
def test_one_that_is_too_long_for_a_command_line(agent: Pinned) -> None:
    dialect = {"codex": "codex_exec", "gemini": "gemini_stream"}[agent.name]
    with ScriptedModel([]) as model:
        done = run(agent, model, PROMPT, "--dialect", dialect, piped=b"x" * 120_000)
        assert model.requests_of("main") == []
    assert done.returncode == 2
    assert b"which may have 120000 bytes; this one has" in done.stderr


@by("claude", "codex", "gemini", "opencode", "codex-acp")
def test_nearly_a_megabyte(agent: Pinned) -> None:
    piped = b"".join(b"%07d\n" % number for number in range(100_000))
    with ScriptedModel(["Done."]) as model:
        done = run(agent, model, PROMPT, "--json", piped=piped)
        assert piped.decode() in model.requests_of("main")[0].texts[-1]
    assert done.returncode == 0, done.stderr


@by("codex")
def test_what_is_too_long_for_the_agent_it_says_itself(agent: Pinned) -> None:
    with ScriptedModel([]) as model:
        done = run(agent, model, PROMPT, piped=b"x" * (1 << 20))
    assert done.returncode == 1
    assert b"maximum length of 1048576 characters" in done.stdout + done.stderr
