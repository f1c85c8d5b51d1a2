"""A fake agent that speaks ACP: several sessions, one turn at a time."""

import os
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from dragoman._model.toolnames import kind_of, title_of
from dragoman.testing._fake_agent import steps as s
from dragoman.testing._fake_agent.speaker import (
    Call,
    Ended,
    Interrupted,
    Json,
    Prompted,
    Speaker,
    Verdict,
)

_METHOD_NOT_FOUND, _INTERNAL_ERROR = -32601, -32603
_OPTIONS: Final = {"allow_once": "Allow", "allow_always": "Always allow", "reject_once": "Reject"}
_WINDOW: Final = 200_000
_ANSWER: Final = "answer"
"""The only field of a form that asks a question."""


class AcpSpeaker(Speaker):
    """One run."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._folders: dict[str, str] = {}
        """Of the sessions, by id."""
        self._answers: dict[Any, Json] = {}
        self._cost = 0.0
        """Of all turns: that is how it is told."""
        self._replies: dict[str, Callable[[Json], Json]] = {
            "initialize": self._initialize,
            "session/new": lambda params: self._open(str(uuid4()), params),
            "session/load": lambda params: self._open(params["sessionId"], params),
            "session/close": lambda params: {},
        }

    def take(self, message: Json) -> None:
        if "method" not in message:
            self._answers[message["id"]] = message
            return
        id, method, params = message.get("id"), message["method"], message.get("params") or {}
        if method == "session/prompt":
            self.waiting.append(Prompted(_text_in(params["prompt"]), id, params["sessionId"]))
        elif method == "session/cancel":
            if self.prompt is not None and self.prompt.session == params["sessionId"]:
                raise Interrupted
        elif method in self._replies:
            self.send({"jsonrpc": "2.0", "id": id, "result": self._replies[method](params)})
        elif id is not None:
            error = {"code": _METHOD_NOT_FOUND, "message": f"a fake agent has no {method}"}
            self.send({"jsonrpc": "2.0", "id": id, "error": error})

    def _initialize(self, params: Json) -> Json:
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "fake", "version": "1"},
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"close": {}}},
            "authMethods": [],
        }

    def _open(self, session: str, params: Json) -> Json:
        self._folders[session] = params["cwd"]
        return {"sessionId": session}

    def _request(self, method: str, **params: Any) -> Json:
        id = self.new_id("request")
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": self._named(params)})
        while id not in self._answers:
            self.hear()
        return self._answers.pop(id)

    def _named(self, params: Json) -> Json:
        assert self.prompt is not None
        return {"sessionId": self.prompt.session, **params}

    def _tell(self, update: str, **fields: Any) -> None:
        params = self._named({"update": {"sessionUpdate": update, **fields}})
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    # --- a turn ------------------------------------------------------------------------------------------

    def begin(self, prompt: Prompted) -> None:
        self.cwd = self._folders[prompt.session]

    def end(self, prompt: Prompted, ended: Ended) -> None:
        spent, answer = self.spent, dict[str, Any]()
        total = spent.input_tokens + spent.output_tokens
        self._cost = round(self._cost + spent.cost_usd, 10)
        self._tell("usage_update", used=total, size=_WINDOW, cost={"amount": self._cost, "currency": "USD"})
        if ended.outcome == "failed":
            answer["error"] = {"code": _INTERNAL_ERROR, "message": ended.error}
        else:
            answer["result"] = {
                "stopReason": "cancelled" if ended.outcome == "cancelled" else "end_turn",
                "usage": {
                    "inputTokens": spent.input_tokens,
                    "outputTokens": spent.output_tokens,
                    "totalTokens": total,
                },
            }
        self.send({"jsonrpc": "2.0", "id": prompt.id, **answer})

    def say(self, text: str, pieces: list[str], *, thought: bool) -> None:
        id = self.new_id("message")
        kind = "agent_thought_chunk" if thought else "agent_message_chunk"
        for piece in pieces:
            self._tell(kind, content={"type": "text", "text": piece}, messageId=id)
            self.poll()

    def begin_call(self, call: Call) -> None:
        self._tell("tool_call", **_shown(call), status="pending")

    def end_call(self, call: Call, output: str, *, failed: bool) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        status = "failed" if failed else "completed"
        shown = [] if failed else _diff(call)
        self._tell("tool_call_update", toolCallId=call.id, status=status, content=[*shown, *content])

    def ask(self, call: Call) -> Verdict:
        options = [{"optionId": kind, "name": name, "kind": kind} for kind, name in _OPTIONS.items()]
        said = self._request("session/request_permission", toolCall=_shown(call), options=options)
        outcome = (said.get("result") or {}).get("outcome") or {"outcome": "cancelled"}
        if outcome["outcome"] == "cancelled":
            raise Interrupted
        return Verdict(outcome["optionId"].startswith("allow"))

    def question(self, step: s.AsksUser) -> dict[str, Any] | None:
        field: Json = {"type": "string", "title": step.question}
        if step.options:
            field["enum"] = list(step.options)
        schema = {"type": "object", "properties": {_ANSWER: field}, "required": [_ANSWER]}
        said = self._request("elicitation/create", mode="form", message=step.question, requestedSchema=schema)
        result = said.get("result") or {}
        return dict(result.get("content") or {}) if result.get("action") == "accept" else None


def _shown(call: Call) -> Json:
    shown: Json = {
        "toolCallId": call.id,
        "name": call.tool,
        "title": title_of(call.tool, call.input) or call.tool,
        "kind": kind_of(call.tool),
        "rawInput": call.input,
    }
    if call.change is not None:
        shown |= {"locations": [{"path": call.input["file_path"]}], "content": _diff(call)}
    return shown


def _diff(call: Call) -> list[Json]:
    if call.change is None:
        return []
    before, after = call.change
    path = os.fspath(call.input["file_path"])
    return [{"type": "diff", "path": path, "oldText": before, "newText": after}]


def _text_in(blocks: list[Json]) -> str:
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")
