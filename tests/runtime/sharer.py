"""A program that shares a session, for test_desk: says so when its agent waits."""

import sys

import anyio

import dragoman
from dragoman.testing import FakeAgent, waits


async def main(record: str) -> None:
    agent = FakeAgent([[waits(), "Never."]])
    async with dragoman.open(agent, record=record, share=True) as session:
        async for event in session.prompt("go"):
            if isinstance(event, dragoman.TurnStarted):
                print("waits", flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
