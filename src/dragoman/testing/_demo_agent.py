"""The demo agent: a small agent that speaks ACP, with no model behind it.

What it says is a script. What it does is real: it runs the test, asks for permission and edits the file, in the
folder of its session. `dragoman demo` starts it as a child process; it needs only the standard library.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

VERSION = "2.0"
MODEL = "scripted"
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
WINDOW = 200_000

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INTERNAL_ERROR = -32700, -32600, -32601, -32603
NOT_FOUND = -32002

Json = dict[str, Any]
Turn = Callable[["Session"], None]


def prepare(folder: Path) -> None:
    """Put the job into `folder`."""
    (folder / "mean.py").write_text(BROKEN)
    (folder / "test_mean.py").write_text(TEST)


class Cancelled(Exception):
    """The client wants the turn to stop."""


class Refused(Exception):
    """The other side does not do what it was asked."""

    def __init__(self, message: str, code: int = INVALID_REQUEST) -> None:
        super().__init__(message)
        self.code = code


class Client:
    """The other end of the pipes."""

    def __init__(self) -> None:
        self.offers: Json = {}
        """What it does for an agent, as it said in initialize."""
        self._numbers = count(1)
        self._waiting: dict[int, queue.Queue[Json]] = {}
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def ask(self, method: str, **params: Any) -> Json:
        """Ask something and wait for the answer."""
        id, answer = next(self._numbers), queue.Queue[Json]()
        self._waiting[id] = answer
        self.send(id=id, method=method, params=params)
        given = answer.get()
        if "error" in given:
            raise Refused(given["error"]["message"])
        return dict(given.get("result") or {})

    def listen(self) -> Iterator[Json]:
        """What it asks and tells, to the end. Answers are handed to those who wait for them."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                self.send(id=None, error={"code": PARSE_ERROR, "message": "this is not JSON"})
                continue
            if "method" in message:
                yield message
            elif message.get("id") in self._waiting:
                self._waiting.pop(message["id"]).put(message)


class Session:
    """One conversation, in one folder."""

    def __init__(self, id: str, folder: str, client: Client, pace: float) -> None:
        self.id = id
        self.folder = Path(folder)
        self.history: list[Json] = []
        """What a client that comes back is told again."""
        self.turns: queue.Queue[Turn] = queue.Queue()
        self.cancels: list[threading.Event] = []
        """One for each turn that is not over, in their order."""
        self.cost = 0.0
        self._client = client
        self._pace = pace
        self._trusted = False
        """It need not ask any more."""
        self._numbers = count(1)
        self._words = 0
        threading.Thread(target=self._work, daemon=True).start()

    def begin(self, turn: Turn) -> None:
        """Its turn comes after those that were asked for before."""
        self.cancels.append(threading.Event())
        self.turns.put(turn)

    def _work(self) -> None:
        while True:
            self.turns.get()(self)
            self.cancels.pop(0)

    def cancel(self) -> None:
        for turn in list(self.cancels):
            turn.set()

    def pause(self, beats: float = 1.0) -> None:
        """Wait like something that thinks, unless the turn is over."""
        if self.cancels[0].wait(beats * self._pace):
            raise Cancelled

    # --- what it says ------------------------------------------------------------------------------------

    def tell(self, name: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": name, **fields}
        self._client.send(method="session/update", params={"sessionId": self.id, "update": update})

    def remember(self, name: str, /, **fields: Any) -> None:
        self.history.append({"sessionUpdate": name, **fields})

    def keep_prompt(self, text: str) -> None:
        self.remember("user_message_chunk", **_text(text), messageId=f"{self.id}-{next(self._numbers)}")

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        """A message or a thought, a few words at a time, as models do."""
        id = f"{self.id}-{next(self._numbers)}"
        self.pause(8)
        words = text.split(" ")
        for start in range(0, len(words), 2):
            piece = " ".join(words[start : start + 2]) + (" " if start + 2 < len(words) else "")
            self.tell(kind, **_text(piece), messageId=id)
            self._words += len(piece)
            self.pause()
        self.remember(kind, **_text(text), messageId=id)

    def plan(self, done: int) -> None:
        status = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
        entries = [
            {"content": step, "priority": "medium", "status": state}
            for step, state in zip(STEPS, status, strict=False)
        ]
        self.tell("plan", entries=entries)
        self.remember("plan", entries=entries)

    def usage(self) -> Json:
        """Made up, as everything that a model would count."""
        read, written = 1200, self._words // 4
        self.cost = round(self.cost + read * 3e-6 + written * 15e-6, 6)
        self.tell(
            "usage_update", used=read + written, size=WINDOW, cost={"amount": self.cost, "currency": "USD"}
        )
        return {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}

    # --- what it does ------------------------------------------------------------------------------------

    def tool(self, name: str, kind: str, title: str, work: Callable[[], Json], **call: Any) -> bool:
        """Use a tool: announce it, do it, report. Whether it went well."""
        id = call.pop("id", None) or self.call_id()
        known = {"toolCallId": id, "name": name, "title": title, "kind": kind, **call}
        report: Json
        self.tell("tool_call", **known, status="in_progress")
        self.pause(10)
        try:
            report = {"status": "completed", **work()}
        except (OSError, Refused, ValueError) as error:
            report = {"status": "failed", "content": [{"type": "content", **_text(str(error))}]}
        self.tell("tool_call_update", toolCallId=id, **report)
        self.remember("tool_call", **(known | report))
        return bool(report["status"] == "completed")

    def call_id(self) -> str:
        return f"{self.id}-call-{next(self._numbers)}"

    def allowed(self, call: Json) -> bool:
        """Ask for permission, unless it was given once and for all."""
        if self._trusted:
            return True
        options = {"allow_once": "Yes, this once", "allow_always": "Yes, always", "reject_once": "No"}
        outcome = self._client.ask(
            "session/request_permission",
            sessionId=self.id,
            toolCall=call,
            options=[{"optionId": kind, "name": name, "kind": kind} for kind, name in options.items()],
        )["outcome"]
        if outcome["outcome"] == "cancelled":
            raise Cancelled
        self._trusted = outcome["optionId"] == "allow_always"
        return bool(outcome["optionId"] != "reject_once")

    def run(self) -> bool:
        return self.tool("run_command", "execute", COMMAND, self._run, rawInput={"command": COMMAND})

    def _run(self) -> Json:
        path = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)))
        done = subprocess.run(
            COMMAND,
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
        return {
            "status": "failed" if done.returncode else "completed",
            "content": [{"type": "content", **_text(output)}],
            "rawOutput": {"output": output, "exit_code": done.returncode},
        }

    def read(self, path: Path) -> bool:
        def work() -> Json:
            return {"content": [{"type": "content", **_text(self._content(path))}]}

        place = [{"path": str(path)}]
        return self.tool("read_file", "read", path.name, work, locations=place, rawInput=place[0])

    def edit(self, path: Path, old: str, new: str) -> bool:
        """The client is shown the change and asked; it also writes the file, if it offers that."""
        before = self._content(path)
        after = before.replace(old, new, 1)
        about: Json = {
            "locations": [{"path": str(path)}],
            "rawInput": {"path": str(path), "old": old, "new": new},
            "content": [{"type": "diff", "path": str(path), "oldText": before, "newText": after}],
        }
        call = {
            "toolCallId": self.call_id(),
            "name": "edit_file",
            "title": path.name,
            "kind": "edit",
            **about,
        }
        if not self.allowed({**call, "status": "pending"}):
            self.tell("tool_call_update", toolCallId=call["toolCallId"], status="failed")
            return False

        def work() -> Json:
            if old not in before:
                raise ValueError(f"{old!r} is not in {path.name}")
            if self._offered("writeTextFile"):
                self._client.ask("fs/write_text_file", sessionId=self.id, path=str(path), content=after)
            else:
                path.write_text(after)
            return {"content": about["content"]}

        return self.tool("edit_file", "edit", path.name, work, id=call["toolCallId"], **about)

    def _content(self, path: Path) -> str:
        if self._offered("readTextFile"):
            return str(self._client.ask("fs/read_text_file", sessionId=self.id, path=str(path))["content"])
        return path.read_text()

    def _offered(self, what: str) -> bool:
        return bool((self._client.offers.get("fs") or {}).get(what))


def _text(text: str) -> Json:
    return {"content": {"type": "text", "text": text}}


def _words(blocks: list[Json]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def the_job(session: Session) -> None:
    """Find the fault and fix it."""
    file = session.folder / "mean.py"
    session.say("A failing test: see it fail first, then read the code.", "agent_thought_chunk")
    session.say("I'll run the test first and see what it says.")
    session.plan(0)
    session.run()
    session.plan(1)
    session.say("It divides by the wrong number, by the look of it.")
    session.read(file)
    session.say("There it is: `len(values) - 1` belongs to a sample variance, not to a mean.")
    session.plan(2)
    if not session.edit(file, OLD, NEW):
        session.say("Then I leave mean.py as it is. The fault is the `- 1` in its last line.")
    elif session.run():
        session.plan(3)
        session.say("Fixed: `mean` now divides by the number of values, and the test passes.")
    else:
        session.say("The test still fails: the edit was not the one I asked for.")


def no_job(session: Session) -> None:
    """Anywhere else than in a prepared folder it does nothing, and says so."""
    session.say(
        "I am a script, not a model: I know one job, in the folder that `dragoman demo` makes for me."
    )


class Agent:
    """Answers the client. Sessions are kept in `store`, if there is one, else only in memory."""

    def __init__(self, client: Client, pace: float, store: Path | None) -> None:
        self._client = client
        self._pace = pace
        self._store = store
        self._sessions: dict[str, Session] = {}
        self._answers: dict[str, Callable[[Json], Json]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/close": self._close,
            "session/list": self._list,
        }

    def serve(self) -> None:
        for message in self._client.listen():
            method, id, params = message["method"], message.get("id"), message.get("params") or {}
            try:
                if method == "session/cancel":
                    self._find(params).cancel()
                elif method == "session/prompt":
                    self._find(params).begin(partial(self._turn, id, _words(params["prompt"])))
                elif method in self._answers:
                    self._client.send(id=id, result=self._answers[method](params))
                elif id is not None:
                    raise Refused(f"the demo agent has no {method}", METHOD_NOT_FOUND)
            except Refused as refusal:
                if id is not None:
                    self._client.send(id=id, error={"code": refusal.code, "message": str(refusal)})

    def _initialize(self, params: Json) -> Json:
        self._client.offers = params.get("clientCapabilities") or {}
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "dragoman-demo", "title": "Demo agent", "version": VERSION},
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"close": {}, "list": {}}},
            "authMethods": [],
        }

    def _new(self, params: Json) -> Json:
        id = f"demo-{token_hex(4)}"
        self._sessions[id] = Session(id, params["cwd"], self._client, self._pace)
        return {"sessionId": id}

    def _load(self, params: Json) -> Json:
        """Tell all of an earlier session again."""
        id = params["sessionId"]
        history = self._sessions[id].history if id in self._sessions else self._kept(id)
        if not history:
            raise Refused(f"no session is called {id}", NOT_FOUND)
        session = self._sessions[id] = Session(id, params["cwd"], self._client, self._pace)
        session.history = history
        for update in history:
            session.tell(
                update["sessionUpdate"], **{key: update[key] for key in update if key != "sessionUpdate"}
            )
        return {}

    def _list(self, params: Json) -> Json:
        """Those that are kept, newest first."""
        files = (
            sorted(self._store.glob("*.json"), key=_modified, reverse=True) if self._store is not None else []
        )
        told = [
            {
                "sessionId": file.stem,
                "cwd": kept["cwd"],
                "title": kept["title"],
                "updatedAt": datetime.fromtimestamp(_modified(file), UTC).isoformat(),
            }
            for file in files
            for kept in [json.loads(file.read_text())]
        ]
        return {"sessions": [one for one in told if params.get("cwd") in (None, one["cwd"])]}

    def _close(self, params: Json) -> Json:
        self._find(params).cancel()
        return {}

    def _turn(self, id: Any, text: str, session: Session) -> None:
        session.keep_prompt(text)
        try:
            (the_job if (session.folder / "mean.py").is_file() else no_job)(session)
            answer: Json = {"result": {"stopReason": "end_turn", "usage": session.usage()}}
        except Cancelled:
            answer = {"result": {"stopReason": "cancelled"}}
        except Exception as error:  # a client that waits shall hear of it
            answer = {"error": {"code": INTERNAL_ERROR, "message": f"{type(error).__name__}: {error}"}}
        self._keep(session)
        self._client.send(id=id, **answer)

    # ---------------------------------------------------------------------------------------------------

    def _find(self, params: Json) -> Session:
        session = self._sessions.get(params.get("sessionId", ""))
        if session is None:
            raise Refused(f"no session is called {params.get('sessionId')}", NOT_FOUND)
        return session

    def _keep(self, session: Session) -> None:
        if self._store is not None:
            self._store.mkdir(parents=True, exist_ok=True)
            title = session.history[0]["content"]["text"]
            kept = {"cwd": str(session.folder), "title": title, "history": session.history}
            (self._store / f"{session.id}.json").write_text(json.dumps(kept))

    def _kept(self, id: str) -> list[Json]:
        file = self._store / f"{id}.json" if self._store is not None and os.path.basename(id) == id else None
        return list(json.loads(file.read_text())["history"]) if file is not None and file.is_file() else []


def _modified(file: Path) -> float:
    return file.stat().st_mtime


def main() -> None:
    if "--version" in sys.argv:
        print(f"{VERSION} (Dragoman demo agent)")
        return
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    store = Path(options["--sessions"]) if "--sessions" in options else None
    Agent(Client(), float(options.get("--pace", 0.04)), store).serve()


if __name__ == "__main__":
    main()
