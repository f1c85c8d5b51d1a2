"""What the model says, as it reaches us: text and its pieces, thoughts, structure, and a great deal of it; and what
of it goes the other way, images."""

import base64
import json

import pytest

import dragoman
from dragoman import (
    AgentReady,
    Capability,
    Delta,
    ImageBlock,
    Message,
    RunEnded,
    SessionStarted,
    TurnStarted,
    UsageUpdated,
)
from dragoman.testing import Hold, Request, ScriptedModel, Usage, thinking, tool, turn
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, Lines, Pinned, Watched, check

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
@exercises(Capability.COST, of=("claude",))
async def test_a_turn(agent: Pinned) -> None:
    """A prompt with an image, a thought, and an answer in pieces."""
    tokens = Usage(input=100, cache_read=50, cache_write=10, output=20)
    answer = turn(thinking("Is it six? No: seven."), WORDS, chunk=5, usage=tokens)
    async with agent.open([answer]) as run:
        said = await run.turn("Count.", [ImageBlock(mime_type="image/png", data=PIXEL)])
        [request] = run.model.requests_of("main")
    assert "Count." in request.texts
    asked = [message for message in request.messages if message["role"] == "user"][-1]
    assert PIXEL in json.dumps(asked)
    assert "image/png" in json.dumps(asked)
    assert said.one(TurnStarted).prompt == "Count."
    prompt = said.of(Message, role="user", echo=False)[0]
    assert prompt.text == "Count."
    [image] = [block for block in prompt.blocks if isinstance(block, ImageBlock)]
    assert (image.mime_type, image.data) == ("image/png", PIXEL)
    [thought] = said.said(kind="thinking")
    # Gemini CLI looks for a headline in it, and codex-acp for sections.
    assert (thought or "").lstrip("*\n") == "Is it six? No: seven."
    for kind, whole in (("thinking", [thought]), ("text", [WORDS])):
        assert ["".join(piece.text for piece in said.of(Delta, kind=kind))] == whole
    assert len(said.of(Delta, kind="text")) > 5
    assert said.said() == [WORDS]
    assert (said.ended.outcome, said.ended.text) == ("completed", WORDS)
    assert {event.session for event in said} == {run.session.id}
    # OpenCode tells of its last call alone.
    usage = said.ended.usage or said.one(UsageUpdated, scope="call").usage
    assert usage is not None
    assert usage.input_tokens == 160
    assert run.events.one(SessionStarted).cwd == str(agent.cwd)
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code) == ("completed", 0)
    {"claude": claude_says, "codex": codex_says}.get(agent.name, acp_says)(agent, run, said, request)


def claude_says(claude: Pinned, run: Watched, said: Events, request: Request) -> None:
    opened = run.events.one(SessionStarted)
    assert opened.cli_version == claude.version
    assert "Bash" in opened.tools
    assert run.events.one(AgentReady).capabilities["models"]
    assert said.ended.usage is not None
    assert said.ended.usage.output_tokens == 20
    assert said.ended.cost_usd is not None
    assert said.ended.cost_usd > 0
    assert run.events.one(RunEnded).cost_usd == said.ended.cost_usd


def codex_says(codex: Pinned, run: Watched, said: Events, request: Request) -> None:
    assert request.texts[-1] == "Count."
    assert len(said.of(Delta, kind="thinking")) > 1
    assert [(m.text, m.echo) for m in said.of(Message, role="user")] == [("Count.", False), ("Count.", True)]
    assert said.ended.usage is not None
    assert (said.ended.usage.cache_read_tokens, said.ended.usage.output_tokens) == (50, 20)
    assert said.ended.model_usage.keys() == {"gpt-5.5"}
    opened = run.events.one(SessionStarted)
    assert (opened.model, opened.cli_version, opened.permission_mode) == (
        "gpt-5.5",
        codex.version,
        "untrusted",
    )
    assert run.events.one(AgentReady).cli_version == codex.version
    assert run.events.one(RunEnded).usage == said.ended.usage


def acp_says(agent: Pinned, run: Watched, said: Events, request: Request) -> None:
    ready = run.events.one(AgentReady)
    assert (ready.protocol_version, ready.cli_version) == (PROTOCOLS[agent.name], agent.version)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio(actor: Pinned) -> None:
    """A tool that is asked for, a prompt that waits for its turn, an interrupt, and on."""
    numbers = "".join(f"{number:03} " for number in range(40))
    lines: Lines = [
        actor.tools.shell("touch here"),
        turn(WORDS, hold=Hold("go")),
        turn(numbers, chunk=4, hold=Hold("never", after=20)),
        "Still here.",
    ]
    async with actor.open(lines, approve=lambda request: True) as run:
        first = run.session.prompt("Touch it.")
        await run.held("go")
        second = run.session.prompt("Count.")
        run.model.open("go")
        one = Events([event async for event in first])
        await run.until(Delta, turn=2)
        await run.session.interrupt()
        two = Events([event async for event in second])
        run.model.open("never")
        three = await run.turn("And now?")
    assert actor.files == ["here"]
    assert one.said() == [WORDS]
    assert two.ended.outcome == "cancelled"
    assert numbers.startswith(two.said()[0] or "-")
    assert (three.said(), three.ended.outcome) == (["Still here."], "completed")


def test_blocking(actor: Pinned) -> None:
    recording = actor.recording()
    with ScriptedModel([actor.tools.shell("touch here"), "Done."]) as model:
        fields = actor.fields(model, record=recording, approve=lambda request: True)
        with dragoman.blocking.open(actor.name, **fields) as session:
            events = session.events()
            said = Events(session.prompt("Touch it."))
        everything = Events(events)
    assert actor.files == ["here"]
    assert said.said() == ["Done."]
    if actor.differs("items_may_end_after_their_turn"):
        assert everything.one(dragoman.ToolEnded).status in ("completed", "abandoned")
    else:
        assert said.one(dragoman.ToolEnded).status == "completed"
    assert said.one(dragoman.PermissionResolved).by == "client"
    check(everything, recording)


@exercises(Capability.OUTPUT_SCHEMA)
@by("claude", "codex")
async def test_structured_output(agent: Pinned) -> None:
    """Claude Code has a tool for it; of Codex's model the API asks for it."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    lines: Lines = [tool("StructuredOutput", n=7), "Done."] if agent.name == "claude" else ['{"n": 7}']
    async with agent.open(lines, output_schema=schema) as run:
        said = await run.turn("How many?")
        [request, *_] = run.model.requests_of("main")
    assert said.ended.outcome == "completed"
    assert said.ended.structured_output == {"n": 7}
    if agent.name == "codex":
        assert request.schema == schema
        assert json.loads(said.ended.text or "") == {"n": 7}


@by("claude", "codex")
async def test_a_long_answer_that_is_read_slowly_arrives_whole(agent: Pinned) -> None:
    words = "".join(f"{number:07} " for number in range(250_000))
    assert len(words) == 2_000_000
    async with agent.open([turn(words, chunk=2000, hold=Hold("much was said", after=400))]) as run:
        stream = run.session.prompt("Tell me everything.")
        await run.asked()
        run.model.wait_for_hold("much was said")  # in the event loop: nobody reads what the agent writes
        run.model.open("much was said")
        await run.until(dragoman.TurnEnded)
        said = Events([event async for event in stream])  # and nobody has listened until now
    assert said.said() == [words]
    assert "".join(piece.text for piece in said.of(Delta, kind="text")) == words
    assert said.ended.text == words
