"""Gemini CLI with ACP: several sessions in one process, and files that it has its client write."""

from pathlib import Path

import anyio
import pytest

from dragoman import FileChanged, HostAnswered, HostCalled, PermissionRequested, Reply, TurnEnded
from dragoman.testing import text, tool, turn
from tests.real.driving import Company, Events, Pinned, Watched

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-pro"


def writes(path: str, content: str) -> list[object]:
    return [turn(tool("write_file", file_path=path, content=content)), text("Done.")]


async def test_a_new_file_is_asked_for_once_and_written_by_the_client(gemini: Pinned) -> None:
    asked = []

    async def handler(request: object, session: object) -> bool:
        asked.append(type(request))
        return True

    path = gemini.cwd / "new.txt"
    async with gemini.open(writes(str(path), "one\n"), model=MODEL, handler=handler) as watched:
        events = await watched.turn("Write it")
    assert path.read_text() == "one\n"
    assert asked.count(PermissionRequested) == 1
    assert {call.method for call in events.of(HostCalled)} == {"fs/read_text_file", "fs/write_text_file"}
    assert all(answer.error is None for answer in events.of(HostAnswered))
    assert events.one(FileChanged, phase="applied").after == "one\n"
    assert events.ended.outcome == "completed"


async def test_a_client_that_refuses_to_write(gemini: Pinned) -> None:
    def handler(request: object, session: object) -> object:
        if isinstance(request, HostCalled) and request.method == "fs/write_text_file":
            return Reply(request=request.request_id, error="the disk is full")
        return True

    path = gemini.cwd / "new.txt"
    async with gemini.open(writes(str(path), "one\n"), model=MODEL, handler=handler) as watched:
        events = await watched.turn("Write it")
    assert not path.exists()
    assert [answer.error.message for answer in events.of(HostAnswered) if answer.error] == [
        "the disk is full"
    ]
    assert not events.of(FileChanged, phase="applied")


async def test_two_sessions_at_once(gemini: Pinned) -> None:
    """Each works in its own folder; what one writes is none of the other's."""
    places = [gemini.cwd / "a", gemini.cwd / "b"]
    for place in places:
        place.mkdir()
    answers: dict[Path, Events] = {}

    async def work(company: Company, place: Path) -> None:
        session = await company.session(cwd=place)
        answers[place] = await session.turn("Say something")

    async with gemini.connect([text("One."), text("Two.")], model=MODEL) as company:
        async with anyio.create_task_group() as tasks:
            for place in places:
                tasks.start_soon(work, company, place)
        one: Watched = await company.session(cwd=places[0])
        await one.session.close()
        assert len(company.connection.sessions) == 2
    assert sorted(events.said()[0] or "" for events in answers.values()) == ["One.", "Two."]
    assert len({events[0].session for events in answers.values()}) == 2
    assert [end.outcome for end in company.events.of(TurnEnded)] == ["completed", "completed"]
