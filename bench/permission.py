"""A permission, from the agent's question to the answer in its hands, as the agent measures it."""

import asyncio
import json
from statistics import median

import dragoman
from bench import drivers
from bench.clock import in_turns
from bench.row import Figures, Row, faster

ASKED = 300


async def _ours() -> float:
    async def allow(request: dragoman.PermissionRequest) -> bool:
        return True

    async with drivers.folder() as place, drivers.ours(place, approve=allow) as session:
        await session.ready()
        said = [event async for event in session.prompt(f"ask {ASKED}")]
    return _p50("".join(event.text for event in said if isinstance(event, dragoman.Delta)))


async def _theirs() -> float:
    from acp import text_block

    client = drivers.Client(keeps=True)
    async with drivers.folder() as place, drivers.theirs(place, client) as (connection, session):
        await connection.prompt(session_id=session, prompt=[text_block(f"ask {ASKED}")])
    return _p50("".join(client.texts or ()))


def _p50(text: str) -> float:
    took = json.loads(text)
    assert len(took) == ASKED
    return median(took)


def answered() -> Figures:
    theirs, ours = in_turns(lambda: asyncio.run(_theirs()), lambda: asyncio.run(_ours()))
    return Figures(ours, theirs)


ROWS = (
    Row(
        "permission",
        "permission asked → answered, p50",
        "agent-client-protocol",
        "ms",
        faster(1),
        answered,
    ),
)
