"""The scripted agent, driven by us, by the ACP library, and by nothing but asyncio."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import acp

import dragoman
from bench.material import SESSION, compact

AGENT = [sys.executable, "-I", "-S", str(Path(__file__).with_name("agent.py"))]
ENVIRONMENT = {"PATH": os.defpath}


@asynccontextmanager
async def folder() -> AsyncIterator[Path]:
    """A place of our own, also for what a run keeps of its own."""
    with TemporaryDirectory() as name:
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = name
        try:
            yield Path(name)
        finally:
            if before is None:
                del os.environ["XDG_STATE_HOME"]
            else:
                os.environ["XDG_STATE_HOME"] = before


def ours(place: Path, **options: Any) -> dragoman.Session:
    """A session with it, as anybody opens one."""
    return dragoman.open("acp", extra_args=AGENT, cwd=place, inherit_env=False, env=ENVIRONMENT, **options)


class Client:
    """A client of the library's: it allows everything, and keeps the texts if it is told to."""

    def __init__(self, keeps: bool = False) -> None:
        self.texts: list[str] | None = [] if keeps else None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if self.texts is not None:
            self.texts.append(update.content.text)

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        chosen = acp.schema.AllowedOutcome(option_id=options[0].option_id, outcome="selected")
        return acp.RequestPermissionResponse(outcome=chosen)


@asynccontextmanager
async def theirs(place: Path, client: Client) -> AsyncIterator[tuple[Any, str]]:
    """A session by the library: its connection, and the session's id."""
    program, *arguments = AGENT
    async with acp.spawn_agent_process(client, program, *arguments, cwd=place) as (connection, _):
        await connection.initialize(protocol_version=1)
        opened = await connection.new_session(cwd=str(place), mcp_servers=[])
        yield connection, opened.session_id


def prompt_line(order: str) -> bytes:
    """What has the agent obey, for whoever writes it himself."""
    params = {"sessionId": SESSION, "prompt": [{"type": "text", "text": order}]}
    return compact({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params}) + b"\n"


async def started() -> asyncio.subprocess.Process:
    """The agent, with pipes and nothing else."""
    return await asyncio.create_subprocess_exec(
        *AGENT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=ENVIRONMENT
    )
