"""An agent that speaks the toy dialect in several sessions at once. Orders, one per line, as obedient.py has them:

say TEXT    answer with a text              ask TOOL    ask for permission, then say what was decided
wait        work until interrupted          call METHOD JSON    call the host, then say what it answered
exit CODE   exit at once

Its first argument is how it starts: ready, refuses, or dies.
"""

import json
import os
import queue
import sys
import threading
from itertools import count
from typing import Any

writing = threading.Lock()
numbers = count(1)
sessions: dict[str, "queue.Queue[dict[str, Any]]"] = {}


class Interrupted(Exception):
    """The turn is to be stopped."""


def put(**message: Any) -> None:
    with writing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


class Worker:
    def __init__(self, session: str) -> None:
        self.session = session
        self.inbox = sessions[session] = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def put(self, **message: Any) -> None:
        put(session=self.session, **message)

    def get_until(self, kind: str) -> dict[str, Any]:
        while (message := self.inbox.get())["type"] != kind:
            if message["type"] == "interrupt":
                self.put(type="ack", id=message["id"], command="interrupt")
                raise Interrupted
        return message

    def obey(self, verb: str, rest: str) -> None:
        if verb == "say":
            self.put(type="text", text=rest)
        elif verb == "ask":
            tool, _, given = rest.partition(" ")
            self.put(type="ask", id=f"r{next(numbers)}", tool=tool, input=json.loads(given or "null"))
            self.put(type="text", text=self.get_until("answer")["decision"])
        elif verb == "call":
            method, _, params = rest.partition(" ")
            self.put(type="call", id=f"h{next(numbers)}", method=method, params=json.loads(params or "{}"))
            answer = self.get_until("reply")
            told = answer["error"] if answer["result"] is None else answer["result"]
            self.put(type="text", text=json.dumps(told))
        elif verb == "wait":
            self.get_until("doomsday")
        elif verb == "exit":
            os._exit(int(rest))

    def work(self) -> None:
        while True:
            try:
                for order in self.get_until("prompt")["text"].splitlines():
                    verb, _, rest = order.partition(" ")
                    self.obey(verb, rest)
                self.put(type="done")
            except Interrupted:
                self.put(type="stopped")


def open_session(message: dict[str, Any]) -> None:
    session = message["resume"] or f"s-{next(numbers)}"
    if session == "unknown":
        put(type="refused", id=message["id"], error="no such session")
        return
    if message["resume"]:
        put(session=session, type="history", text=f"what was said in {session}")
    put(session=session, type="opened", id=message["id"], cwd=message["cwd"])
    Worker(session)


def main() -> None:
    start = sys.argv[1] if len(sys.argv) > 1 else "ready"
    if start == "dies":
        sys.exit(3)
    put(type=start)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "open_session":
            open_session(message)
        elif message.get("request"):
            for inbox in sessions.values():
                inbox.put(message)
        else:
            sessions[message["session"]].put(message)


main()
