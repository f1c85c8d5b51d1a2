"""The demo agent: a program that speaks Claude's stream-json both ways, with no model behind it.

What it says is a script. What it does is real: it reads, asks for permission, edits the file and runs the test
in the folder it is started in. `dragoman demo` starts it as a child process; it needs only the standard library.
"""

import difflib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

VERSION = "1.0"
MODEL = "scripted"
SESSION = "de300000-0000-4000-8000-000000000001"
PROMPT = "The test fails. Find out why and fix it."

BROKEN = '''def mean(values):
    """The arithmetic mean."""
    return sum(values) / (len(values) - 1)
'''
OLD, NEW = "(len(values) - 1)", "len(values)"
TEST = """from mean import mean

got = mean([2, 4, 6])
assert got == 4, f"the mean of 2, 4, 6 is 4, not {got:g}"
print("ok: the mean of 2, 4, 6 is 4")
"""
COMMAND = "python3 test_mean.py"
STEPS = ("Run the test", "Find the fault in mean.py", "Fix it and run the test again")

Json = dict[str, Any]


def prepare(folder: Path) -> None:
    """Put the job into `folder`."""
    (folder / "mean.py").write_text(BROKEN)
    (folder / "test_mean.py").write_text(TEST)


class Interrupted(Exception):
    """The client wants the turn to stop."""


class Wire:
    """The two pipes. Requests of the client are answered whenever the script waits."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.prompts: list[str] = []
        self.cost = 0.0
        self._inbox: queue.Queue[Json | None] = queue.Queue()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            if line.strip():
                self._inbox.put(json.loads(line))
        self._inbox.put(None)

    def number(self) -> int:
        self._count += 1
        return self._count

    def write(self, message: Json) -> None:
        sys.stdout.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    def say(self, type: str, **fields: Any) -> None:
        uuid = f"00000000-0000-4000-8000-{self.number():012d}"
        self.write({"type": type, **fields, "session_id": SESSION, "uuid": uuid})

    def pause(self, beats: float = 1.0) -> None:
        """Wait like something that thinks, and listen meanwhile."""
        until = time.monotonic() + beats * self.pace
        while (left := until - time.monotonic()) > 0:
            try:
                self._take(self._inbox.get(timeout=left))
            except queue.Empty:
                return

    def next_prompt(self) -> str:
        while not self.prompts:
            try:
                self._take(self._inbox.get())
            except Interrupted:
                continue
        return self.prompts.pop(0)

    def ask(self, request: Json) -> Json:
        """Ask the client and wait for its answer."""
        id = f"ask-{self.number()}"
        self.write({"type": "control_request", "request_id": id, "request": request})
        while True:
            message = self._inbox.get()
            response = (message or {}).get("response") or {}
            if message and message["type"] == "control_response" and response.get("request_id") == id:
                return dict(response.get("response") or {})
            try:
                self._take(message)
            except Interrupted:
                self.write({"type": "control_cancel_request", "request_id": id})
                raise

    def _take(self, message: Json | None) -> None:
        if message is None:
            raise SystemExit(0)
        if message["type"] == "user":
            content = message["message"]["content"]
            self.prompts.append(content if isinstance(content, str) else _text(content))
        elif message["type"] == "control_request":
            request, id = message["request"]["subtype"], message["request_id"]
            if request in ("initialize", "interrupt"):
                answer = _ABOUT if request == "initialize" else {}
                response: Json = {"subtype": "success", "request_id": id, "response": answer}
            else:
                response = {"subtype": "error", "request_id": id, "error": f"the demo agent has no {request}"}
            self.write({"type": "control_response", "response": response})
            if request == "interrupt":
                raise Interrupted


_ABOUT: Json = {"commands": [], "agents": [], "output_style": "default", "models": [], "account": {}}


def _text(blocks: list[Json]) -> str:
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


class Turn:
    """One prompt and what comes of it."""

    def __init__(self, wire: Wire, folder: Path) -> None:
        self.wire = wire
        self.folder = folder
        self.began = time.monotonic()
        self.words = self.words_before = 0
        self.tokens_in = 0
        self.denials: list[Json] = []
        self.message = ""
        self.block = 0

    # --- what it says ------------------------------------------------------------------------------------

    def begin_message(self) -> None:
        self.message, self.block = f"msg_{self.wire.number():03d}", 0
        self.words_before = self.words
        self.tokens_in += 1200
        self.wire.say("system", subtype="status", status="requesting")
        self.wire.pause(8)
        self._event(type="message_start", message=self._envelope([]))

    def end_message(self, reason: str) -> None:
        usage = {"output_tokens": self.words - self.words_before}
        self._event(type="message_delta", delta={"stop_reason": reason}, usage=usage)
        self._event(type="message_stop")

    def text(self, text: str, kind: str = "text") -> str:
        self._event(type="content_block_start", index=self.block, content_block={"type": kind, kind: ""})
        for piece in _pieces(text):
            self._event(
                type="content_block_delta", index=self.block, delta={"type": f"{kind}_delta", kind: piece}
            )
            self.wire.pause()
        self._close({"type": kind, kind: text} | ({"signature": "demo"} if kind == "thinking" else {}))
        return text

    def call(
        self, name: str, input: Json, work: Callable[[Json], tuple[str, Any]], *, ask: bool = False
    ) -> bool:
        """Use a tool: announce it, ask if need be, do it, report. Whether it went well."""
        id = f"toolu_{self.wire.number():03d}"
        start = {"type": "tool_use", "id": id, "name": name, "input": {}}
        self._event(type="content_block_start", index=self.block, content_block=start)
        self._event(
            type="content_block_delta",
            index=self.block,
            delta={"type": "input_json_delta", "partial_json": json.dumps(input)},
        )
        self._close({**start, "input": input})
        self.end_message("tool_use")
        try:
            allowed, input = self._permission(id, name, input) if ask else (True, input)
            if not allowed:
                return self._result(id, str(input["message"]), f"Error: {input['message']}", is_error=True)
            self.wire.pause(10)
            said, structured = work(input)
        except Interrupted:
            self._result(id, "The user stopped this tool.", "User rejected tool use", is_error=True)
            raise
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return self._result(id, str(error), f"Error: {error}", is_error=True)
        return self._result(id, said, structured, is_error=said.startswith("Exit code"))

    def _permission(self, id: str, name: str, input: Json) -> tuple[bool, Json]:
        answer = self.wire.ask(
            {
                "subtype": "can_use_tool",
                "tool_name": name,
                "display_name": name,
                "input": input,
                "permission_suggestions": [
                    {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
                ],
                "tool_use_id": id,
            }
        )
        if answer.get("behavior") == "allow":
            return True, answer.get("updatedInput") or input
        self.denials.append({"tool_name": name, "tool_use_id": id, "tool_input": input})
        if answer.get("interrupt"):
            raise Interrupted
        return False, {"message": answer.get("message") or "denied"}

    def _result(self, id: str, content: str, structured: Any, *, is_error: bool) -> bool:
        block = {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error}
        message = {"role": "user", "content": [block]}
        self.wire.say("user", message=message, parent_tool_use_id=None, tool_use_result=structured)
        return not is_error

    def _event(self, **event: Any) -> None:
        self.wire.say("stream_event", event=event, parent_tool_use_id=None)

    def _close(self, block: Json) -> None:
        self.wire.say("assistant", message=self._envelope([block]), parent_tool_use_id=None)
        self._event(type="content_block_stop", index=self.block)
        self.block += 1
        self.words += len(json.dumps(block)) // 4

    def _envelope(self, content: list[Json]) -> Json:
        usage = {"input_tokens": 1200, "output_tokens": 1}
        head = {"id": self.message, "type": "message", "role": "assistant", "model": MODEL}
        return {**head, "content": content, "stop_reason": None, "stop_sequence": None, "usage": usage}

    def end(self, subtype: str, **fields: Any) -> None:
        self.wire.cost += self.tokens_in * 3e-6 + self.words * 15e-6
        cost = round(self.wire.cost, 6)  # of all turns so far, as Claude counts it
        usage = {"input_tokens": self.tokens_in, "output_tokens": self.words}
        took = round((time.monotonic() - self.began) * 1000)
        self.wire.say(
            "result",
            subtype=subtype,
            is_error=subtype != "success",
            duration_ms=took,
            duration_api_ms=took,
            num_turns=1,
            total_cost_usd=cost,
            usage=usage,
            modelUsage={MODEL: {"inputTokens": self.tokens_in, "outputTokens": self.words, "costUSD": cost}},
            permission_denials=self.denials,
            **fields,
        )

    # --- what it does ------------------------------------------------------------------------------------

    def plan(self, done: int) -> None:
        status = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
        todos = [
            {"content": step, "status": state, "activeForm": step}
            for step, state in zip(STEPS, status, strict=False)
        ]
        self.call("TodoWrite", {"todos": todos}, lambda _: ("Todos have been modified.", {"newTodos": todos}))

    def run(self, input: Json) -> tuple[str, Any]:
        path = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)))
        done = subprocess.run(
            input["command"],
            shell=True,
            cwd=self.folder,
            env={"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=30,
            text=True,
            check=False,
        )
        output = done.stdout.strip()
        if done.returncode:
            said = f"Exit code {done.returncode}\n{output}"
            return said, f"Error: {said}"
        return output, {"stdout": output, "stderr": "", "interrupted": False}

    def read(self, input: Json) -> tuple[str, Any]:
        text = Path(input["file_path"]).read_text()
        numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(text.splitlines(), 1))
        return numbered, {"type": "text", "file": {"filePath": input["file_path"], "content": text}}

    def edit(self, input: Json) -> tuple[str, Any]:
        path = Path(input["file_path"])
        before = path.read_text()
        if input["old_string"] not in before:
            raise ValueError(f"{input['old_string']!r} is not in {path.name}")
        after = before.replace(input["old_string"], input["new_string"], 1)
        path.write_text(after)
        old, new = before.splitlines(), after.splitlines()
        lines = list(difflib.unified_diff(old, new, lineterm="", n=max(len(old), len(new))))[3:]
        hunk = {"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new), "lines": lines}
        structured = {
            "filePath": str(path),
            "oldString": input["old_string"],
            "newString": input["new_string"],
            "originalFile": before,
            "structuredPatch": [hunk],
            "userModified": False,
            "replaceAll": False,
        }
        return f"The file {path} has been updated successfully.", structured


def _pieces(text: str) -> Iterator[str]:
    """A few words at a time, as models do."""
    words = text.split(" ")
    for start in range(0, len(words), 2):
        last = start + 2 >= len(words)
        yield " ".join(words[start : start + 2]) + ("" if last else " ")


def the_job(turn: Turn) -> str:
    """Find the fault and fix it."""
    begin, text, call = turn.begin_message, turn.text, turn.call
    file = str(turn.folder / "mean.py")
    begin()
    text("A failing test: see it fail first, then read the code.", "thinking")
    text("I'll run the test first and see what it says.")
    turn.plan(0)
    begin()
    call("Bash", {"command": COMMAND, "description": "Run the test"}, turn.run)
    begin()
    text("It divides by the wrong number, by the look of it.")
    call("Read", {"file_path": file}, turn.read)
    begin()
    text("There it is: `len(values) - 1` belongs to a sample variance, not to a mean.")
    fixed = call("Edit", {"file_path": file, "old_string": OLD, "new_string": NEW}, turn.edit, ask=True)
    begin()
    if not fixed:
        answer = text("Then I leave mean.py as it is. The fault is the `- 1` in its last line.")
        turn.end_message("end_turn")
        return answer
    turn.plan(2)
    begin()
    passed = call("Bash", {"command": COMMAND, "description": "Run the test again"}, turn.run)
    begin()
    if passed:
        turn.plan(3)
        begin()
        answer = text("Fixed: `mean` now divides by the number of values, and the test passes.")
    else:
        answer = text("The test still fails: the edit was not the one I asked for.")
    turn.end_message("end_turn")
    return answer


def no_job(turn: Turn) -> str:
    """Anywhere else than in a prepared folder it does nothing, and says so."""
    turn.begin_message()
    said = "I am a script, not a model: I know one job, in the folder that `dragoman demo` makes for me."
    answer = turn.text(said)
    turn.end_message("end_turn")
    return answer


def main() -> None:
    if "--version" in sys.argv:
        print(f"{VERSION} (Dragoman demo agent)")
        return
    pace = float(sys.argv[sys.argv.index("--pace") + 1]) if "--pace" in sys.argv else 0.04
    wire, folder = Wire(pace), Path.cwd()
    while True:
        wire.next_prompt()
        turn = Turn(wire, folder)
        wire.say(
            "system",
            subtype="init",
            cwd=str(folder),
            tools=["Bash", "Edit", "Read", "TodoWrite"],
            mcp_servers=[],
            model=MODEL,
            permissionMode="default",
            slash_commands=[],
            apiKeySource="none",
            claude_code_version=VERSION,
        )
        try:
            answer = the_job(turn) if (folder / "mean.py").is_file() else no_job(turn)
            turn.end("success", result=answer, stop_reason="end_turn", terminal_reason="completed")
        except Interrupted:
            turn.end("error_during_execution", errors=[], terminal_reason="aborted_tools")


if __name__ == "__main__":
    main()
