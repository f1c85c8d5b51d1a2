"""OpenAI's Chat Completions API, which many agents and gateways speak. Pure: a turn in, bytes out."""

import json
from collections.abc import Iterator
from typing import Any

from .api import Reply, pieces, sse
from .request import Request
from .script import Error, Native, Text, Thinking, ToolCall, Turn

NAME = "openai_chat"

FINISH_REASONS = {
    "end": "stop",
    "tool": "tool_calls",
    "length": "length",
    "refusal": "content_filter",
    "pause": "stop",
}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
DONE = b"data: [DONE]\n\n"
CREATED = 1_700_000_000


def answers(path: str) -> bool:
    return path.endswith("/chat/completions")


def aside(path: str, body: bytes) -> dict[str, Any] | None:
    return None


def read(path: str, body: dict[str, Any]) -> Request:
    messages = body.get("messages") or []
    return Request(
        api=NAME,
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system="\n".join(_texts(messages, ("system", "developer"))),
        texts=tuple(_texts(messages, ("user",))),
        messages=messages,
        tools=tuple((tool.get("function") or tool).get("name", "") for tool in body.get("tools") or ()),
        body=body,
    )


def _texts(messages: list[Any], roles: tuple[str, ...]) -> Iterator[str]:
    for message in messages:
        if message.get("role") not in roles:
            continue
        content = message.get("content")
        if isinstance(content, str):
            yield content
        else:
            yield from (part["text"] for part in content or () if part.get("type") == "text")


def whole(reply: Reply) -> dict[str, Any]:
    turn = reply.turn
    said = "".join(block.text for block in turn.content if isinstance(block, Text))
    thought = "".join(block.text for block in turn.content if isinstance(block, Thinking))
    calls = [
        {"id": id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
        for id, call in _calls(reply)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": said or None}
    message |= {"reasoning_content": thought} if thought else {}
    message |= {"tool_calls": calls} if calls else {}
    for block in turn.content:
        message |= block.block if isinstance(block, Native) else {}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn)}
    return {**_head(reply, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def stream(reply: Reply) -> list[bytes]:
    return [*map(sse, _chunks(reply)), DONE]


def failure(error: Error) -> dict[str, Any]:
    kind = error.type or ERROR_TYPES.get(error.status, "server_error")
    return {"error": {"message": error.message, "type": kind, "param": None, "code": error.type or None}}


def stream_failure(error: Error) -> bytes:
    return sse(failure(error))


def _chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    head = _head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for delta in _deltas(reply):
        yield chunk(delta)
    yield chunk({}, _finish_reason(reply.turn))
    yield {**head, "choices": [], "usage": _usage(reply.turn)}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    size = reply.turn.chunk
    calls = enumerate(_calls(reply))
    for block in reply.turn.content:
        match block:
            case Text(text):
                yield from ({"content": piece} for piece in pieces(text, size))
            case Thinking(text):
                yield from ({"reasoning_content": piece} for piece in pieces(text, size))
            case ToolCall(name):
                index, (id, call) = next(calls)
                first = {"index": index, "id": id, "type": "function"}
                yield {"tool_calls": [{**first, "function": {"name": name, "arguments": ""}}]}
                for piece in pieces(_arguments(call), size):
                    yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            case Native(native):
                yield native
            case _:
                pass  # there is no word for hidden reasoning here


def _calls(reply: Reply) -> list[tuple[str, ToolCall]]:
    calls = [block for block in reply.turn.content if isinstance(block, ToolCall)]
    return [(c.id or f"call_{number}", c) for number, c in zip(reply.calls, calls, strict=True)]


def _arguments(call: ToolCall) -> str:
    return call.raw or json.dumps(call.input, ensure_ascii=False)


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.message}", "object": kind, "created": CREATED, "model": reply.model}


def _finish_reason(turn: Turn) -> str:
    stop = turn.stop or ("tool" if any(isinstance(block, ToolCall) for block in turn.content) else "end")
    return FINISH_REASONS.get(stop, stop)


def _usage(turn: Turn) -> dict[str, Any]:
    """The prompt's count includes what was cached."""
    usage = turn.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }
