"""Processes that want a session, for test_locks.

race COUNT FOLDER   so many processes at once, some of which give up their first place; each notes its
                        ticket in FOLDER/log when its turn has come
hold                one that has it, says so, and keeps it until its stdin ends
fork                one that has it and a child that lives on without it: that says its process id
"""

import os
import sys

import anyio

from dragoman._runtime.locks import draw

NAME = "claude:s"


async def run(folder: str, hesitates: bool) -> None:
    if hesitates:
        changed_its_mind = draw(NAME)
        os.sched_yield()
        changed_its_mind.leave()
    ticket = draw(NAME)
    await ticket.turn()
    alone = os.open(f"{folder}/alone", os.O_CREAT | os.O_EXCL)  # fails if another one is at work
    log = os.open(f"{folder}/log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(log, b"%d\n" % ticket.number)
    for _ in range(20):
        os.sched_yield()
    os.unlink(f"{folder}/alone")
    os.close(alone)
    ticket.leave()


def race(count: int, folder: str) -> int:
    anyio.run(anyio.sleep, 0)  # what it imports, the runners need not
    gate, opener = os.pipe()
    runners = []
    for place in range(count):
        runner = os.fork()
        if runner == 0:
            os.close(opener)
            os.read(gate, 1)  # comes back when all are there
            try:
                anyio.run(run, folder, place % 3 == 0)
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
                os._exit(1)
            os._exit(0)
        runners.append(runner)
    os.close(opener)
    return sum(os.waitpid(runner, 0)[1] != 0 for runner in runners)


def hold() -> None:
    ticket = draw(NAME)
    print("held", flush=True)
    sys.stdin.read()
    ticket.leave()


def fork() -> None:
    ticket = draw(NAME)
    if os.fork() == 0:
        print(os.getpid(), flush=True)  # and not before it has let go of what it inherited
    sys.stdin.read()
    ticket.leave()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "race":
        sys.exit(race(int(rest[0]), rest[1]))
    {"hold": hold, "fork": fork}[what]()
