"""A pipe is read to its end, by whichever event loop, and whatever becomes of what is read."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

import anyio
import anyio.lowlevel
import pytest

from dragoman._runtime.process import pipes

SOON = 5.0


@pytest.fixture
def ends() -> Iterator[tuple[IO[bytes], int]]:
    """Our end of a pipe, and theirs, which is closed by the test."""
    with ExitStack() as ours, ExitStack() as theirs:
        reader, writer = pipes.pipe(ours, theirs, "rb")
        theirs.pop_all()
        yield reader, writer


@pytest.mark.anyio
async def test_all_that_is_written_is_taken_in_its_order(ends: tuple[IO[bytes], int]) -> None:
    reader, writer = ends
    taken: list[bytes] = []
    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipes.pump, reader, taken.append)
            for piece in (b"one ", b"two ", b"three"):
                os.write(writer, piece)
                await anyio.wait_all_tasks_blocked()
            os.close(writer)
    assert b"".join(taken) == b"one two three"


@pytest.mark.anyio
async def test_what_is_there_when_it_is_cancelled_is_taken(ends: tuple[IO[bytes], int]) -> None:
    reader, writer = ends
    taken: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipes.pump, reader, taken.append)
        await anyio.wait_all_tasks_blocked()
        os.write(writer, b"last words")
        tasks.cancel_scope.cancel()
    os.close(writer)
    assert taken == [b"last words"]


@pytest.mark.anyio
async def test_what_goes_wrong_with_a_piece_ends_the_reading(ends: tuple[IO[bytes], int]) -> None:
    reader, writer = ends

    def stumble(chunk: bytes) -> None:
        raise KeyError(chunk)

    os.write(writer, b"odd")
    with pytest.raises(KeyError), anyio.fail_after(SOON):
        await pipes.pump(reader, stumble)
    os.close(writer)
    with anyio.fail_after(SOON):  # nobody else is called for that pipe: it can be read anew
        await pipes.pump(reader, stumble)


def test_what_is_read_can_start_a_task_on_plain_asyncio(ends: tuple[IO[bytes], int]) -> None:
    """There what the loop calls is in no task, by which anyio would know where it is."""
    reader, writer = ends
    done: list[bytes] = []

    async def work(chunk: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        done.append(chunk)

    async def read() -> None:
        async with anyio.create_task_group() as tasks:
            await pipes.pump(reader, lambda chunk: tasks.start_soon(work, chunk) and None)

    os.write(writer, b"to do")
    os.close(writer)
    asyncio.run(read())
    assert done == [b"to do"]
