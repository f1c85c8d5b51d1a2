"""Several machines write into one library: each knows its own files."""

from pathlib import Path

import pytest

from dragoman._library.library import Library
from tests.library import corpus
from tests.library.postgres_server import Server


def test_the_files_of_another_machine_are_not_gone(
    postgres: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.fresh()
    first = corpus.place(home, "codex", corpus.session_files("codex")[0])
    with Library(address) as one:
        one.db.machine = "one"
        one.sync()
    content = first.read_bytes()
    first.unlink()
    corpus.place(home, "claude", corpus.session_files("claude")[0])
    with Library(address) as two:
        two.db.machine = "two"
        assert two.sync().gone == 0
        assert len(two.sessions()) == 2
        assert not any(session.gone for session in two.sessions())
        first.write_bytes(content)  # by the same path, as in every container
        two.sync()
        assert len(two.sessions()) == 2
        [session] = [session for session in two.sessions() if session.agent == "codex"]
        gone = two.forget(session)
        assert gone.files == [str(first)] * 2
        assert two.sync().read == 0
    with Library(address) as one:
        one.db.machine = "one"
        assert one.sync().gone == 0
        assert [session.agent for session in one.sessions()] == ["claude"]
