"""agent-client-protocol: its connection as a client has it, with nothing done for what arrives."""

import asyncio
from typing import Any

from acp.client.connection import ClientSideConnection

from bench.material import Runs


class Listener:
    """A client that only counts updates, to the last one."""

    def __init__(self, updates: int) -> None:
        self.missing = updates
        self.all = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.missing -= 1
        if not self.missing:
            self.all.set()


class Nowhere(asyncio.Transport):
    """Where a connection may write what nobody reads."""

    def write(self, data: Any) -> None:
        pass

    def is_closing(self) -> bool:
        return True


def receive(runs: Runs) -> None:
    """All of its receive path: the line is read, parsed, given to a task, fitted to its type and handed over. It has
    no reader apart from that."""
    for lines in runs:
        asyncio.run(_receive(lines))


async def _receive(lines: list[bytes]) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"".join(line + b"\n" for line in lines))
    reader.feed_eof()
    nowhere = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    writer = asyncio.StreamWriter(Nowhere(), nowhere, None, asyncio.get_running_loop())
    listener = Listener(len(lines))
    connection = ClientSideConnection(listener, writer, reader)
    await listener.all.wait()
    await connection.close()
