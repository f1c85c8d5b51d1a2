"""Sessions are listed, gone on with by LATEST and by the beginning of their ids, and not found: the same on every agent
and in every dialect."""

from pathlib import Path

import pytest
from anyio import run_process

import dragoman
from dragoman import (
    LATEST,
    Capability,
    PermissionRequested,
    RunStarted,
    SessionNotFound,
    SessionStarted,
    SessionStatus,
    TurnStarted,
    Unsupported,
    UsageError,
)
from dragoman.testing import ScriptedModel
from tests.real.capability_marks import by, exercises, ways
from tests.real.command_line import events_of, run
from tests.real.driving import Events, Pinned, saying
from tests.real.test_sessions import NOBODY, age, used

pytestmark = pytest.mark.anyio

WAYS = [
    ("claude", "claude_stream"),
    ("codex", "codex_app"),
    ("codex", "codex_exec"),
    ("gemini", "acp"),
    ("gemini", "gemini_stream"),
    ("opencode", "acp"),
    ("codex-acp", "acp"),
]
"""Every driven dialect, and the agents that speak ACP."""

SLOW = "does not answer; it is given up after 60 s"
"""How the end of what is said of an agent that takes its time to start, on a machine with much to do."""

on_every_way = ways(*WAYS)


# --- not found -----------------------------------------------------------------------------------------------


@on_every_way
@pytest.mark.parametrize("fork", [False, True], ids=["resumed", "forked"])
async def test_a_session_that_is_not_there(agent: Pinned, dialect: str, fork: bool) -> None:
    nobody = NOBODY[agent.name]
    if fork and agent.name == "gemini":
        pytest.skip("Gemini CLI copies no sessions")
    if fork and dialect == "codex_exec" and agent.differs("exec_has_no_fork"):
        with pytest.raises(Unsupported, match="fork in codex_exec before"):
            await agent.ask(["Never said."], "Go on.", dialect=dialect, resume=nobody, fork=fork)
        return
    with pytest.raises(SessionNotFound, match=f"`dragoman ls {agent.name}`") as raised:
        await agent.ask(["Never said."], "Go on.", dialect=dialect, resume=nobody, fork=fork)
    assert raised.value.kind == "sessionNotFound"
    assert raised.value.exit_status == 1


@on_every_way
def test_the_command_line_says_so_in_one_sentence(agent: Pinned, dialect: str) -> None:
    with ScriptedModel(["Never said."]) as model:
        done = run(agent, model, "Go on.", "--dialect", dialect, "--resume", NOBODY[agent.name], "--json")
        assert model.requests_of("main") == []
    assert done.returncode == 1, done.stderr
    [said] = [line for line in done.stderr.decode().splitlines() if not line.endswith(SLOW)]
    assert said.endswith(f"`dragoman ls {agent.name}` lists those that there are")


@by("claude", "codex", "gemini", "opencode", "codex-acp")
async def test_the_turn_of_a_session_that_is_not_there(agent: Pinned) -> None:
    async with agent.open(["Never said."], resume=NOBODY[agent.name]) as watched:
        with pytest.raises(SessionNotFound, match="does not open session"):
            await watched.turn("Go on.")
        with pytest.raises(SessionNotFound, match="does not open session"):
            await watched.turn("Are you there?")
        assert watched.model.requests_of("main") == []


# --- found ---------------------------------------------------------------------------------------------------


@on_every_way
async def test_what_is_listed_can_be_gone_on_with(agent: Pinned, dialect: str, tmp_path: Path) -> None:
    """By LATEST, which is the last one of the folder, and by the beginning of its id: the session is known and locked by
    its id before the agent starts."""
    (tmp_path / "elsewhere").mkdir()
    with ScriptedModel(["Seven.", "Elsewhere.", "Eight.", "Nine."]) as model:
        first = await agent.ask(model, "Count to seven.", dialect=dialect)
        await agent.ask(model, "Somewhere else.", dialect=dialect, cwd=tmp_path / "elsewhere")
        listed = await dragoman.list_sessions(agent.name, **agent.fields(model))
        assert [info.id for info in listed] == [first.session]
        about = "Scripted title" if agent.name == "opencode" else "Count to seven."
        assert about in (listed[0].prompt or listed[0].title or "")
        assert len(await dragoman.list_sessions(agent.name, **agent.fields(model, cwd=None))) == 2
        age(agent)
        if dialect == "acp" and agent.differs("sessions_come_back_empty_over_acp"):
            with pytest.raises(SessionNotFound, match=f"{first.session} came back without its history"):
                await agent.ask(model, "Go on.", dialect=dialect, resume=LATEST)
            return
        second = await agent.ask(model, "Go on.", dialect=dialect, resume=LATEST)
        age(agent)
        third = await agent.ask(model, "And on.", dialect=dialect, resume=str(first.session)[:-4])
        assert [second.session, third.session] == [first.session, first.session]
        assert [second.text, third.text] == ["Eight.", "Nine."]
        texts = model.requests_of("main")[-1].texts
    assert [text for text in ("Count to seven.", "Go on.", "And on.") if text in texts] == [
        "Count to seven.",
        "Go on.",
        "And on.",
    ]
    [started] = [event for event in second.events if isinstance(event, RunStarted)]
    assert started.resume == first.session


@on_every_way
def test_the_command_line_goes_on(agent: Pinned, dialect: str) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        first = run(agent, model, "Count to seven.", "--dialect", dialect, "--json")
        age(agent)
        second = run(agent, model, "Go on.", "--dialect", dialect, "--continue", "--json")
    if dialect == "acp" and agent.differs("sessions_come_back_empty_over_acp"):
        assert (first.returncode, second.returncode) == (0, 1)
        assert b"came back without its history" in second.stderr
        return
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    one, two = (events_of(done.stdout) for done in (first, second))
    assert one.one(SessionStarted).session == two.one(SessionStarted).session
    assert two.ended.text == "Eight."


@on_every_way
@pytest.mark.parametrize("wanted", [LATEST, "0000"])
async def test_nothing_to_go_on_with(agent: Pinned, dialect: str, wanted: str) -> None:
    with ScriptedModel([]) as model:
        with pytest.raises(SessionNotFound, match=f"`dragoman ls {agent.name}`") as raised:
            await agent.ask(model, "Go on.", dialect=dialect, resume=wanted)
        assert model.requests_of("main") == []
    assert raised.value.exit_status == 1


@by("gemini", "codex", "opencode", "codex-acp")
async def test_one_of_several_in_a_process(agent: Pinned) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        first = await agent.ask(model, "Count to seven.")
        age(agent)
        async with agent.connect(model) as company:
            if agent.differs("sessions_come_back_empty_over_acp"):
                with pytest.raises(SessionNotFound, match=f"{first.session} came back without its history"):
                    await company.session(resume=LATEST)
                return
            again = await company.session(resume=LATEST)
            assert again.session.id == first.session
            assert (await again.turn("Go on.")).said() == ["Eight."]
            with pytest.raises(UsageError, match="is open already"):
                await company.session(resume=str(first.session)[:-4])


# --- at an earlier turn --------------------------------------------------------------------------------------


@exercises(Capability.RESUME_AT)
@by("claude", "codex")
async def test_resume_at(agent: Pinned) -> None:
    """A copy forgets what came after, and leaves the session as it is; without `fork` the session itself forgets."""
    prompts = ("Say one.", "Say two.", "Go on.", "Say three.", "Say four.", "And on.")
    with ScriptedModel(["One.", "Two.", "Copied.", "Three.", "Four.", "Five."]) as model:

        def heard() -> list[str]:
            texts = model.requests_of("main")[-1].texts
            return [text for text in prompts if text in texts]

        async with agent.open(model) as first:
            one = await first.turn("Say one.")
            two = await first.turn("Say two.")
        session, place = first.session.id, one.ended.resume_at
        assert place is not None
        assert place != two.ended.resume_at
        async with agent.open(model, resume=session, resume_at=place, fork=True) as copy:
            assert (await copy.turn("Go on.")).said() == ["Copied."]
        assert heard() == ["Say one.", "Go on."]
        assert copy.session.id != session
        async with agent.open(model, resume=session) as whole:
            assert (await whole.turn("Say three.")).said() == ["Three."]
        assert heard() == ["Say one.", "Say two.", "Say three."]
        async with agent.open(model, resume=session, resume_at=two.ended.resume_at) as back:
            four = await back.turn("Say four.")
        assert four.said() == ["Four."]
        assert heard() == ["Say one.", "Say two.", "Say four."]
        assert used(four.ended) == used(one.ended)
        async with agent.open(model, resume=session, resume_at=four.ended.resume_at) as last:
            assert (await last.turn("And on.")).said() == ["Five."]
        assert heard() == ["Say one.", "Say two.", "Say four.", "And on."]
    assert {back.session.id, last.session.id} == {session}


@by("codex")
async def test_what_was_asked_for_holds_at_an_earlier_turn(agent: Pinned) -> None:
    """Codex loads the thread anew when it takes turns back."""
    with ScriptedModel(["One.", "Two.", agent.write("made"), "Done."]) as model:
        async with agent.open(model, approve="ask") as first:
            one = await first.turn("Say one.")
            await first.turn("Say two.")
        again = {"resume": first.session.id, "resume_at": one.ended.resume_at}
        async with agent.open(model, **again, approve=saying("deny")) as second:
            said = await second.turn("Write it.")
    assert agent.files == []
    assert [asked.kind for asked in said.of(PermissionRequested)] == ["edit"]


@by("claude", "codex")
@pytest.mark.parametrize("fork", [False, True], ids=["resumed", "forked"])
async def test_a_turn_that_is_not_there(agent: Pinned, fork: bool) -> None:
    with ScriptedModel(["One."]) as model:
        first = await agent.ask(model, "Say one.")
        with pytest.raises(SessionNotFound, match="does not open"):
            await agent.ask(model, "Go on.", resume=first.session, resume_at=NOBODY[agent.name], fork=fork)
        assert len(model.requests_of("main")) == 1


@ways(("codex", "codex_exec"), ("gemini", "acp"), ("gemini", "gemini_stream"), ("opencode", "acp"))
async def test_others_cannot(agent: Pinned, dialect: str) -> None:
    with pytest.raises(Unsupported, match=f"resume_at in {dialect}"):
        await agent.ask([], "Go on.", dialect=dialect, resume=NOBODY[agent.name], resume_at="x")


# --- review --------------------------------------------------------------------------------------------------


@exercises(Capability.REVIEW)
@by("codex")
async def test_review(agent: Pinned) -> None:
    git = ["git", "-C", str(agent.cwd), "-c", "user.name=a", "-c", "user.email=a@b"]
    (agent.cwd / "a.txt").write_text("one\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "One"]):
        await run_process([*git, *words])
    (agent.cwd / "a.txt").write_text("two\n")
    async with agent.open(["Fine.", "Good.", "Nice.", "Well.", "Yes."]) as watched:
        for asked, said in (
            ({}, "Fine."),
            ({"base": "main"}, "Good."),
            ({"commit": "HEAD"}, "Nice."),
            ({"instructions": "Look at a.txt only."}, "Well."),
        ):
            events = Events([event async for event in watched.session.review(**asked)])
            assert (events.ended.outcome, events.ended.text) == ("completed", said)
            assert events.one(TurnStarted).prompt == asked.get("instructions")
            statuses = [event.status for event in events.of(SessionStatus)]
            assert statuses.index("review_started") < statuses.index("review_ended")
        assert (await watched.turn("And now?")).said() == ["Yes."]
        with pytest.raises(UsageError, match="of one thing"):
            watched.session.review(base="main", commit="HEAD")
