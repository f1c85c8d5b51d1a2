"""One script being played: which turn answers which request, what was asked so far, and the gates."""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from .api import Reply
from .environment import environment
from .request import Request
from .samples import sample
from .script import Played, Script, Step, ToolCall, as_turn, script, turn

EXHAUSTED = turn("(script exhausted)")
SUMMARY = turn("<analysis>scripted</analysis>\n<summary>\nA scripted summary.\n</summary>")


class Gate:
    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()


class Scenario:
    """A script at a URL. All methods may be called from any thread; those that wait raise TimeoutError.

    Ids are counted from 1 in every scenario, and an agent drops a tool call whose id its session has seen before:
    processes that continue one session must share one scenario.
    """

    def __init__(self, turns: Script | Iterable[Step], url: str) -> None:
        self.script: Script = turns if isinstance(turns, Script) else script(turns)
        self.url: str = url
        self._log: list[Request] = []
        self._answers: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._gates: dict[str, Gate] = {}
        self._closed = False
        self._changed = threading.Condition()

    @property
    def requests(self) -> list[Request]:
        """All requests so far, in order of arrival."""
        with self._changed:
            return list(self._log)

    def requests_of(self, route: str) -> list[Request]:
        """The requests so far that one route of the script answered: main, side, compact, or by its name."""
        return [r for r in self.requests if r.route == route]

    def wait_for_request(self, n: int = 1, timeout: float = 30, route: str | None = "main") -> Request:
        """The n-th request of a route (None: of all), as soon as it has arrived. Raises TimeoutError."""

        def found() -> list[Request]:
            return [r for r in self._log if route in (None, r.route)][n - 1 : n]

        with self._changed:
            if not self._changed.wait_for(found, timeout):
                raise TimeoutError(
                    f"no request {n} of {route or 'any route'}; so far {[r.route for r in self._log]}"
                )
            return found()[0]

    def open(self, gate: str) -> None:
        """Let the turns that are held at this gate, now or later, go on."""
        self._gate(gate).opened.set()

    def wait_for_hold(self, gate: str, timeout: float = 30) -> None:
        """Wait until a turn is held at this gate: all events before it have been sent. Raises TimeoutError."""
        if not self._gate(gate).reached.wait(timeout):
            raise TimeoutError(f"no turn has come to gate {gate!r}")

    def env(self, agent: str, home: str | Path) -> dict[str, str]:
        """The complete environment for an agent that shall talk to this scenario and to nothing else; what the agent
        needs in its `home` is written there. Raises ValueError for an agent that none is known for."""
        return environment(agent, self.url, home)

    # What the server does with it.

    def _answer(self, request: Request) -> Reply:
        """Take the next turn of the request's route."""
        route = self._route(request)
        request = msgspec.structs.replace(request, route=route)
        with self._changed:
            n = self._answers[route]
            self._answers[route] += 1
            self._log.append(request)
            self._changed.notify_all()
        step = self._step(request, n)
        played = as_turn(step(request)) if callable(step) else step
        calls = sum(isinstance(block, ToolCall) for block in played.content)
        with self._changed:
            first = self._calls[route] + 1
            self._calls[route] += calls
        # Each route counts for itself: conversations that run side by side get the same ids in every run.
        prefix = "" if route == "main" else f"{route}_"
        numbers = tuple(f"{prefix}{i:04}" for i in range(first, first + calls))
        return Reply(played, played.model or request.model, f"{prefix}{n + 1:04}", numbers)

    def _hold(self, gate: str) -> None:
        held = self._gate(gate)
        held.reached.set()
        held.opened.wait()

    def close(self) -> None:
        """Open all gates, for good."""
        with self._changed:
            self._closed = True
            for gate in self._gates.values():
                gate.opened.set()

    def _gate(self, name: str) -> Gate:
        with self._changed:
            gate = self._gates.setdefault(name, Gate())
            if self._closed:
                gate.opened.set()
            return gate

    def _route(self, request: Request) -> str:
        if request.wants_summary:
            return "compact"
        if not request.tools and self.script.side is not None:
            return "side"
        said = "\n".join(request.texts)
        marked = {at: name for name in self.script.routes if (at := said.find(f"[[{name}]]")) >= 0}
        # The earliest marker: it stays the earliest however long the conversation grows.
        return marked[min(marked)] if marked else "main"

    def _step(self, request: Request, n: int) -> Played:
        played = self.script
        if request.route == "side":
            return turn(side_answer(played.side or {}, request))
        steps = {"main": played.turns, "compact": played.compact, **played.routes}[request.route]
        if n < len(steps):
            return steps[n]
        if played.repeat_last and steps:
            return steps[-1]
        return SUMMARY if request.route == "compact" else EXHAUSTED


def side_answer(answers: Mapping[str, str], request: Request) -> str:
    """By what the request holds; where a form is asked for and nobody scripted it, something of that form."""
    asked = "\n".join((request.system, *request.texts[-1:])).lower()
    if request.schema is not None and not any(holds and holds.lower() in asked for holds in answers):
        return json.dumps(sample(request.schema))
    # The empty text is in every request: it is the answer when nothing else fits.
    return next(a for holds, a in sorted(answers.items(), key=lambda kv: not kv[0]) if holds.lower() in asked)
