"""Stores as agents leave them, of the session files of the captures: as they are, or as many and as large as one likes.

`python -m tests.library.corpus FOLDER SESSIONS BYTES` makes a home with so many. The same numbers give the same bytes.
"""

import os
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Final

from tests.golden import CAPTURES

SHARED: Final = CAPTURES.parents[1] / "shared" / "captures"
"""More of them, where they are."""

_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ID = re.compile(rb"\b(msg|toolu|call|req|resp)_[A-Za-z0-9]+")
_TEXT = re.compile(rb'"(text|content|output|stdout)":"(?=[^"])')
_SESSION = {
    "claude": re.compile(rb'"sessionId":"([0-9a-f-]{36})"'),
    "codex": re.compile(rb'"(?:session_id|id)":"([0-9a-f-]{36})"'),
    "gemini": re.compile(rb'"sessionId":"([0-9a-f-]{36})"'),
}
_FILES = {
    "claude": ("claude_transcript", ".claude/projects/-home-dev-work-{n}/{id}.jsonl"),
    "codex": (
        "codex_rollout",
        ".codex/sessions/2026/11/{day:02}/rollout-2026-11-{day:02}T10-00-00-{id}.jsonl",
    ),
    "gemini": ("gemini_chat", ".gemini/tmp/project-{n}/chats/session-2026-11-{day:02}T10-00-{id:.8}.jsonl"),
}


def session_files(agent: str) -> list[Path]:
    """The session files of an agent among the captures of this repository."""
    dialect, _ = _FILES[agent]
    return sorted((CAPTURES / dialect).glob("*/*/session.jsonl"))


def all_files() -> Iterator[tuple[str, Path]]:
    for agent in _FILES:
        yield from ((agent, path) for path in session_files(agent))


def place(home: Path, agent: str, source: Path, n: int = 0) -> Path:
    """Put a session file where its agent would have it, with those of its subagents."""
    content = source.read_bytes()
    found = _SESSION[agent].search(content)
    id = found[1].decode() if found is not None else _new_id(n, 0, b"")
    path = home / _FILES[agent][1].format(n=n, id=id, day=n % 28 + 1)
    _written(path, content)
    for other in source.parent.glob("subagent-*.jsonl"):
        below = path.with_suffix("") / "subagents" / other.name.replace("subagent-", "agent-")
        _written(below, other.read_bytes())
    return path


def placed(home: Path) -> list[Path]:
    """All session files of the captures, each in a project of its own."""
    return [place(home, agent, path, n) for n, (agent, path) in enumerate(all_files())]


def generated(home: Path, sessions: int, size: int) -> Iterator[Path]:
    """So many sessions of about so many bytes together, with ids and words of their own: most small, some large."""
    dice = Random(sessions)
    sizes = [dice.lognormvariate(0, 1.3) for _ in range(sessions)]
    scale = size / sum(sizes)
    sources = [(agent, path.read_bytes()) for agent, path in all_files()]
    sources = [(agent, content) for agent, content in sources if len(content) < 60_000]
    words = [_word(n, dice) for n in range(20_000)]
    for n, weight in enumerate(sizes):
        agent, content = sources[n % len(sources)]
        found = _SESSION[agent].search(content)
        session = found[1] if found is not None else b""
        id = _new_id(n, 0, session)
        path = home / _FILES[agent][1].format(n=n % 50, id=id, day=n % 28 + 1)
        yield _written(path, _grown(content, session, id, n, int(weight * scale), dice, words))


def _grown(
    content: bytes, session: bytes, id: str, n: int, size: int, dice: Random, words: list[str]
) -> bytes:
    out = bytearray()
    while not out or len(out) < size:
        turn = len(out)

        def renamed(match: re.Match[bytes], turn: int = turn) -> bytes:
            return id.encode() if match[0] == session else _new_id(n, turn, match[0]).encode()

        def other(match: re.Match[bytes], turn: int = turn) -> bytes:
            return match[1] + b"_" + _new_id(n, turn, match[0]).replace("-", "").encode()[:24]

        def said(match: re.Match[bytes]) -> bytes:
            return match[0] + " ".join(dice.choices(words, k=dice.randint(5, 60))).encode() + b" "

        out += _TEXT.sub(said, _ID.sub(other, _UUID.sub(renamed, content)))
        if not out.endswith(b"\n"):
            out += b"\n"
    return bytes(out)


def _word(n: int, dice: Random) -> str:
    """One of a hundred is of Chinese letters."""
    if n % 100:
        return blake2b(b"%d" % n, digest_size=dice.randint(1, 5)).hexdigest()
    return "".join(chr(dice.randint(0x4E00, 0x52FF)) for _ in range(dice.randint(1, 6)))


def _new_id(n: int, turn: int, old: bytes) -> str:
    digits = blake2b(b"%d %d %s" % (n, turn, old), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


if __name__ == "__main__":
    made = [
        os.path.getsize(path) for path in generated(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    ]
    print(f"{len(made)} files, {sum(made):,} bytes, the largest {max(made):,}")
