"""The OpenAI Responses API, as Codex calls it. Pure: a turn in, bytes out.

Three things that scripts say in one way and this API in several, told by the name of the tool:
`tool("apply_patch", input="*** Begin Patch…")` is a custom call, whose input is plain text; `tool("mcp__files__read",
…)` and `tool("multi_agent_v1.spawn_agent", …)` are calls in a namespace; everything else is a function.
"""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from .api import Reply, pieces, sse
from .request import Request
from .script import AnyBlock, Error, Native, RedactedThinking, Text, Thinking, ToolCall, Usage

NAME = "openai_responses"

CUSTOM_TOOLS = frozenset({"apply_patch", "exec"})
INCOMPLETE = {"length": "max_output_tokens", "refusal": "content_filter"}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_exceeded",
}
# Codex's own words when it asks for the summary that replaces a conversation (0.166.0).
SUMMARY_PROMPT = "CONTEXT CHECKPOINT COMPACTION"

Events = Iterator[dict[str, Any]]


def answers(path: str) -> bool:
    return path == "/v1/responses"


def aside(path: str, body: bytes) -> dict[str, Any] | None:
    return None


def read(path: str, body: dict[str, Any]) -> Request:
    items = body.get("input") or []
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    texts = tuple(t for item in items if item.get("role") == "user" for t in _texts(item.get("content")))
    return Request(
        api=NAME,
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system=body.get("instructions") or "",
        texts=texts,
        messages=items,
        tools=tuple(t.get("name") or t.get("type", "") for t in body.get("tools") or ()),
        schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        wants_summary=bool(texts) and SUMMARY_PROMPT in texts[-1],
        body=body,
    )


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if isinstance(part, dict) and "text" in part]


def whole(reply: Reply) -> dict[str, Any]:
    return _finished(reply)


def stream(reply: Reply) -> list[bytes]:
    numbers = count()
    return [
        sse({**event, "sequence_number": number}, event["type"])
        for event, number in zip(_events(reply), numbers, strict=False)
    ]


def failure(error: Error) -> dict[str, Any]:
    kind = error.type or ERROR_TYPES.get(error.status, "server_error")
    return {"error": {"type": kind, "code": kind, "message": error.message}}


def stream_failure(error: Error) -> bytes:
    said = failure(error)["error"]
    response = {"id": "resp_failed", "object": "response", "status": "failed", "error": said}
    return sse({"type": "response.failed", "response": response}, "response.failed")


def _events(reply: Reply) -> Events:
    turn = reply.turn
    yield {"type": "response.created", "response": _response(reply, status="in_progress")}
    for index, (block, item) in enumerate(zip(turn.content, _items(reply), strict=True)):
        for event in _streamed(block, item, turn.chunk):
            yield {**event, "output_index": index}
    finished = _finished(reply)
    yield {"type": f"response.{finished['status']}", "response": finished}


def _finished(reply: Reply) -> dict[str, Any]:
    turn = reply.turn
    reason = INCOMPLETE.get(turn.stop)
    status = "incomplete" if reason else "completed"
    details = {"incomplete_details": {"reason": reason}} if reason else {}
    return _response(reply, status=status, **details, output=_items(reply), usage=_usage(turn.usage))


def _response(reply: Reply, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"resp_{reply.message}",
        "object": "response",
        "model": reply.model,
        "output": [],
        "error": None,
        **fields,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + usage.output,
    }


# --- items -------------------------------------------------------------------------------------------------


def _items(reply: Reply) -> list[dict[str, Any]]:
    calls = iter(reply.calls)
    return [
        _item(block, f"{reply.message}_{place}", next(calls) if isinstance(block, ToolCall) else "")
        for place, block in enumerate(reply.turn.content)
    ]


def _item(block: AnyBlock, number: str, call: str) -> dict[str, Any]:
    match block:
        case Text(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        case Thinking(text, signature):
            summary = [{"type": "summary_text", "text": text}]
            return {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": summary,
                "encrypted_content": signature,
            }
        case RedactedThinking(data):
            return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": data}
        case ToolCall():
            return _call(block, number, call)
        case Native(native):
            return native


def _call(block: ToolCall, number: str, call: str) -> dict[str, Any]:
    space, name = _namespace(block.name)
    item = {"call_id": block.id or f"call_{call}", "name": name, "status": "completed"}
    if name in CUSTOM_TOOLS and not space:
        text = block.raw or str(block.input.get("input", ""))
        return {"type": "custom_tool_call", "id": f"ctc_{number}", **item, "input": text}
    arguments = block.raw or json.dumps(block.input, ensure_ascii=False)
    within = {"namespace": space} if space else {}
    return {"type": "function_call", "id": f"fc_{number}", **item, **within, "arguments": arguments}


def _namespace(name: str) -> tuple[str, str]:
    if name.startswith("mcp__"):
        space, _, tool = name.rpartition("__")
        return space, tool
    space, _, tool = name.rpartition(".")
    return space, tool


def _streamed(block: AnyBlock, item: dict[str, Any], size: int) -> Events:
    """How an item is streamed: empty at first, then its deltas, then whole."""
    begun, deltas = _parts(block, item, size)
    yield {"type": "response.output_item.added", "item": begun}
    for delta in deltas:
        yield {**delta, "item_id": item.get("id")}
    yield {"type": "response.output_item.done", "item": item}


def _parts(block: AnyBlock, item: dict[str, Any], size: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    going = {**item, "status": "in_progress"}
    match block:
        case Text(text):
            return {**going, "content": []}, _text_parts(text, size)
        case Thinking(text):
            return {**item, "summary": []}, _summary_parts(text, size)
        case ToolCall() if item["type"] == "custom_tool_call":
            return {**going, "input": ""}, _input_parts(
                "custom_tool_call_input", "input", item["input"], size
            )
        case ToolCall():
            parts = _input_parts("function_call_arguments", "arguments", item["arguments"], size)
            return {**going, "arguments": ""}, parts
        case _:
            return item, []


def _text_parts(text: str, size: int) -> list[dict[str, Any]]:
    begun, done = ({"type": "output_text", "text": said, "annotations": []} for said in ("", text))
    parts: list[dict[str, Any]] = [
        {"type": "response.content_part.added", "part": begun},
        *({"type": "response.output_text.delta", "delta": piece} for piece in pieces(text, size)),
        {"type": "response.output_text.done", "text": text},
        {"type": "response.content_part.done", "part": done},
    ]
    return [{**part, "content_index": 0} for part in parts]


def _summary_parts(text: str, size: int) -> list[dict[str, Any]]:
    begun, done = ({"type": "summary_text", "text": said} for said in ("", text))
    name = "response.reasoning_summary"
    parts: list[dict[str, Any]] = [
        {"type": f"{name}_part.added", "part": begun},
        *({"type": f"{name}_text.delta", "delta": piece} for piece in pieces(text, size)),
        {"type": f"{name}_text.done", "text": text},
        {"type": f"{name}_part.done", "part": done},
    ]
    return [{**part, "summary_index": 0} for part in parts]


def _input_parts(what: str, field: str, text: str, size: int) -> list[dict[str, Any]]:
    parts = [{"type": f"response.{what}.delta", "delta": piece} for piece in pieces(text, size)]
    return [*parts, {"type": f"response.{what}.done", field: text}]
