"""Tasks that stand by do what new ones would have done."""

from contextvars import ContextVar

import anyio
import pytest

from dragoman._runtime.standby import Standby

pytestmark = pytest.mark.anyio

name: ContextVar[str] = ContextVar("name", default="nobody")


async def test_one_task_does_one_piece_of_work_after_another() -> None:
    done: dict[str, int] = {}

    async def work(what: str) -> None:
        done[what] = anyio.get_current_task().id

    standby = Standby(work)
    async with anyio.create_task_group() as tasks:
        for what in "abc":
            standby.start(tasks, what)
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert list(done) == ["a", "b", "c"]
    assert len(set(done.values())) == 1


async def test_no_piece_of_work_waits_for_another() -> None:
    begun: list[str] = []
    go_on = anyio.Event()

    async def work(what: str) -> None:
        begun.append(what)
        await go_on.wait()
        begun.remove(what)

    standby = Standby(work)
    async with anyio.create_task_group() as tasks:
        for what in "abc":
            standby.start(tasks, what)
        await anyio.wait_all_tasks_blocked()
        assert sorted(begun) == ["a", "b", "c"]
        go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert begun == []
        tasks.cancel_scope.cancel()


async def test_what_one_piece_of_work_sets_the_next_does_not_see() -> None:
    seen: list[str] = []

    async def work(what: str) -> None:
        seen.append(name.get())
        name.set(what)

    name.set("who began")
    standby = Standby(work)
    async with anyio.create_task_group() as tasks:
        for what in "abc":
            standby.start(tasks, what)
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert seen == ["who began"] * 3


async def test_what_goes_wrong_is_the_group_s() -> None:
    async def work(fails: bool) -> None:
        if fails:
            raise LookupError

    async def both() -> None:
        standby = Standby(work)
        async with anyio.create_task_group() as tasks:
            standby.start(tasks, False)
            await anyio.wait_all_tasks_blocked()
            standby.start(tasks, True)

    with pytest.raises(ExceptionGroup) as raised:
        await both()
    assert raised.group_contains(LookupError)
