"""An agent that speaks ACP and, on every prompt, asks its client for all that it can ask: a permission (without an
input, as some agents do), a file to read, a file to write, an answer to a question. Then it says what it was told.
"""

import json
import os
import sys
from collections import deque
from typing import Any

FOLDERS: dict[str, str] = {}
"""The sessions' folders, by their ids."""
WAITING: deque[Any] = deque()
"""What came while an answer was waited for."""
OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def write(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def update(session: str, name: str, /, **fields: Any) -> None:
    write(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": name, **fields}})


def ask(session: str, method: str, **params: Any) -> Any:
    """The answer, or the error."""
    write(id=method, method=method, params={"sessionId": session, **params})
    while (answer := read()).get("id") != method or "method" in answer:
        WAITING.append(answer)
    return answer.get("result", answer.get("error"))


def turn(session: str) -> None:
    file = os.path.join(FOLDERS[session], "asked.txt")
    call = {"toolCallId": "c", "title": "Look around", "kind": "execute", "status": "pending"}
    update(session, "tool_call", **call)
    told = [
        ask(session, "session/request_permission", toolCall=call, options=OPTIONS),
        ask(session, "fs/write_text_file", path=file, content="asked\n"),
        ask(session, "fs/read_text_file", path=file),
        ask(session, "elicitation/create", mode="form", message="Your name?", requestedSchema=SCHEMA),
    ]
    update(session, "tool_call_update", toolCallId="c", status="completed")
    update(session, "agent_message_chunk", content={"type": "text", "text": json.dumps(told)})


def main() -> None:
    while True:
        message = WAITING.popleft() if WAITING else read()
        method, params, id = message.get("method"), message.get("params", {}), message.get("id")
        if method == "initialize":
            write(id=id, result={"protocolVersion": 1, "agentInfo": {"name": "asker", "version": "1"}})
        elif method == "session/new":
            session = f"asker-{len(FOLDERS) + 1}"
            FOLDERS[session] = params["cwd"]
            write(id=id, result={"sessionId": session})
        elif method == "session/prompt":
            turn(params["sessionId"])
            write(id=id, result={"stopReason": "end_turn"})
        elif method is not None and id is not None:
            write(id=id, result={})


main()
