"""The Gemini API, as Gemini CLI calls it. Pure: a turn in, bytes out."""

import re
from typing import Any

from .api import Reply, pieces, sse
from .request import Request
from .script import AnyBlock, Error, Native, RedactedThinking, Text, Thinking, ToolCall, Turn

NAME = "gemini"

FINISH_REASONS = {"end": "STOP", "tool": "STOP", "pause": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
NO_FINISH = "none"
"""As a turn's `stop`: the stream ends without a word, which the CLI takes for a failure and tries again."""
STATUS_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
PATH = re.compile(r"/v1(?:beta\d?|alpha)?/models/(?P<model>[^/:]+):(?P<verb>\w+)")
# Gemini CLI's own words when it asks for the summary that replaces a conversation (0.61.0).
SUMMARY_PROMPT = "<state_snapshot>"


def answers(path: str) -> bool:
    return _verb(path) in ("streamGenerateContent", "generateContent")


def aside(path: str, body: bytes) -> dict[str, Any] | None:
    if _verb(path) == "countTokens":
        return {"totalTokens": max(1, len(body) // 4)}
    return None


def read(path: str, body: dict[str, Any]) -> Request:
    contents = body.get("contents") or []
    texts = tuple(t for c in contents if c.get("role") == "user" for t in _texts(c))
    tools = tuple(
        declared.get("name", "")
        for tool in body.get("tools") or ()
        for declared in tool.get("functionDeclarations") or ()
    )
    match = PATH.fullmatch(path)
    form = body.get("generationConfig") or {}
    return Request(
        api=NAME,
        model=match["model"] if match is not None else "",
        stream=_verb(path) == "streamGenerateContent",
        system="\n".join(_texts(body.get("systemInstruction") or {})),
        texts=texts,
        messages=contents,
        tools=tools,
        schema=form.get("responseJsonSchema") or form.get("responseSchema"),
        wants_summary=not tools and bool(texts) and SUMMARY_PROMPT in texts[-1],
        body=body,
    )


def _verb(path: str) -> str:
    match = PATH.fullmatch(path)
    return match["verb"] if match is not None else ""


def _texts(content: dict[str, Any]) -> list[str]:
    return [part["text"] for part in content.get("parts") or () if isinstance(part.get("text"), str)]


def whole(reply: Reply) -> dict[str, Any]:
    return _answer(reply, [part for parts in _parts(reply, size=0) for part in parts], last=True)


def stream(reply: Reply) -> list[bytes]:
    """One event for each piece; the last one says why it ended and what it took."""
    groups = _parts(reply, reply.turn.chunk) or [[]]
    last = len(groups) - 1
    return [sse(_answer(reply, parts, last=index == last)) for index, parts in enumerate(groups)]


def failure(error: Error) -> dict[str, Any]:
    word = error.type or STATUS_WORDS.get(error.status, "UNKNOWN")
    return {"error": {"code": error.status, "message": error.message, "status": word}}


def stream_failure(error: Error) -> bytes:
    return sse(failure(error))


def _answer(reply: Reply, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    turn = reply.turn
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if last and turn.stop != NO_FINISH:
        candidate["finishReason"] = FINISH_REASONS.get(turn.stop or "end", turn.stop)
    answer = {"candidates": [candidate], "modelVersion": reply.model, "responseId": f"resp_{reply.message}"}
    return {**answer, "usageMetadata": _usage(turn)} if last else answer


def _usage(turn: Turn) -> dict[str, int]:
    """The prompt's count includes what was cached; thoughts are counted beside the answer, by their words."""
    usage = turn.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    thoughts = sum(len(block.text.split()) for block in turn.content if isinstance(block, Thinking))
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output,
        **({"thoughtsTokenCount": thoughts} if thoughts else {}),
        "totalTokenCount": prompt + usage.output + thoughts,
    }


def _parts(reply: Reply, size: int) -> list[list[dict[str, Any]]]:
    """The parts of an answer as they are streamed: text in pieces, neighbouring calls together."""
    ids = iter(reply.calls)
    groups: list[list[dict[str, Any]]] = []
    for block in reply.turn.content:
        if isinstance(block, ToolCall) and groups and "functionCall" in groups[-1][-1]:
            groups[-1].append(_part(block, next(ids)))
        elif isinstance(block, Text) and size:
            groups += [[{"text": piece}] for piece in pieces(block.text, size)]
        else:
            groups.append([_part(block, next(ids) if isinstance(block, ToolCall) else "")])
    return groups


def _part(block: AnyBlock, number: str) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"text": text}
        case Thinking(text, signature):
            return {"text": text, "thought": True, "thoughtSignature": signature}
        case RedactedThinking(data):
            return {"text": "", "thought": True, "thoughtSignature": data}
        case ToolCall(name, input, id):
            # With an id of our own the CLI's ids (`<name>__<id>`) are the same in every run.
            return {"functionCall": {"id": id or f"call_{number}", "name": name, "args": input}}
        case Native(native):
            return native
