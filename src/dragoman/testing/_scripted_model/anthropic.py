"""The Anthropic Messages API, as Claude Code calls it. Pure: a turn in, bytes out."""

import json
from collections.abc import Iterator
from typing import Any

from .api import Reply, pieces, sse
from .request import Request
from .script import AnyBlock, Error, Native, RedactedThinking, Text, Thinking, ToolCall, Turn, Usage

NAME = "anthropic"

STOP_REASONS = {"end": "end_turn", "tool": "tool_use", "length": "max_tokens", "pause": "pause_turn"}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
# Claude Code's own words when it asks for the summary that replaces a conversation (2.1.197 and 2.1.325).
SUMMARY_PROMPT = "Your task is to create a detailed summary"


def answers(path: str) -> bool:
    return path == "/v1/messages"


def aside(path: str, body: bytes) -> dict[str, Any] | None:
    if path == "/v1/messages/count_tokens":
        return {"input_tokens": max(1, len(body) // 4)}
    return None


def read(path: str, body: dict[str, Any]) -> Request:
    messages = body.get("messages") or []
    texts = tuple(t for m in messages if m.get("role") == "user" for t in _texts(m.get("content")))
    return Request(
        api=NAME,
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system="\n".join(_texts(body.get("system"))),
        texts=texts,
        messages=messages,
        tools=tuple(t.get("name", "") for t in body.get("tools") or ()),
        wants_summary=bool(texts) and SUMMARY_PROMPT in texts[-1],
        body=body,
    )


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [b["text"] for b in content or () if isinstance(b, dict) and b.get("type") == "text"]


def whole(reply: Reply) -> dict[str, Any]:
    turn = reply.turn
    return _message(
        reply,
        content=_content(reply),
        stop_reason=_stop_reason(turn),
        usage=_usage(turn.usage, turn.usage.output),
    )


def stream(reply: Reply) -> list[bytes]:
    return [sse(event, event["type"]) for event in _events(reply)]


def failure(error: Error) -> dict[str, Any]:
    kind = error.type or ERROR_TYPES.get(error.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}}


def stream_failure(error: Error) -> bytes:
    return sse(failure(error), "error")


def _events(reply: Reply) -> Iterator[dict[str, Any]]:
    turn = reply.turn
    # The first usage knows the prompt but hardly any output yet; the last event has the true count.
    yield {"type": "message_start", "message": _message(reply, content=[], usage=_usage(turn.usage, 1))}
    yield {"type": "ping"}
    for index, (block, native) in enumerate(zip(turn.content, _content(reply), strict=True)):
        start, deltas = _streamed(block, native, turn.chunk)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(turn), "stop_sequence": None},
        "usage": {"output_tokens": turn.usage.output},
    }
    yield {"type": "message_stop"}


def _message(reply: Reply, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.message}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "stop_reason": None,
        "stop_sequence": None,
        **fields,
    }


def _usage(usage: Usage, output: int) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
    }


def _stop_reason(turn: Turn) -> str:
    stop = turn.stop or ("tool" if any(isinstance(b, ToolCall) for b in turn.content) else "end")
    return STOP_REASONS.get(stop, stop)


def _content(reply: Reply) -> list[dict[str, Any]]:
    ids = iter(reply.calls)
    return [_block(b, next(ids) if isinstance(b, ToolCall) else "") for b in reply.turn.content]


def _block(block: AnyBlock, number: str) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case ToolCall(name, input, id):
            return {"type": "tool_use", "id": id or f"toolu_{number}", "name": name, "input": input}
        case Native(native):
            return native


def _streamed(
    block: AnyBlock, native: dict[str, Any], size: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block is streamed: empty at first, then its deltas."""
    match block:
        case Text(text):
            return {**native, "text": ""}, [{"type": "text_delta", "text": p} for p in pieces(text, size)]
        case Thinking(text, signature):
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(text, size)]
            deltas.append({"type": "signature_delta", "signature": signature})
            return {**native, "thinking": "", "signature": ""}, deltas
        case ToolCall(_, input, _, raw):
            words = raw or json.dumps(input, ensure_ascii=False)
            parts = ["", *pieces(words, size)]
            return {**native, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in parts]
        case _:
            return native, []
