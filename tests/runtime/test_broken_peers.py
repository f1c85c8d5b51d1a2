"""Programs that are no agents, or not the one that was meant: each cause has its error, in every dialect."""

import os
from pathlib import Path

import anyio
import pytest

import dragoman
from dragoman import NotJson, ProcessExited, ProtocolBroken

pytestmark = pytest.mark.anyio

DIALECTS = [
    ("claude", "claude_stream"),
    ("codex", "codex_app"),
    ("codex", "codex_exec"),
    ("gemini", "acp"),
    ("gemini", "gemini_stream"),
    ("opencode", "acp"),
]


def program(folder: Path, script: str) -> Path:
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


async def ask(folder: Path, agent: str, dialect: str, script: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with anyio.fail_after(60):
        await dragoman.ask(
            agent,
            "Go.",
            dialect=dialect,
            executable=program(folder, script),
            inherit_env=False,
            env=env,
            cwd=folder,
        )


@pytest.mark.parametrize(("agent", "dialect"), DIALECTS)
async def test_what_it_writes_is_no_json(tmp_path: Path, agent: str, dialect: str) -> None:
    with pytest.raises(NotJson, match="wrote nothing that is JSON"):
        await ask(tmp_path, agent, dialect, "echo Welcome to the wrong program; echo Have a nice day; exit 0")


@pytest.mark.parametrize(("agent", "dialect"), DIALECTS)
@pytest.mark.parametrize("line", ['{"hello":1}', "[1,2]"])
async def test_what_it_writes_is_other_json(tmp_path: Path, agent: str, dialect: str, line: str) -> None:
    with pytest.raises(NotJson, match="wrote nothing that is JSON of its protocol"):
        await ask(tmp_path, agent, dialect, f"echo '{line}'; exit 0")


@pytest.mark.parametrize(("agent", "dialect"), DIALECTS)
async def test_it_writes_nothing(tmp_path: Path, agent: str, dialect: str) -> None:
    with pytest.raises(ProcessExited, match="it was done: no licence") as raised:
        await ask(tmp_path, agent, dialect, "echo no licence >&2; exit 9")
    assert raised.value.exit_code == 9


ID = """id=$(printf %s "$line" | sed -n 's/.*"id" *: *\\("[^"]*"\\|[0-9]*\\).*/\\1/p'); [ -n "$id" ] && """
REFUSE = (
    ID
    + """echo "{\\"id\\":$id,\\"jsonrpc\\":\\"2.0\\",\\"error\\":{\\"code\\":-32601,\\"message\\":\\"no such method\\"}}"; """
)
AGREE = ID + """echo "{\\"id\\":$id,\\"jsonrpc\\":\\"2.0\\",\\"result\\":{}}"; """
LISTEN = "while read -r line; do "


@pytest.mark.parametrize(("agent", "dialect"), [way for way in DIALECTS if way[1] in ("codex_app", "acp")])
async def test_it_refuses_whatever_is_asked_of_it(tmp_path: Path, agent: str, dialect: str) -> None:
    with pytest.raises(ProtocolBroken, match="no such method"):
        await ask(tmp_path, agent, dialect, LISTEN + REFUSE + "done")


async def test_it_speaks_another_version(tmp_path: Path) -> None:
    answer = (
        """read -r line; echo '{"jsonrpc":"2.0","id":"dragoman-initialize","result":{"protocolVersion":9}}'"""
    )
    with pytest.raises(ProtocolBroken, match="speaks version 9"):
        await ask(tmp_path, "opencode", "acp", f"{answer}; cat >/dev/null")


async def test_its_answer_names_no_thread(tmp_path: Path) -> None:
    answer = f'case "$line" in *turn/start*) {REFUSE};; *) {AGREE};; esac; '
    with pytest.raises(ProtocolBroken, match="thread/start named no thread"):
        await ask(tmp_path, "codex", "codex_app", LISTEN + answer.replace("; ;;", ";;") + "done")
