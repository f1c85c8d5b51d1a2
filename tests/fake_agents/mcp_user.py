"""An agent that speaks ACP and uses the MCP servers that it is given: a prompt is a JSON list of what to say to the first
of them, each in a process of its own. What comes back is said as a text.

A string is written as it is; an object is a tools/call with it as params. After `"close"` it closes and says the exit code.
"""

import json
import subprocess
import sys
from contextlib import suppress
from typing import Any


def write(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def used(server: dict[str, Any], orders: list[Any]) -> list[Any]:
    """The answers of a server, one for each order."""
    answers = []
    with subprocess.Popen(
        [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        for number, order in enumerate(orders):
            if order == "close":
                started.stdin.close()
                answers.append(started.wait(20))
                continue
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": order}
            with suppress(BrokenPipeError):
                started.stdin.write((order if isinstance(order, str) else json.dumps(call)) + "\n")
                started.stdin.flush()
            answer = started.stdout.readline()
            answers.append(json.loads(answer) if answer else "hung up")
        with suppress(BrokenPipeError):
            started.stdin.close()
    return answers


def main() -> None:
    sessions: dict[str, list[dict[str, Any]]] = {}
    while True:
        message = read()
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            write(id=id, result={"protocolVersion": 1, "agentInfo": {"name": "user", "version": "1"}})
        elif method == "session/new":
            name = f"session-{len(sessions) + 1}"
            sessions[name] = params["mcpServers"]
            write(id=id, result={"sessionId": name})
        elif method == "session/prompt":
            orders = json.loads(params["prompt"][0]["text"])
            text = json.dumps(used(sessions[params["sessionId"]][-1], orders))
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
            write(method="session/update", params={"sessionId": params["sessionId"], "update": update})
            write(id=id, result={"stopReason": "end_turn"})


main()
