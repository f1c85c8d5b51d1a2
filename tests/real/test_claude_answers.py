"""What the model says, as it reaches us: text, pieces of text, thinking, images, structure, and a great deal of it."""

import base64

import pytest

import dragoman
from dragoman import (
    AgentReady,
    Capability,
    Delta,
    ImageBlock,
    RunEnded,
    SessionStarted,
    TurnStarted,
    UsageUpdated,
)
from dragoman.testing import Hold, ScriptedModel, Usage, text, thinking, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Events, Pinned, check

pytestmark = pytest.mark.anyio

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
        "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
    )
).decode()


@exercises(Capability.PROMPT, Capability.COST)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_text(claude: Pinned) -> None:
    answer = turn("Seven.", usage=Usage(input=100, cache_read=50, cache_write=10, output=20))
    async with claude.open([answer]) as run:
        said = await run.turn("How many?")
        assert run.model.requests_of("main")[0].texts[-1] == "How many?"
    assert said.said() == ["Seven."]
    assert said.said("user") == ["How many?"]
    assert said.one(TurnStarted).prompt == "How many?"
    assert (said.ended.outcome, said.ended.text) == ("completed", "Seven.")
    assert said.ended.usage is not None
    assert said.ended.usage.input_tokens == 160
    assert said.ended.usage.output_tokens == 20
    assert said.ended.cost_usd is not None
    assert said.ended.cost_usd > 0
    opened = run.events.one(SessionStarted)
    assert opened.cli_version == claude.version
    assert opened.cwd == str(claude.cwd)
    assert "Bash" in opened.tools
    assert run.events.one(AgentReady).capabilities["models"]
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code, ended.cost_usd) == ("completed", 0, said.ended.cost_usd)
    assert {event.session for event in said} == {run.session.id}


async def test_ask(claude: Pinned) -> None:
    result = await claude.ask(["Seven."], "How many?")
    assert (result.outcome, result.text, result.changes) == ("completed", "Seven.", [])
    assert result.cost_usd is not None
    assert result.session == result.events[-1].session


def test_blocking(claude: Pinned) -> None:
    recording = claude.recording()
    with ScriptedModel([tool("Bash", command="touch here"), "Done."]) as model:
        fields = claude.fields(model, record=recording, approve=lambda request, session: True)
        with dragoman.blocking.open("claude", **fields) as session:
            events = session.events()
            said = Events(session.prompt("Touch it."))
        everything = Events(events)
    assert (claude.cwd / "here").exists()
    assert said.said() == ["Done."]
    assert said.one(dragoman.ToolEnded).status == "completed"
    assert said.one(dragoman.PermissionResolved).by == "client"
    check(everything, recording)


@exercises(Capability.PARTIALS)
async def test_partials_join_to_the_message(claude: Pinned) -> None:
    words = "Grüße: one two three four five six seven 🎈 eight nine ten."
    async with claude.open(
        [turn(text(words), tool("Bash", command="true"), chunk=3), "Done."], approve="all"
    ) as run:
        said = await run.turn("Count.")
    pieces = said.of(Delta, kind="text")
    by_block: dict[tuple[str | None, int | None], str] = {}
    for piece in pieces:
        by_block[piece.message_id, piece.block] = (
            by_block.get((piece.message_id, piece.block), "") + piece.text
        )
    assert len(pieces) > 10
    assert list(by_block.values()) == said.said() == [words, "Done."]
    inputs = "".join(piece.text for piece in said.of(Delta, kind="tool_input"))
    assert inputs == '{"command": "true"}'
    assert run.events.of(UsageUpdated, scope="call")


@exercises(Capability.THINKING)
async def test_thinking(claude: Pinned) -> None:
    async with claude.open([[thinking("Is it six? No: seven."), text("Seven.")]]) as run:
        said = await run.turn("How many?")
    assert said.said(kind="thinking") == ["Is it six? No: seven."]
    assert "".join(piece.text for piece in said.of(Delta, kind="thinking")) == "Is it six? No: seven."
    assert said.said() == ["Seven."]
    assert said.ended.text == "Seven."


@exercises(Capability.IMAGES)
async def test_image_in_the_prompt(claude: Pinned) -> None:
    async with claude.open(["A black dot."]) as run:
        said = await run.turn("What is this?", [ImageBlock(mime_type="image/png", data=PIXEL)])
        [content] = [m["content"] for m in run.model.requests_of("main")[0].messages if m["role"] == "user"][
            -1:
        ]
    images = [block for block in content if block["type"] == "image"]
    assert [image["source"]["media_type"] for image in images] == ["image/png"]
    assert base64.b64decode(images[0]["source"]["data"]).startswith(b"\x89PNG")
    assert said.said() == ["A black dot."]
    [prompt] = said.of(dragoman.Message, role="user")
    [image] = [block for block in prompt.blocks if isinstance(block, ImageBlock)]
    assert image.data == PIXEL


@exercises(Capability.OUTPUT_SCHEMA)
async def test_structured_output(claude: Pinned) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    result = await claude.ask([tool("StructuredOutput", n=7), "Done."], "How many?", output_schema=schema)
    assert result.outcome == "completed"
    assert result.structured_output == {"n": 7}


async def test_a_long_answer_that_is_read_slowly_arrives_whole(claude: Pinned) -> None:
    words = "".join(f"{number:07} " for number in range(375_000))
    assert len(words) == 3_000_000
    async with claude.open([turn(words, chunk=3000, hold=Hold("much was said", after=400))]) as run:
        stream = run.session.prompt("Tell me everything.")
        await run.asked()
        run.model.wait_for_hold("much was said")  # in the event loop: nobody reads what the agent writes
        run.model.open("much was said")
        await run.until(dragoman.TurnEnded)
        said = Events([event async for event in stream])  # and nobody has listened until now
    assert said.said() == [words]
    assert "".join(piece.text for piece in said.of(Delta, kind="text")) == words
    assert said.ended.text == words
