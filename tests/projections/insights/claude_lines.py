"""What Claude writes, for tests; and how it is seen."""

from typing import Any

from tests.projections.projected import bare, seen

S = {"session_id": "s"}
INIT = {
    "type": "system",
    "subtype": "init",
    **S,
    "cwd": "/p",
    "tools": ["Bash", "Read"],
    "model": "m",
    "mcp_servers": [{"name": "db", "status": "connected"}],
    "permissionMode": "default",
    "slash_commands": ["/help"],
    "apiKeySource": "user",
    "output_style": "default",
}


def assistant(*content: dict[str, Any], parent: str | None = None, **message: Any) -> dict[str, Any]:
    inner = {"role": "assistant", "model": "m", "content": list(content), **message}
    return {"type": "assistant", **S, "message": inner, "parent_tool_use_id": parent}


def user(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "user", **S, "message": {"role": "user", "content": list(content)}, **fields}


def use(id: str, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def claude(*lines: dict[str, Any], profile: Any = "seed", native: bool = False) -> list[dict[str, Any]]:
    """What is said after the init."""
    items = seen("insights", [INIT, *lines], "claude_stream", profile=profile, native=native)
    return bare(items, "provider", "raw")[1:]


def stream(**event: Any) -> dict[str, Any]:
    return {"type": "stream_event", **S, "event": event, "parent_tool_use_id": None}


STREAM = [
    stream(type="message_start", message={"id": "msg_1", "model": "m", "usage": {}}),
    stream(type="content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
    stream(type="content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}),
    stream(type="content_block_stop", index=0),
    stream(type="content_block_start", index=1, content_block={"type": "text", "text": ""}),
    stream(type="content_block_delta", index=1, delta={"type": "text_delta", "text": "Hi"}),
    stream(type="content_block_stop", index=1),
    stream(
        type="content_block_start", index=2, content_block={"type": "tool_use", "id": "t1", "name": "Bash"}
    ),
    stream(type="content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": "{}"}),
    stream(type="content_block_stop", index=2),
    stream(type="message_delta", delta={"stop_reason": "tool_use"}, usage={}),
    stream(type="message_stop"),
]
