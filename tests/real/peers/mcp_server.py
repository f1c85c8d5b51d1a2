"""A small MCP server on stdio: `add` adds two numbers, `shout` says a word loudly, `greet` asks the user for a name
first."""

import json
import sys
from typing import Any

NAME_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NUMBER = {"type": "number"}
TOOLS = [
    {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
    },
    {
        "name": "shout",
        "description": "Says a word loudly.",
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
    {"name": "greet", "description": "Greets the user by name.", "inputSchema": {"type": "object"}},
]


def read() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()


def write(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def asked_of_the_user(message: str) -> Any:
    """What the user answers; the client has nothing else to say until then."""
    params = {"message": message, "requestedSchema": NAME_SCHEMA}
    write(id="ask-1", method="elicitation/create", params=params)
    while (answer := read()).get("id") != "ask-1":
        pass
    return answer["result"]


def call(name: str, arguments: dict[str, Any]) -> str:
    if name == "add":
        return str(arguments["a"] + arguments["b"])
    if name == "shout":
        return f"{str(arguments['word']).upper()}!"
    answer = asked_of_the_user("What is your name?")
    return (
        f"Hello, {answer['content']['name']}!" if answer["action"] == "accept" else "Hello, whoever you are!"
    )


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments") or {})}]}
    return {}


while True:
    request = read()
    if "id" in request:
        write(id=request["id"], result=result(request["method"], request.get("params") or {}))
