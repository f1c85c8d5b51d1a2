"""Image files: what they are by their names, and what cannot be read."""

import base64
import os
from pathlib import Path

import pytest

import dragoman
from dragoman._agents import AGENTS
from dragoman._files import images
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError


def test_blocks(tmp_path: Path) -> None:
    files = {"a.png": "image/png", "b.JPG": "image/jpeg", "c.gif": "image/gif"}
    for name in files:
        (tmp_path / name).write_bytes(name.encode())
    blocks = images.blocks(str(tmp_path / name) for name in files)
    assert [block.mime_type for block in blocks] == list(files.values())
    assert [base64.b64decode(block.data or "") for block in blocks] == [name.encode() for name in files]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing.png", "No such file"),
        ("folder.png", "Is a directory"),
        ("pipe.png", "no regular file"),
        ("large.png", "more than"),
        ("noname", "what kind of image"),
        ("notes.txt", "what kind of image"),
    ],
)
def test_what_is_none(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(images.LARGEST + 1)
    for plain in ("noname", "notes.txt"):
        (tmp_path / plain).write_text("x")
    with pytest.raises(UsageError, match=why):
        images.blocks([str(tmp_path / name)])


def test_they_need_a_prompt_and_an_agent_that_sees(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(UsageError, match="give prompt too"):
        dragoman.open("demo", images=[tmp_path / "a.png"])
    with pytest.raises(Unsupported, match="images"):
        dragoman.open("demo", prompt="Look.", images=[tmp_path / "a.png"])


def test_codex_exec_would_cut_a_name_at_a_comma(tmp_path: Path) -> None:
    (tmp_path / "a,b.png").write_bytes(b"x")
    config = SessionConfig(agent="codex", prompt="Look.", images=[str(tmp_path / "a,b.png")])
    with pytest.raises(UsageError, match="without a comma"):
        AGENTS["codex"].plan(config, "/bin/codex", "codex_exec")
