"""Our own recordings: followed while they are written, taken over when they are complete, one session with what its agent
keeps."""

from pathlib import Path

import msgspec
import pytest

from dragoman._library import sessions, syncing
from dragoman._library.library import Library
from tests.golden import CAPTURES
from tests.library import corpus

PAIRS = {
    "claude": ("claude_stream/2.1.325/subagent_bidi", "claude_transcript/2.1.325/subagent_bidi"),
    "codex": ("codex_app/0.166.0/basic", "codex_rollout/0.166.0/basic"),
    "gemini": ("gemini_stream/0.61.0/text", "gemini_chat/0.61.0/text"),
}
"""Captures of one run: what it said, and what its agent kept."""
EXIT = b'{"exit":{"code":0}}\n'


def recorded(agent: str) -> bytes:
    """A run as it is recorded, without its end."""
    capture = CAPTURES / PAIRS[agent][0]
    header = {"dragoman": "recording/1", "agent": agent, "dialect": capture.parts[-3]}
    head = msgspec.json.encode(header) + b"\n"
    if (capture / "frames.jsonl").exists():
        return head + (capture / "frames.jsonl").read_bytes()
    lines = (capture / "stdout.jsonl").read_bytes().splitlines()
    return head + b"".join(
        msgspec.json.encode({"dir": "out", "line": line.decode()}) + b"\n" for line in lines
    )


@pytest.fixture
def path(library: Library) -> Path:
    library.recordings.mkdir(parents=True)
    return library.recordings / "run.jsonl"


@pytest.mark.parametrize("agent", PAIRS)
def test_followed_and_taken_over(library: Library, path: Path, agent: str) -> None:
    content = recorded(agent)
    path.write_bytes(content[: len(content) // 2])
    library.sync()
    assert path.exists()
    path.write_bytes(content)
    library.sync()
    assert path.exists()
    [session] = library.sessions()
    assert session.agent == agent
    with path.open("ab") as file:
        file.write(EXIT)
    library.sync()
    assert not path.exists()
    [file] = library.files(session)
    assert (file.state, b"".join(file.content(library.db))) == ("kept", content + EXIT)
    assert library.sync().gone == 0
    assert not library.session(session.id).gone
    library.rebuild()
    assert list(library.events(session))


def test_killed_before_it_was_deleted(library: Library, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(recorded("codex") + EXIT)
    with monkeypatch.context() as patch:
        patch.setattr(syncing.os, "unlink", lambda path: None)
        library.sync()
    assert path.exists()
    assert library.sync().read == 0
    assert not path.exists()


def test_nothing_is_deleted_that_is_not_ours(library: Library, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    (folder / "run.jsonl").write_bytes(recorded("codex") + EXIT)
    library.sync([folder])
    assert (folder / "run.jsonl").exists()
    assert [session.agent for session in library.sessions()] == ["codex"]


@pytest.mark.parametrize("first", ["disk", "recording"])
@pytest.mark.parametrize("agent", PAIRS)
def test_one_session_of_both(library: Library, home: Path, path: Path, agent: str, first: str) -> None:
    """Messages are those of the disk, once; permissions those of the recording."""
    for source in (first, {"disk": "recording", "recording": "disk"}[first]):
        if source == "disk":
            kept = corpus.place(home, agent, CAPTURES / PAIRS[agent][1] / "session.jsonl")
        else:
            path.write_bytes(recorded(agent) + EXIT)
        library.sync()
    [session] = library.sessions()
    [file, *_] = library.files(session)
    assert file.path == str(kept)
    db = library.db
    kinds = dict(db.rows("SELECT kind, shown FROM part WHERE session = ?", (session.id,)))
    assert kinds == {"disk": 1, "recording": 0}
    [unit] = sessions.units(db, session)
    told = db.rows("SELECT messages, turns FROM part WHERE unit = ? AND session = ?", (unit, session.id))
    assert told == [(session.messages, session.turns)]
    asked = db.rows("SELECT unit, outcome FROM permission WHERE session = ?", (session.id,))
    assert all(row[0] != unit for row in asked)
    assert len(asked) == {"claude": 1, "codex": 0, "gemini": 0}[agent]
    calls = db.rows("SELECT key FROM sighting WHERE unit = ? AND session = ?", (unit, session.id))
    assert {row[0] for row in calls} <= {row[0] for row in db.rows("SELECT key FROM model_call")}
    if agent == "codex":  # both tell of all calls, by the same keys
        assert len(calls) == len(db.rows("SELECT key FROM model_call"))
