"""Which session is meant, and how that is found out before an agent is started."""

from pathlib import Path

import anyio
import pytest
from anyio import wait_all_tasks_blocked

import dragoman
from dragoman import LATEST, SessionInfo, SessionNotFound, Unsupported, UsageError
from dragoman._runtime.connection import CalledOff
from dragoman._runtime.resuming import SessionFinder

pytestmark = pytest.mark.anyio

WHOLE = r"s-\d{4}"


def finder(*ids: str, asked: list[tuple[str, str]] | None = None) -> SessionFinder:
    async def candidates(wanted: str, cwd: str) -> list[SessionInfo]:
        if asked is not None:
            asked.append((wanted, cwd))
        return [SessionInfo(agent="toy", id=id) for id in ids]

    return SessionFinder("toy", WHOLE, candidates)


async def test_a_whole_id_needs_no_look() -> None:
    asked: list[tuple[str, str]] = []
    assert await finder(asked=asked).find("s-1234", "/w") == "s-1234"
    assert asked == []
    assert await finder("s-1234", asked=asked).find("s-1", "/w") == "s-1234"
    assert await finder("s-1234", asked=asked).find(LATEST, "/w") == "s-1234"
    assert asked == [("s-1", "/w"), (LATEST, "/w")]


async def test_sessions_that_cannot_be_listed() -> None:
    """Any name may be a whole id there; but LATEST is none."""

    async def nothing(wanted: str, cwd: str) -> list[SessionInfo]:
        raise Unsupported("toy", "list_sessions")

    found = SessionFinder("toy", WHOLE, nothing)
    assert await found.find("odd", "/w") == "odd"
    with pytest.raises(Unsupported):
        await found.find(LATEST, "/w")


async def test_the_demo_agent_goes_on(tmp_path: Path) -> None:
    """It is asked for its sessions by a process of its own, since it keeps no files that we could read."""
    (tmp_path / "other").mkdir()
    native = {"pace": 0, "sessions": str(tmp_path / "kept")}

    async def ask(cwd: Path, resume: str | None = None) -> dragoman.Result:
        return await dragoman.ask("demo", "Fix it.", cwd=cwd, native=native, approve="all", resume=resume)

    first = await ask(tmp_path)
    other = await ask(tmp_path / "other")
    assert first.session != other.session
    assert (await ask(tmp_path, LATEST)).session == first.session
    assert (await ask(tmp_path / "other", LATEST)).session == other.session
    with pytest.raises(SessionNotFound, match="2 sessions of demo may be meant by demo-: "):
        await ask(tmp_path, "demo-")
    with pytest.raises(SessionNotFound, match="demo has no session nobody; `dragoman ls demo` lists"):
        await ask(tmp_path, "nobody")


async def test_a_place_needs_a_session() -> None:
    for options in ({"fork": True}, {"resume_at": "x"}):
        with pytest.raises(UsageError, match="needs resume"):
            dragoman.open("demo", **options)  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="resume_at in acp"):
        dragoman.open("demo", resume="demo-00000001", resume_at="x")


async def test_looking_can_be_stopped(tmp_path: Path) -> None:
    """Ctrl-C while an agent that does not answer is asked for its sessions."""
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nread line; read line\n")
    silent.chmod(0o700)
    record = tmp_path / "record.jsonl"
    session = dragoman.open("acp", extra_args=[str(silent)], resume=LATEST, record=record)

    async def enter() -> None:
        with pytest.raises(CalledOff, match="stopped before acp was started"):
            await session.__aenter__()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(enter)
            await wait_all_tasks_blocked()
            await session.stop("cancelled")
