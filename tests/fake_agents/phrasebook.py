"""What a correct start, a text, a tool, a permission and an end look like, in each dialect.

Every phrase is a list of lines, to be said by a mouth. `begin` says the opening and comes back once prompted.
"""

import json
import os
import sys
from typing import Any, ClassVar


def line(**message: Any) -> bytes:
    return json.dumps(message).encode()


def heard() -> dict[str, Any]:
    """The next line on stdin; exits where there is no more."""
    said = sys.stdin.buffer.readline()
    if not said:
        sys.exit(0)
    message: dict[str, Any] = json.loads(said)
    return message


class Mouth:
    """Writes, and keeps count in a side file: bytes of stdout and of stderr that it was about to write, and of those
    the ones that it has written."""

    def __init__(self, ledger: str, times: int = 1) -> None:
        self.times = times
        """How often each line is said."""
        self._counts = [0, 0, 0, 0]
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT, 0o600)

    def say(self, lines: list[bytes]) -> None:
        self.raw(b"".join(text + b"\n" for text in lines for _ in range(self.times)))

    def raw(self, data: bytes) -> None:
        self._write(1, data)

    def complain(self, data: bytes) -> None:
        self._write(2, data)

    def _write(self, fd: int, data: bytes) -> None:
        self._count(fd - 1, len(data))
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        self._count(fd + 1, len(data))

    def _count(self, place: int, size: int) -> None:
        self._counts[place] += size
        os.pwrite(self._ledger, b"%15d %15d %15d %15d" % tuple(self._counts), 0)


class ClaudeStream:
    session = sys.argv[sys.argv.index("--session-id") + 1] if "--session-id" in sys.argv else "s-1"

    def begin(self, mouth: Mouth) -> None:
        while heard()["type"] != "user":
            pass
        facts = {"cwd": "/x", "tools": [], "mcp_servers": [], "model": "m", "permissionMode": "default"}
        mouth.say([line(type="system", subtype="init", session_id=self.session, uuid="u-0", **facts)])

    def _assistant(self, id: str, block: dict[str, Any]) -> bytes:
        message = {"id": id, "role": "assistant", "model": "m", "content": [block]}
        return line(type="assistant", message=message, parent_tool_use_id=None, session_id=self.session)

    def text(self, text: str, id: str = "1") -> list[bytes]:
        return [self._assistant(f"m-{id}", {"type": "text", "text": text})]

    def tool(self, id: str) -> list[bytes]:
        call = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}
        return [self._assistant(f"m-{id}", call)]

    def tool_ended(self, id: str) -> list[bytes]:
        content = [{"type": "tool_result", "tool_use_id": id, "content": "made"}]
        return [line(type="user", message={"role": "user", "content": content}, session_id=self.session)]

    def permission(self, id: str) -> list[bytes]:
        what = {"tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": id}
        return [
            line(type="control_request", request_id=f"p-{id}", request={"subtype": "can_use_tool", **what})
        ]

    def is_answer(self, message: dict[str, Any]) -> bool:
        return bool(message["type"] == "control_response")

    def is_interrupt(self, message: dict[str, Any]) -> bool:
        return bool(message.get("request", {}).get("subtype") == "interrupt")

    def interrupted(self, message: dict[str, Any]) -> list[bytes]:
        done = {"subtype": "success", "request_id": message["request_id"]}
        what = {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_tools"}
        end = {**what, "session_id": self.session, "errors": [], "num_turns": 1}
        return [line(type="control_response", response=done), line(type="result", **end)]

    def end(self) -> list[bytes]:
        numbers = {"duration_ms": 5, "duration_api_ms": 5, "num_turns": 1, "total_cost_usd": 0.01}
        what = {"subtype": "success", "is_error": False, "result": "done", "session_id": self.session}
        return [line(type="result", **what, **numbers)]


class Rpc:
    """Answers the requests that open a conversation, the last of which is the prompt."""

    prompt: ClassVar[str]
    head: ClassVar[dict[str, str]] = {}
    results: ClassVar[dict[str, Any]]
    asked: Any = None
    """The id of the prompt's request."""

    def begin(self, mouth: Mouth) -> None:
        while self.asked is None:
            message = heard()
            if message.get("method") == self.prompt:
                self.asked = message["id"]
            elif "id" in message:
                mouth.say([self.answer(message["id"], self.results.get(message["method"], {}))])

    def answer(self, id: Any, result: Any) -> bytes:
        return line(**self.head, id=id, result=result)

    def news(self, method: str, **params: Any) -> bytes:
        return line(**self.head, method=method, params=params)

    def ask(self, id: str, method: str, **params: Any) -> bytes:
        return line(**self.head, id=id, method=method, params=params)

    def is_answer(self, message: dict[str, Any]) -> bool:
        return "method" not in message


class CodexApp(Rpc):
    prompt = "turn/start"
    results: ClassVar[dict[str, Any]] = {
        "initialize": {"userAgent": "codex/0.166.0"},
        "thread/start": {"thread": {"id": "t-1", "turns": []}, "model": "m", "cwd": "/x"},
    }

    def begin(self, mouth: Mouth) -> None:
        super().begin(mouth)
        turn = {"id": "turn-1", "items": [], "status": "inProgress"}
        mouth.say([self.answer(self.asked, {"turn": turn}), self.about("turn/started", turn=turn)])

    def about(self, method: str, **params: Any) -> bytes:
        return self.news(method, threadId="t-1", **params)

    def text(self, text: str, id: str = "1") -> list[bytes]:
        item = {"type": "agentMessage", "id": f"m-{id}", "text": text}
        return [self.about("item/completed", turnId="turn-1", item=item)]

    def _command(self, id: str, status: str, **more: Any) -> dict[str, Any]:
        return {
            "type": "commandExecution",
            "id": id,
            "command": "make",
            "cwd": "/x",
            "status": status,
            **more,
        }

    def tool(self, id: str) -> list[bytes]:
        return [self.about("item/started", turnId="turn-1", item=self._command(id, "inProgress"))]

    def tool_ended(self, id: str) -> list[bytes]:
        item = self._command(id, "completed", aggregatedOutput="made", exitCode=0)
        return [self.about("item/completed", turnId="turn-1", item=item)]

    def permission(self, id: str) -> list[bytes]:
        what = {"threadId": "t-1", "turnId": "turn-1", "itemId": id, "command": "make", "cwd": "/x"}
        return [self.ask(f"p-{id}", "item/commandExecution/requestApproval", **what)]

    def end(self) -> list[bytes]:
        return [self.about("turn/completed", turn={"id": "turn-1", "items": [], "status": "completed"})]


class Acp(Rpc):
    prompt = "session/prompt"
    head: ClassVar[dict[str, str]] = {"jsonrpc": "2.0"}
    results: ClassVar[dict[str, Any]] = {
        "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
        "session/new": {"sessionId": "s-1"},
    }

    def _update(self, change: str, **update: Any) -> list[bytes]:
        return [self.news("session/update", sessionId="s-1", update={"sessionUpdate": change, **update})]

    def text(self, text: str, id: str = "1") -> list[bytes]:
        content = {"type": "text", "text": text}
        return self._update("agent_message_chunk", content=content, messageId=f"m-{id}")

    def tool(self, id: str) -> list[bytes]:
        what = {"title": "make", "kind": "execute", "status": "pending", "rawInput": {"command": "make"}}
        return self._update("tool_call", toolCallId=id, **what)

    def tool_ended(self, id: str) -> list[bytes]:
        return self._update("tool_call_update", toolCallId=id, status="completed")

    def permission(self, id: str) -> list[bytes]:
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        call = {"toolCallId": id, "title": "make", "kind": "execute"}
        what = {"sessionId": "s-1", "toolCall": call, "options": options}
        return [self.ask(f"p-{id}", "session/request_permission", **what)]

    def end(self) -> list[bytes]:
        return [self.answer(self.asked, {"stopReason": "end_turn"})]


class CodexExec:
    def begin(self, mouth: Mouth) -> None:
        mouth.say([line(type="thread.started", thread_id="t-1"), line(type="turn.started")])

    def text(self, text: str, id: str = "1") -> list[bytes]:
        return [line(type="item.completed", item={"id": f"m-{id}", "type": "agent_message", "text": text})]

    def _command(self, id: str, **more: Any) -> dict[str, Any]:
        return {"id": id, "type": "command_execution", "command": "make", **more}

    def tool(self, id: str) -> list[bytes]:
        return [line(type="item.started", item=self._command(id, status="in_progress"))]

    def tool_ended(self, id: str) -> list[bytes]:
        item = self._command(id, aggregated_output="made", exit_code=0, status="completed")
        return [line(type="item.completed", item=item)]

    def end(self) -> list[bytes]:
        return [line(type="turn.completed", usage={"input_tokens": 5, "output_tokens": 1})]


class GeminiStream:
    def begin(self, mouth: Mouth) -> None:
        mouth.say(
            [
                line(type="init", session_id="s-1", model="m"),
                line(type="message", role="user", content="go"),
            ]
        )

    def text(self, text: str, id: str = "1") -> list[bytes]:
        return [line(type="message", role="assistant", content=text, delta=True)]

    def tool(self, id: str) -> list[bytes]:
        what = {"tool_name": "run_shell_command", "parameters": {"command": "make"}}
        return [line(type="tool_use", tool_id=id, **what)]

    def tool_ended(self, id: str) -> list[bytes]:
        return [line(type="tool_result", tool_id=id, status="success", output="made")]

    def end(self) -> list[bytes]:
        return [line(type="result", status="success", stats={"total_tokens": 6})]


SPEAKERS: dict[str, Any] = {
    "claude_stream": ClaudeStream,
    "codex_app": CodexApp,
    "acp": Acp,
    "codex_exec": CodexExec,
    "gemini_stream": GeminiStream,
}
