"""A client made with the Python package agent-client-protocol: it drives `COMMAND…` in a folder, answers every
permission with the option of the kind that it was told, and prints what it saw as one JSON object."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema as s


class LibraryClient(acp.Client):
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.files: list[str] = []

    def on_connect(self, conn: acp.Agent) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **fields: Any) -> None:
        self.updates.append(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **fields: Any
    ) -> acp.RequestPermissionResponse:
        self.asked.append(tool_call.model_dump(mode="json", by_alias=True, exclude_none=True))
        option = next(option for option in options if option.kind == self.kind)
        outcome = s.AllowedOutcome(outcome="selected", option_id=option.option_id)
        return acp.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id: str, path: str, **fields: Any) -> acp.ReadTextFileResponse:
        self.files.append("read")
        return acp.ReadTextFileResponse(content=read(path))

    async def write_text_file(
        self, session_id: str, path: str, content: str, **fields: Any
    ) -> acp.WriteTextFileResponse:
        self.files.append("write")
        write(path, content)
        return acp.WriteTextFileResponse()


def read(path: str) -> str:
    return Path(path).read_text()


def write(path: str, content: str) -> None:
    Path(path).write_text(content)


async def main(kind: str, folder: str, prompt: str, *command: str) -> None:
    client = LibraryClient(kind)
    async with acp.spawn_agent_process(client, *command) as (agent, _):
        files = s.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        ready = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=s.ClientCapabilities(fs=files),
            client_info=s.Implementation(name="library-client", version="1"),
        )
        session = await agent.new_session(cwd=folder, mcp_servers=[])
        done = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(prompt)])
    seen = {"updates": client.updates, "asked": client.asked, "files": client.files}
    print(json.dumps({"version": ready.protocol_version, "stop": done.stop_reason, **seen}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
