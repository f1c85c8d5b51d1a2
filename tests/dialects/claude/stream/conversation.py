"""A conversation with the machine of Claude Code, and the lines that the CLI writes."""

from typing import Any

from dragoman._model.frames import Launch
from tests.dialects import conversation
from tests.interpreted import strict_machine

SESSION = "11111111-1111-4111-8111-111111111111"


class Conversation(conversation.Conversation):
    def __init__(self, argv: list[str] | None = None, resume: str | None = None) -> None:
        launch = Launch(agent="claude", dialect="claude_stream", argv=argv or [], resume=resume)
        super().__init__(strict_machine("claude_stream"), launch)


def init(session: str = SESSION, version: str = "2.1.325", **fields: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "session_id": session,
        "model": "claude-opus-5-5",
        "claude_code_version": version,
        **fields,
    }


def text(said: str, id: str = "msg_1", session: str = SESSION, **fields: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "content": [{"type": "text", "text": said}]}
    return {"type": "assistant", "message": message, "session_id": session, **fields}


def tool_use(name: str, id: str = "toolu_1", message: str = "msg_1", **input: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": name, "input": input}
    return {"type": "assistant", "message": {"id": message, "content": [block]}, "session_id": SESSION}


def tool_result(content: Any, id: str = "toolu_1", is_error: bool = False, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": SESSION, **fields}


def result(said: str = "Done.", session: str = SESSION, **fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "result": said, "session_id": session, **fields}


def stream(event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "session_id": SESSION, **fields}


def can_use(name: str, id: str = "r1", call: str = "toolu_1", **input: Any) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": name, "tool_use_id": call, "input": input}
    return {"type": "control_request", "request_id": id, "request": request}
