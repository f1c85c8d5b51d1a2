"""What the page gets of the library."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman._library import sessions
from dragoman._library.library import Library
from dragoman._library.usage import of_sessions
from dragoman._model import events as ev
from dragoman._model.errors import SessionNotFound, UsageError
from dragoman._prices.estimate import Prices
from dragoman._server import stored
from dragoman._server.answers import About, Diff, Found, Row, Sessions, WholeEvent, Window
from tests.cli.stored_sessions import keep_sessions
from tests.library import corpus
from tests.library.test_recordings import EXIT, recorded
from tests.library.transcripts import transcript


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "DRAGOMAN_LIBRARY"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def library(tmp_path: Path, home: Path) -> Iterator[Library]:
    """Six sessions of three agents."""
    keep_sessions(home)
    with Library(tmp_path / "library.db") as made:
        made.sync()
        yield made


def again(answer: Any) -> Any:
    """An answer, written and read as its type says."""
    return msgspec.json.decode(msgspec.json.encode(answer), type=type(answer))


def one(library: Library, agent: str) -> sessions.StoredSession:
    return library.sessions(sessions.Filter(agents=(agent,)))[0]


# --- lists ---------------------------------------------------------------------------------------------------


def test_rows(library: Library) -> None:
    found = stored.rows(library)
    assert isinstance(again(found), Sessions)
    assert (found.total, len(found.sessions)) == (6, 6)
    assert [row.id for row in found.sessions] == [session.id for session in library.sessions()]
    sums = of_sessions(library.db, [row.id for row in found.sessions], Prices())
    for row, session in zip(found.sessions, library.sessions(), strict=True):
        assert (row.agent, row.native_id, row.turns) == (session.agent, session.native_id, session.turns)
        assert (row.updated, row.outcome, row.cwd) == (session.updated, session.outcome, session.cwd)
        assert row.tokens == sums[row.id].input_tokens + sums[row.id].output_tokens
        assert (row.cost_usd, row.cost_estimated_usd) == (
            sums[row.id].cost_usd,
            sums[row.id].cost_estimated_usd,
        )
    assert sum(row.tokens for row in found.sessions) > 0


def test_some_rows(library: Library) -> None:
    every = stored.rows(library).sessions
    pages = [stored.rows(library, limit=4, offset=offset) for offset in (0, 4, 8)]
    assert [row for page in pages for row in page.sessions] == every
    assert {page.total for page in pages} == {6}
    codex = stored.rows(library, agent="codex")
    assert (codex.total, {row.agent for row in codex.sessions}) == (2, {"codex"})
    some = every[0]
    assert some in stored.rows(library, text=some.title.upper()).sessions
    assert stored.rows(library, text="no session is called so").sessions == []
    assert stored.rows(library, folder="/nowhere").total == 0
    assert stored.rows(library, folder=some.cwd).total >= 1


def test_what_is_zero_is_written_and_what_is_unknown_is_not(library: Library) -> None:
    """The page adds these up."""
    [session, *_] = library.sessions()
    written = msgspec.to_builtins(stored.row(library, session))
    always = {name for name, info in Row.__annotations__.items() if info in (int, bool, str)}
    assert always <= written.keys()
    assert "live" not in written
    library.label(session, name="mine", pinned=True)
    row = stored.row(library, library.session(session.id))
    assert (row.title, row.name, row.pinned) == ("mine", "mine", True)


# --- one -----------------------------------------------------------------------------------------------------


def test_about(library: Library) -> None:
    session = one(library, "claude")
    about = stored.about(library, session.id)
    assert isinstance(again(about), About)
    assert about.session == stored.row(library, session)
    assert [(run.run, run.kind, run.shown) for run in about.runs] == [(f"u{session.main}", "history", True)]
    assert about.runs[0].events == len(list(library.events(session)))
    assert "resume" in about.capabilities
    assert about.resume == f"dragoman run claude --resume {session.native_id}"
    with pytest.raises(SessionNotFound):
        stored.about(library, "0000")


def test_about_who_it_worked_for(tmp_path: Path, home: Path) -> None:
    corpus.placed(home)
    with Library(tmp_path / "all.db") as library:
        library.sync()
        subagents = library.sessions(sessions.Filter(subagents=True))
        child = next(session for session in subagents if session.relation == "subagent")
        about = stored.about(library, child.id)
        assert about.parent is not None
        assert about.parent.id == child.parent
        assert about.resume is None
        assert child.id in [row.id for row in stored.about(library, about.parent.id).children]


def test_one_recording_is_shown_in_place_of_the_history(tmp_path: Path, home: Path) -> None:
    corpus.place(home, "codex", corpus.CAPTURES / "codex_rollout/0.166.0/basic/session.jsonl")
    with Library(tmp_path / "pair.db") as library:
        library.recordings.mkdir(parents=True)
        (library.recordings / "run.jsonl").write_bytes(recorded("codex") + EXIT)
        library.sync()
        [session] = library.sessions()
        about = stored.about(library, session.id)
        assert sorted((run.kind, run.shown) for run in about.runs) == [
            ("history", False),
            ("recording", True),
        ]
        run = next(run.run for run in about.runs if run.shown)
        assert {place for place, _ in stored.told(library, session)} == {run}
        assert {turn.run for turn in stored.deeds(library, session.id).turns} == {run}
        direction = {
            stored.whole_event(library, run, seq).direction for seq in range(1, about.runs[-1].events + 1)
        }
        assert direction == {"out", "in", None}


# --- its events ----------------------------------------------------------------------------------------------


def test_windows_of_a_run(library: Library) -> None:
    for session in library.sessions():
        [run] = stored.about(library, session.id).runs
        newest = stored.window(library, run.run, limit=1000)
        assert isinstance(again(newest), Window)
        every = [event.seq for event in library.events(session)]
        told = [event["seq"] for event in newest.events]
        assert (newest.first, newest.last, newest.more_before, newest.more_after) == (
            1,
            every[-1],
            False,
            False,
        )
        assert set(every) - set(told) == {
            event.seq for event in library.events(session) if isinstance(event, ev.Delta | ev.NativeKnown)
        }
        assert [
            event["seq"] for event in stored.window(library, run.run, limit=1000, deltas=True).events
        ] == every
        middle = stored.window(library, run.run, after=5, limit=3)
        assert [event["seq"] for event in middle.events] == [seq for seq in told if seq > 5][:3]
        before = stored.window(library, run.run, before=9, limit=3)
        assert [event["seq"] for event in before.events] == [seq for seq in told if seq < 9][-3:]


def test_only_the_blocks_that_are_needed_are_opened(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [("user" if n % 2 == 0 else "assistant", f"number {n}") for n in range(2_000)]
    transcript(home / ".claude" / "projects" / "-w", "long", said)
    with Library(tmp_path / "long.db") as library:
        library.sync()
        [session] = library.sessions()
        [run] = stored.about(library, session.id).runs
        assert run.events > 4_000
        opened: list[bytes] = []
        unpack = sessions.zstd.decompress
        monkeypatch.setattr(
            sessions.zstd,
            "decompress",
            lambda data: opened.append(data) or unpack(data),  # type: ignore[func-returns-value]
        )
        for place in ({}, {"before": run.events // 2}, {"after": run.events // 2}, {"after": run.events}):
            opened.clear()
            stored.window(library, run.run, limit=100, **place)  # type: ignore[arg-type]
            assert len(opened) <= 2
        opened.clear()
        assert stored.whole_event(library, run.run, 2_345).event["seq"] == 2_345
        assert len(opened) == 2  # its own, and the piece of the archive that its line is in
        opened.clear()
        assert stored.diff(library, session.id).files == []
        assert opened == []


def test_an_event_and_its_line(library: Library) -> None:
    for session in library.sessions():
        run = f"u{session.main}"
        [file] = library.files(session)
        lines = Path(file.path).read_bytes().splitlines()
        for event in library.events(session):
            found = stored.whole_event(library, run, event.seq)
            assert isinstance(again(found), WholeEvent)
            assert found.event["type"] == event.type
            if event.frame is None:
                assert (found.line, found.direction) == (None, None)
            else:
                assert (found.line, found.direction) == (lines[event.frame - 1].decode(), "out")


@pytest.mark.parametrize(
    "run", ["u", "u0", "u7777", "u-1", "u1e3", "u٣", "r000000000000", "", "u" + "9" * 40, "\0"]
)
def test_runs_that_are_not_there(library: Library, run: str) -> None:
    with pytest.raises(SessionNotFound, match="; "):
        stored.window(library, run)
    with pytest.raises(SessionNotFound, match="; "):
        stored.whole_event(library, run, 1)


def test_events_that_are_not_there(library: Library) -> None:
    run = f"u{library.sessions()[0].main}"
    for seq in (0, 10_000, 10**30):
        with pytest.raises(SessionNotFound, match="; "):
            stored.whole_event(library, run, seq)
    assert stored.window(library, run, after=10**30).events == []
    assert stored.window(library, run, before=10**30).more_after is False


# --- what it did ---------------------------------------------------------------------------------------------


def test_deeds_and_diff_say_what_the_row_says(library: Library) -> None:
    changed = 0
    for session in library.sessions():
        row, deeds = stored.row(library, session), stored.deeds(library, session.id)
        assert len(deeds.turns) == row.turns
        assert deeds.usage.input_tokens + deeds.usage.output_tokens == row.tokens
        assert deeds.cost_usd == row.cost_usd
        assert deeds.cost_estimated_usd == pytest.approx(row.cost_estimated_usd)
        diff = stored.diff(library, session.id)
        assert isinstance(again(diff), Diff)
        assert [(file.path, file.added, file.removed) for file in diff.files] == [
            (file.path, file.added, file.removed) for file in deeds.files
        ]
        assert sum(file.added for file in diff.files) == row.added
        assert all(text.startswith("--- ") for file in diff.files for text in file.diffs)
        changed += len(diff.files)
    assert changed


@pytest.mark.parametrize(
    ("format", "begins"), [("html", b"<!doctype html>"), ("md", b"# "), ("jsonl", b'{"type":"run.started"')]
)
def test_export(library: Library, format: str, begins: bytes) -> None:
    for session in library.sessions():
        assert b"".join(stored.export(library, session.id, format)).startswith(begins)


def test_there_is_no_such_export(library: Library) -> None:
    with pytest.raises(UsageError, match="html, md, jsonl"):
        stored.export(library, library.sessions()[0].id, "exe")
    with pytest.raises(SessionNotFound):
        stored.export(library, "nobody", "md")


# --- search and usage ----------------------------------------------------------------------------------------


def test_search(library: Library) -> None:
    session = one(library, "claude")
    word = next(
        word for event in library.events(session) if isinstance(event, ev.Message) for word in (event.text or "").split() if len(word) > 4 and word.isalpha()
    )  # fmt: skip
    found = stored.search(library, word, session=session.id)
    assert isinstance(again(found), Found)
    assert found.hits
    for hit in found.hits:
        assert (hit.session.id, hit.session.agent, hit.run) == (session.id, "claude", f"u{session.main}")
        marked = [piece.text for piece in hit.snippet if piece.match]
        assert marked
        assert all(word.lower() in text.lower() for text in marked)
        assert all(piece.text for piece in hit.snippet)
        assert (
            stored.window(library, hit.run, after=hit.seq - 1, limit=1, deltas=True).events[0]["seq"]
            == hit.seq
        )
    first = stored.search(library, word, limit=1)
    if first.more is not None:
        assert stored.search(library, word, limit=1, after=first.more).hits != first.hits
    assert stored.search(library, word, agent="codex", role="user", tool="x", path="y").hits == []
    with pytest.raises(UsageError, match="there is no word"):
        stored.search(library, "…")
    with pytest.raises(SessionNotFound):
        stored.search(library, word, session="nobody")


def test_usage(library: Library) -> None:
    by_agent = stored.usage(library, "agent")
    assert {row.key for row in by_agent.rows} <= {"claude", "codex", "gemini"}
    total = by_agent.totals.input_tokens + by_agent.totals.output_tokens
    assert total == sum(row.tokens for row in stored.rows(library).sessions)
    assert stored.usage(library, "day", agent="codex").totals.calls < by_agent.totals.calls
    assert stored.usage(library, since=10**11).rows == stored.usage(library, folder="/nowhere").rows == []
