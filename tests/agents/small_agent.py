"""A small agent that speaks ACP in earnest: `small_agent.py VERSION [needs-login]`.

A prompt is answered with its own text in capitals; "run X" asks for permission first; "wait" waits to be cancelled.
"""

import json
import sys
from typing import Any

VERSION = int(sys.argv[1])
NEEDS_LOGIN = "needs-login" in sys.argv
SESSIONS: list[str] = []


def write(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def update(session: str, kind: str, **fields: Any) -> None:
    write(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **fields}})


def say(session: str, text: str) -> None:
    for piece in (text[:3], text[3:]):
        update(session, "agent_message_chunk", content={"type": "text", "text": piece}, messageId="a")


def allowed(session: str, command: str) -> bool:
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    call = {"toolCallId": "c", "title": command, "kind": "execute", "rawInput": {"command": command}}
    subject = (
        {"toolCall": call}
        if VERSION == 1
        else {"title": command, "subject": {"type": "tool_call", "toolCall": call}}
    )
    write(
        id="ask",
        method="session/request_permission",
        params={"sessionId": session, "options": options, **subject},
    )
    while (answer := read()).get("id") != "ask":
        pass
    outcome: str | None = answer["result"]["outcome"].get("optionId")
    update(
        session,
        "tool_call_update",
        toolCallId="c",
        status="completed" if outcome == "allow_once" else "failed",
    )
    return outcome == "allow_once"


def turn(session: str, text: str) -> str:
    verb, _, rest = text.partition(" ")
    if verb == "wait":
        while read().get("method") != "session/cancel":
            pass
        return "cancelled"
    if verb == "run" and not allowed(session, rest):
        return "refusal"
    say(session, text.upper())
    return "end_turn"


def main() -> None:
    while True:
        request = read()
        method, params, id = request.get("method"), request.get("params", {}), request.get("id")
        if method == "initialize":
            info = {"name": "small", "version": "1"}
            shape = {"agentInfo": info} if VERSION == 1 else {"info": info}
            write(
                id=id,
                result={
                    "protocolVersion": VERSION,
                    "authMethods": [{"id": "x", "name": "Run `small login`"}],
                    **shape,
                },
            )
        elif method == "session/new" and NEEDS_LOGIN:
            write(id=id, error={"code": -32000, "message": "Authentication required"})
        elif method == "session/new":
            SESSIONS.append(f"s{len(SESSIONS) + 1}")
            modes = {
                "currentModeId": "default",
                "availableModes": [{"id": "default", "name": "D"}, {"id": "plan", "name": "P"}],
            }
            write(id=id, result={"sessionId": SESSIONS[-1], "modes": modes})
        elif method == "session/prompt":
            session = params["sessionId"]
            if VERSION == 2:
                write(id=id, result={"messageId": "u"})
                update(session, "state_update", state="running")
            reason = turn(session, params["prompt"][0]["text"])
            if VERSION == 2:
                update(session, "state_update", state="idle", stopReason=reason)
            else:
                write(id=id, result={"stopReason": reason})
        elif id is not None:
            write(id=id, result={})


main()
