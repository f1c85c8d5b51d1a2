"""An agent that speaks ACP and asks its client for what a prompt says: a JSON list of [method, params].

Every answer is said as a text. `update` is no call but a session/update; `together` are several calls, of which the
next is made before the one before it is answered. Params get the session's id.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

SESSION = "caller"


def write(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def update(**fields: Any) -> None:
    write(method="session/update", params={"sessionId": SESSION, "update": fields})


def obey(numbers: Iterator[int], method: str, params: Any) -> None:
    if method == "update":
        update(**params)
        return
    calls = dict(zip(numbers, params if method == "together" else [[method, params]], strict=False))
    for number, (called, given) in calls.items():
        write(id=number, method=called, params={"sessionId": SESSION, **given})
    answers: dict[int, Any] = {}
    while answers.keys() != calls.keys():
        if (answer := read()).get("id") in calls:
            answers[answer["id"]] = answer.get("result", answer.get("error"))
    for number in calls:
        told = json.dumps(answers[number]) + "\n"
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": told})


def main() -> None:
    numbers = iter(range(1, 1000))
    while True:
        message = read()
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            write(id=id, result={"protocolVersion": 1, "agentInfo": {"name": "caller", "version": "1"}})
        elif method == "session/new":
            write(id=id, result={"sessionId": SESSION})
        elif method == "session/prompt":
            for order in json.loads(message["params"]["prompt"][0]["text"]):
                obey(numbers, *order)
            write(id=id, result={"stopReason": "end_turn"})


main()
