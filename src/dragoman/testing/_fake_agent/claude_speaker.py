"""A fake agent that speaks as Claude Code does (stream-json): one session, and everything that can be asked of it."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from dragoman._model.tools import SERVER
from dragoman._runtime.process.played import Stage
from dragoman.testing._fake_agent import steps as s
from dragoman.testing._fake_agent.speaker import (
    MODEL,
    Call,
    Ended,
    Heard,
    Interrupted,
    Json,
    Prompted,
    Speaker,
    Verdict,
)

_RESULTS = {
    "completed": {"subtype": "success", "is_error": False, "terminal_reason": "completed"},
    "failed": {"subtype": "error_during_execution", "is_error": True},
    "cancelled": {
        "subtype": "error_during_execution",
        "is_error": True,
        "terminal_reason": "aborted_streaming",
    },
}
"""What a result says of how its turn ended."""


class ClaudeSpeaker(Speaker):
    """One run."""

    def __init__(
        self,
        stage: Stage,
        steps_for: Callable[[str], s.Steps],
        heard: Heard,
        cwd: str,
        *,
        session: str,
        mode: str,
        model: str | None,
    ) -> None:
        super().__init__(stage, steps_for, heard, cwd)
        self._session, self._mode, self._model = session, mode, model or MODEL
        self._answers: dict[str, Json] = {}
        self._taken: list[str] = []
        """The messages that the open turn has taken."""
        self._cost = 0.0
        """Of all turns: that is how Claude Code counts."""
        self._own: set[str] | None = None
        """The tools of the program's; None while they are not known."""
        self._has_own = False

    # --- what it is told ---------------------------------------------------------------------------------

    def take(self, message: Json) -> None:
        if message["type"] == "control_response":
            response = message["response"]
            self._answers[response["request_id"]] = response
        elif message["type"] == "control_request":
            self._control(message["request_id"], message["request"])
        elif message["type"] == "user":
            content = message["message"]["content"]
            text = content if isinstance(content, str) else _text_in(content)
            if self.prompt is None:
                self.waiting.append(Prompted(text, message.get("uuid"), self._session))
            else:
                self.heard.steers.append(text)
                self._echo(text, message.get("uuid"))

    def _control(self, id: str, request: Json) -> None:
        subtype: str = request["subtype"]
        answer: Json = {}
        if subtype == "initialize":
            self._has_own = SERVER in (request.get("sdkMcpServers") or ())
            answer = {"commands": [], "models": [], "account": {}}
        elif subtype == "set_permission_mode":
            self._mode = request["mode"]
        elif subtype == "set_model":
            self._model = request["model"] or MODEL
        elif subtype == "mcp_status":
            answer = {"mcpServers": []}
        self.send(
            {
                "type": "control_response",
                "response": {"subtype": "success", "request_id": id, "response": answer},
            }
        )
        if subtype == "interrupt" and self.prompt is not None:
            raise Interrupted

    def _request(self, subtype: str, **fields: Any) -> Json:
        """Ask something and wait for the answer."""
        id = str(uuid4())
        request = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": id, "request": request})
        try:
            while id not in self._answers:
                self.hear()
        except Interrupted:
            self.send({"type": "control_cancel_request", "request_id": id})
            raise
        return self._answers.pop(id)

    # --- a turn ------------------------------------------------------------------------------------------

    def begin(self, prompt: Prompted) -> None:
        self._taken = []
        self._tell(
            type="system",
            subtype="init",
            cwd=self.cwd,
            tools=[],
            mcp_servers=[],
            model=self._model,
            permissionMode=self._mode,
            slash_commands=[],
        )
        self._echo(prompt.text, prompt.id)

    def _echo(self, text: str, uuid: str | None) -> None:
        self._taken += [uuid] if uuid is not None else []
        self._tell(type="user", message={"role": "user", "content": text}, uuid=uuid, isReplay=True)

    def end(self, prompt: Prompted, ended: Ended) -> None:
        spent = self.spent
        self._cost = round(self._cost + spent.cost_usd, 10)
        usage = {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
        model = {
            "inputTokens": spent.input_tokens,
            "outputTokens": spent.output_tokens,
            "costUSD": spent.cost_usd,
        }
        self._tell(
            type="result",
            **_RESULTS[ended.outcome],
            **({"result": self.text} if ended.outcome == "completed" else {}),
            errors=[ended.error] if ended.error is not None else [],
            usage=usage,
            total_cost_usd=self._cost,
            model_usage_since_last_result={self._model: model},
            permission_denials=[
                {"tool_name": call.tool, "tool_use_id": call.id, "tool_input": call.input}
                for call in self.denied
            ],
            num_turns=1,
            user_message_uuids=self._taken,
        )

    def say(self, text: str, pieces: list[str], *, thought: bool) -> None:
        kind = "thinking" if thought else "text"
        self._message(
            {"type": kind, kind: text},
            {"type": kind, kind: ""},
            [{"type": f"{kind}_delta", kind: piece} for piece in pieces],
        )

    def begin_call(self, call: Call) -> None:
        block = {"type": "tool_use", "id": call.id, "name": self._native(call), "input": call.input}
        self._message(block, {**block, "input": {}}, [])

    def _message(self, block: Json, empty: Json, deltas: list[Json]) -> None:
        """One message of one block, as its pieces and as a whole."""
        id = self.new_id("msg")
        usage = {"input_tokens": 0, "output_tokens": 0}
        message = {"id": id, "type": "message", "role": "assistant", "model": self._model, "usage": usage}
        self._stream(type="message_start", message={**message, "content": []})
        self._stream(type="content_block_start", index=0, content_block=empty)
        for delta in deltas:
            self._stream(type="content_block_delta", index=0, delta=delta)
            self.poll()
        self._tell(type="assistant", message={**message, "content": [block]})
        self._stream(type="content_block_stop", index=0)
        self._stream(type="message_stop")

    def end_call(self, call: Call, output: str, *, failed: bool) -> None:
        result: Json = {
            "tool_use_id": call.id,
            "type": "tool_result",
            "content": output,
            "is_error": failed,
        }
        structured: Json = {}
        if call.change is not None and not failed:
            before, after = call.change
            structured["tool_use_result"] = {
                "type": "create" if before is None else "update",
                "filePath": call.input["file_path"],
                "content": after,
                "originalFile": before,
                "structuredPatch": _patch(before, after) if before is not None else [],
            }
        self._tell(type="user", message={"role": "user", "content": [result]}, **structured)

    # --- what it asks ------------------------------------------------------------------------------------

    def ask(self, call: Call) -> Verdict:
        said = self._request(
            "can_use_tool", tool_name=self._native(call), input=call.input, tool_use_id=call.id
        )
        answer = said.get("response") or {}
        if answer.get("behavior") == "allow":
            return Verdict(True, input=answer.get("updatedInput"))
        message = answer.get("message") or said.get("error") or "Denied."
        return Verdict(False, message, interrupt=bool(answer.get("interrupt")))

    def question(self, step: s.AsksUser) -> dict[str, Any] | None:
        options = [{"label": option, "description": ""} for option in step.options]
        asked = {"question": step.question, "header": "", "options": options, "multiSelect": False}
        call = Call(self.new_id("call"), "AskUserQuestion", {"questions": [asked]})
        self.begin_call(call)
        verdict = self.ask(call)
        answers = (verdict.input or {}).get("answers") if verdict.allowed else None
        self.end_call(call, str(answers) if verdict.allowed else verdict.message, failed=not verdict.allowed)
        return answers if isinstance(answers, dict) else None

    # --- the program's own tools -------------------------------------------------------------------------

    def _native(self, call: Call) -> str:
        return f"mcp__{SERVER}__{call.tool}" if self._is_own(call.tool) else call.tool

    def _is_own(self, tool: str) -> bool:
        if self._has_own and self._own is None:
            listed = self._mcp("tools/list").get("result") or {}
            self._own = {entry["name"] for entry in listed.get("tools", ())}
        return tool in (self._own or ())

    def own_tool(self, call: Call) -> tuple[str, bool] | None:
        if not self._is_own(call.tool):
            return None
        meta = {"claudecode/toolUseId": call.id}
        said = self._mcp("tools/call", name=call.tool, arguments=call.input, _meta=meta)
        if "error" in said:
            return str(said["error"]["message"]), True
        result = said["result"]
        return _text_in(result.get("content") or []), bool(result.get("isError"))

    def _mcp(self, method: str, **params: Any) -> Json:
        message = {"jsonrpc": "2.0", "id": self.new_id("mcp"), "method": method, "params": params}
        said = self._request("mcp_message", server_name=SERVER, message=message)
        return dict((said.get("response") or {}).get("mcp_response") or {"error": {"message": "no answer"}})

    # -----------------------------------------------------------------------------------------------------

    def _tell(self, **message: Any) -> None:
        self.send({"uuid": str(uuid4()), "parent_tool_use_id": None, **message, "session_id": self._session})

    def _stream(self, **event: Any) -> None:
        self._tell(type="stream_event", event=event)


def _text_in(blocks: list[Json]) -> str:
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


def _patch(before: str, after: str) -> list[Json]:
    """All of a file replaced."""
    old, new = before.splitlines(), after.splitlines()
    lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return [{"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new), "lines": lines}]
