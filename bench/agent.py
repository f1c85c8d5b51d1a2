"""An ACP agent that does as it is told, one order a prompt; it is a program of its own.

flood N     N pieces of a message, as fast as they are taken
ask N       N permissions, one after the other; then the milliseconds that each took to be answered, as a message
tick R S    R pieces a second for S seconds, each the monotonic time at which it was written
work R S    R updates a second for S seconds: pieces of messages, and between them commands and edits
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

PROSE = """The tests fail because `parse_line` drops the last line of a file that has no newline at its end. I will
look at where it is called, then change it so that what is left is given out when the file is closed:

    def close(self) -> bytes | None:
        rest, self._rest = self._rest, b""
        return rest or None

Two callers have to be changed as well, src/app/reader.py and src/app/follow.py; both ask for a line and take `None` for
the end. After that all 214 tests pass, and the one that was skipped on 3.11 runs again. """
OUTPUT = "\n".join(f"tests/test_reader.py::test_line_{n} PASSED" for n in range(20))
OLD = "".join(f"    value_{n} = compute(value_{n})\n" for n in range(12))
NEW = OLD.replace("compute(value_5)", "computed_anew(value_5)")
OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]


def write(**message: Any) -> None:
    sys.stdout.write(line(**message))
    sys.stdout.flush()


def line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n"


def piece(session: str, text: str) -> str:
    return update(session, "agent_message_chunk", content={"type": "text", "text": text})


def update(session: str, kind: str, /, **rest: Any) -> str:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **rest}}
    return line(method="session/update", params=params)


def pieces(size: int, number: int) -> list[str]:
    """A text in pieces of so many characters, again and again."""
    texts = [PROSE[n : n + size] for n in range(0, len(PROSE) - size, size)]
    return [texts[n % len(texts)] for n in range(number)]


def flood(session: str, number: str) -> None:
    sys.stdout.write("".join(piece(session, text) for text in pieces(14, int(number))))


def ask(session: str, number: str) -> None:
    took = []
    for n in range(int(number)):
        call = {
            "toolCallId": f"c-{n}",
            "title": "Look around",
            "kind": "other",
            "status": "pending",
            "rawInput": {},
        }
        begun = time.perf_counter()
        params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
        write(id=f"ask-{n}", method="session/request_permission", params=params)
        answer = json.loads(sys.stdin.readline())
        took.append((time.perf_counter() - begun) * 1e3)
        assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "allow_once"}, answer
    sys.stdout.write(piece(session, json.dumps(took)))


def beats(rate: str, seconds: str) -> Iterator[int]:
    """Numbers, each when it is due."""
    step, begun = 1 / float(rate), time.monotonic()
    for n in range(int(float(rate) * float(seconds))):
        time.sleep(max(0, begun + n * step - time.monotonic()))
        yield n


def tick(session: str, rate: str, seconds: str) -> None:
    for _ in beats(rate, seconds):
        sys.stdout.write(piece(session, f"{time.monotonic()} "))
        sys.stdout.flush()


def work(session: str, rate: str, seconds: str) -> None:
    for n in beats(rate, seconds):
        sys.stdout.write(at_work(session, n))
        sys.stdout.flush()


def at_work(session: str, n: int) -> str:
    """One of twenty updates: pieces of what is said, a command and what came of it, an edit."""
    turn, step = divmod(n, 20)
    if step == 17:
        given = {"command": f"python -m pytest tests/test_part_{turn}.py"}
        call = {"toolCallId": f"run-{turn}", "title": given["command"], "kind": "execute", "rawInput": given}
        return update(session, "tool_call", status="in_progress", **call)
    if step == 18:
        said = {"type": "content", "content": {"type": "text", "text": OUTPUT}}
        return update(
            session, "tool_call_update", toolCallId=f"run-{turn}", status="completed", content=[said]
        )
    if step == 19:
        edit = {"type": "diff", "path": f"/repo/part_{turn % 10}.py", "oldText": OLD, "newText": NEW}
        call = {"toolCallId": f"edit-{turn}", "title": "Edit the reader", "kind": "edit", "content": [edit]}
        return update(session, "tool_call", status="completed", **call)
    return piece(session, PROSE[step * 30 : step * 30 + 30])


ORDERS = {"flood": flood, "ask": ask, "tick": tick, "work": work}


def main() -> None:
    sessions = 0
    while given := sys.stdin.readline():
        message = json.loads(given)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            write(id=id, result={"protocolVersion": 1})
        elif method == "session/new":
            sessions += 1
            write(id=id, result={"sessionId": f"{os.getpid():08x}-0000-4000-8000-{sessions:012x}"})
        elif method == "session/prompt":
            [block] = message["params"]["prompt"]
            order, *arguments = block["text"].split()
            ORDERS[order](message["params"]["sessionId"], *arguments)
            write(id=id, result={"stopReason": "end_turn"})
        elif id is not None:
            write(id=id, result={})


if __name__ == "__main__":
    main()
