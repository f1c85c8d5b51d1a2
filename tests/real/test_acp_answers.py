"""What the model says, as it reaches us from agents that speak ACP: text, thoughts, images, and errors."""

import base64
import json

import pytest

import dragoman
from dragoman import (
    AgentReady,
    Capability,
    Delta,
    Error,
    ImageBlock,
    Message,
    RunEnded,
    SessionStarted,
    TurnStarted,
    UsageUpdated,
)
from dragoman.testing import ScriptedModel, Step, Usage, error, script, thinking, turn
from dragoman.testing._scripted_model.environment import GEMINI_SETTINGS
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, check
from tests.real.tongues import AcpAgent

pytestmark = pytest.mark.anyio

WORDS = "Grüße: one two three four five six seven 🎈 eight nine ten."
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
        "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
    )
).decode()

PROTOCOLS = {"gemini": 1, "opencode": 1, "codex-acp": 2}


@exercises(Capability.PROMPT, Capability.PARTIALS, Capability.THINKING, Capability.IMAGES)
async def test_a_turn(acp: AcpAgent) -> None:
    """A prompt with an image, a thought, and an answer in pieces."""
    tokens = Usage(input=100, cache_read=50, cache_write=10, output=20)
    answer = turn(thinking("Is it six? No: seven."), WORDS, chunk=5, usage=tokens)
    async with acp.open([answer]) as run:
        said = await run.turn("Count.", [ImageBlock(mime_type="image/png", data=PIXEL)])
        [request] = run.model.requests_of("main")
    assert "Count." in request.texts
    assert PIXEL in json.dumps(request.messages[-1])
    ready = run.events.one(AgentReady)
    assert (ready.protocol_version, ready.cli_version) == (PROTOCOLS[acp.agent], acp.version)
    assert run.events.one(SessionStarted).cwd == str(acp.cwd)
    assert said.one(TurnStarted).prompt == "Count."
    prompt = said.of(Message, role="user", echo=False)[0]
    assert [block.data for block in prompt.blocks if isinstance(block, ImageBlock)] == [PIXEL]
    [thought] = said.said(kind="thinking")
    # Gemini CLI looks for a headline in it, and Codex for sections.
    assert (thought or "").lstrip("*\n") == "Is it six? No: seven."
    for kind, whole in (("thinking", [thought]), ("text", [WORDS])):
        assert ["".join(piece.text for piece in said.of(Delta, kind=kind))] == whole
    assert len(said.of(Delta, kind="text")) > 5
    assert said.said() == [WORDS]
    assert (said.ended.outcome, said.ended.text) == ("completed", WORDS)
    assert {event.session for event in said} == {run.session.id}
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code) == ("completed", 0)
    # OpenCode tells of its last call alone.
    usage = said.ended.usage or said.one(UsageUpdated, scope="call").usage
    assert usage is not None
    assert usage.input_tokens == 160


@by("gemini")
@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio(acp: AcpAgent) -> None:
    async with acp.open(
        [acp.tongue.shell("touch here"), WORDS], approve=lambda request, session: True
    ) as run:
        said = await run.turn("Touch it.")
    assert (acp.cwd / "here").exists()
    assert said.said() == [WORDS]


@by("gemini")
def test_blocking(acp: AcpAgent) -> None:
    recording = acp.recording()
    with ScriptedModel([acp.tongue.shell("touch here"), "Done."]) as model:
        fields = acp.fields(model, record=recording, approve=lambda request, session: True)
        with dragoman.blocking.open(acp.agent, **fields) as session:
            events = session.events()
            said = Events(session.prompt("Touch it."))
        everything = Events(events)
    assert (acp.cwd / "here").exists()
    assert said.said() == ["Done."]
    check(everything, recording)


# --- what goes wrong ---------------------------------------------------------------------------------------


def hasty(gemini: AcpAgent) -> None:
    """Gemini CLI tries ten times otherwise, for minutes."""
    folder = gemini.home / ".gemini"
    folder.mkdir()
    settings = {**GEMINI_SETTINGS, "general": {**GEMINI_SETTINGS["general"], "maxAttempts": 1}}
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")


@by("gemini", "codex-acp")
@pytest.mark.parametrize("status", [401, 429, 500])
async def test_errors_of_the_api_fail_the_turn(acp: AcpAgent, status: int) -> None:
    if acp.agent == "gemini":
        hasty(acp)
    async with acp.open(script([error(status, "not today")], repeat_last=True)) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    failure = said.one(Error, severity="error")
    assert (said.ended.error.message, said.ended.error.code) == (failure.message, failure.code)
    if acp.agent == "gemini":
        assert said.ended.error.code == str(status)
        assert "not today" in said.ended.error.message
    assert run.events.one(RunEnded).outcome == "failed"


@exercises(Capability.COST)
@by("opencode")
async def test_an_error_that_lasts_errors_that_pass_and_what_it_cost(acp: AcpAgent) -> None:
    """OpenCode goes on trying, unless the API says that there is no point; the session survives it. It counts up what
    the turns cost, at the price that the scripted model has in its configuration."""
    now = {"retry-after-ms": "1"}
    lines: list[Step] = [
        error(401, "who are you?"),
        error(429, headers=now),
        error(500, headers=now),
        "At last.",
    ]
    async with acp.open([*lines, turn("Again.", usage=Usage(output=40))]) as run:
        refused = await run.turn("Hello.")
        passed = await run.turn("Hello again.")
        assert len(run.model.requests_of("main")) == 4
        again = await run.turn("And again.")
    assert refused.ended.outcome == "failed"
    assert refused.ended.error is not None
    assert "who are you?" in refused.ended.error.message
    assert (passed.ended.outcome, passed.said()) == ("completed", ["At last."])
    assert passed.ended.cost_usd == pytest.approx((110 + 2 * 20) / 1e6)
    assert again.ended.cost_usd == pytest.approx((110 + 2 * 40) / 1e6)
    assert run.events.one(RunEnded).cost_usd == pytest.approx(340 / 1e6)
