"""An ACP agent that does as it is told, one order a prompt; it is a program of its own.

flood N     N pieces of a message, as fast as they are taken
ask N       N permissions, one after the other; then the milliseconds that each took to be answered, as a message
tick R S    R pieces a second for S seconds, each the monotonic time at which it was written
"""

import json
import os
import sys
import time
from typing import Any

PROSE = """The tests fail because `parse_line` drops the last line of a file that has no newline at its end. I will
look at where it is called, then change it so that what is left is given out when the file is closed:

    def close(self) -> bytes | None:
        rest, self._rest = self._rest, b""
        return rest or None

Two callers have to be changed as well, src/app/reader.py and src/app/follow.py; both ask for a line and take `None` for
the end. After that all 214 tests pass, and the one that was skipped on 3.11 runs again. """
OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]


def write(**message: Any) -> None:
    sys.stdout.write(line(**message))
    sys.stdout.flush()


def line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n"


def piece(session: str, text: str) -> str:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return line(method="session/update", params={"sessionId": session, "update": update})


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


def tick(session: str, rate: str, seconds: str) -> None:
    step, begun = 1 / float(rate), time.monotonic()
    for n in range(int(float(rate) * float(seconds))):
        time.sleep(max(0, begun + n * step - time.monotonic()))
        sys.stdout.write(piece(session, f"{time.monotonic()} "))
        sys.stdout.flush()


ORDERS = {"flood": flood, "ask": ask, "tick": tick}


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
