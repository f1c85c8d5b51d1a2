"""What the model says, as it reaches us: text, pieces of text, reasoning, images, structure, and a great deal of it."""

import base64
import json

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


@exercises(Capability.PROMPT)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_text(codex: Pinned) -> None:
    answer = turn("Seven.", usage=Usage(input=100, cache_read=50, cache_write=10, output=20))
    async with codex.open([answer]) as run:
        said = await run.turn("How many?")
        assert run.model.requests_of("main")[0].texts[-1] == "How many?"
    assert said.said() == ["Seven."]
    assert [(m.text, m.echo) for m in said.of(dragoman.Message, role="user")] == [
        ("How many?", False),
        ("How many?", True),
    ]
    assert said.one(TurnStarted).prompt == "How many?"
    assert (said.ended.outcome, said.ended.text) == ("completed", "Seven.")
    assert said.ended.usage is not None
    assert said.ended.usage.input_tokens == 160
    assert said.ended.usage.cache_read_tokens == 50
    assert said.ended.usage.output_tokens == 20
    assert said.ended.model_usage.keys() == {"gpt-5.5"}
    opened = run.events.one(SessionStarted)
    assert (opened.model, opened.cwd, opened.cli_version) == ("gpt-5.5", str(codex.cwd), codex.version)
    assert opened.permission_mode == "untrusted"
    assert run.events.one(AgentReady).cli_version == codex.version
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code, ended.usage) == ("completed", 0, said.ended.usage)
    assert {event.session for event in said} == {run.session.id}


async def test_ask(codex: Pinned) -> None:
    result = await codex.ask(["Seven."], "How many?")
    assert (result.outcome, result.text, result.changes) == ("completed", "Seven.", [])
    assert result.usage is not None
    assert result.session == result.events[-1].session


def test_blocking(codex: Pinned) -> None:
    recording = codex.recording()
    with ScriptedModel([tool("exec_command", cmd="touch here"), "Done."]) as model:
        fields = codex.fields(model, record=recording, approve=lambda request, session: True)
        with dragoman.blocking.open("codex", **fields) as session:
            events = session.events()
            said = Events(session.prompt("Touch it."))
        everything = Events(events)
    assert (codex.cwd / "here").exists()
    assert said.said() == ["Done."]
    assert said.one(dragoman.ToolEnded).status == "completed"
    assert said.one(dragoman.PermissionResolved).by == "client"
    check(everything, recording)


@exercises(Capability.PARTIALS)
async def test_partials_join_to_the_message(codex: Pinned) -> None:
    words = "Grüße: one two three four five six seven 🎈 eight nine ten."
    async with codex.open(
        [turn(text(words), tool("exec_command", cmd="true"), chunk=3), "Done."], approve="all"
    ) as run:
        said = await run.turn("Count.")
    pieces = said.of(Delta, kind="text")
    by_message: dict[str | None, str] = {}
    for piece in pieces:
        by_message[piece.message_id] = by_message.get(piece.message_id, "") + piece.text
    assert len(pieces) > 10
    assert list(by_message.values()) == said.said() == [words, "Done."]
    assert said.ended.text == "Done."
    calls = run.events.of(UsageUpdated, scope="call")
    assert [call.usage.output_tokens for call in calls if call.usage is not None] == [20, 20]
    assert said.ended.usage is not None
    assert said.ended.usage.output_tokens == 40


@exercises(Capability.THINKING)
async def test_thinking(codex: Pinned) -> None:
    async with codex.open([turn(thinking("Is it six? No: seven."), "Seven.", chunk=5)]) as run:
        said = await run.turn("How many?")
    pieces = said.of(Delta, kind="thinking")
    assert len(pieces) > 1
    assert (
        said.said(kind="thinking") == ["".join(piece.text for piece in pieces)] == ["Is it six? No: seven."]
    )
    assert said.said() == ["Seven."]
    assert said.ended.text == "Seven."


@exercises(Capability.IMAGES)
async def test_image_in_the_prompt(codex: Pinned) -> None:
    async with codex.open(["A black dot."]) as run:
        said = await run.turn("What is this?", [ImageBlock(mime_type="image/png", data=PIXEL)])
        content = run.model.requests_of("main")[0].messages[-1]["content"]
    [image] = [part["image_url"] for part in content if part["type"] == "input_image"]
    assert base64.b64decode(image.partition("base64,")[2]).startswith(b"\x89PNG")
    assert said.said() == ["A black dot."]
    [prompt] = said.of(dragoman.Message, role="user", echo=False)
    [block] = [block for block in prompt.blocks if isinstance(block, ImageBlock)]
    assert (block.mime_type, block.data) == ("image/png", PIXEL)


@exercises(Capability.OUTPUT_SCHEMA)
async def test_structured_output(codex: Pinned) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    async with codex.open(['{"n": 7}'], output_schema=schema) as run:
        said = await run.turn("How many?")
        [request] = run.model.requests_of("main")
    assert request.schema == schema
    assert said.ended.structured_output == {"n": 7}
    assert json.loads(said.ended.text or "") == {"n": 7}


async def test_a_long_answer_that_is_read_slowly_arrives_whole(codex: Pinned) -> None:
    words = "".join(f"{number:07} " for number in range(125_000))
    assert len(words) == 1_000_000
    async with codex.open([turn(words, chunk=1000, hold=Hold("much was said", after=400))]) as run:
        stream = run.session.prompt("Tell me everything.")
        await run.asked()
        run.model.wait_for_hold("much was said")  # in the event loop: nobody reads what the agent writes
        run.model.open("much was said")
        await run.until(dragoman.TurnEnded)
        said = Events([event async for event in stream])  # and nobody has listened until now
    assert said.said() == [words]
    assert "".join(piece.text for piece in said.of(Delta, kind="text")) == words
    assert said.ended.text == words
