"""How a fake agent acts: its script step by step, in whatever dialect it speaks."""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._runtime.process.played import Stage
from dragoman.testing._fake_agent import steps as s

Json = dict[str, Any]

MODEL: Final = "fake"
_PIECE: Final = 2
"""Words that are said at a time."""
_TOKEN: Final = 4
"""Characters that are counted as one token."""


class HungUp(Exception):
    """The client says nothing any more."""


class Interrupted(Exception):
    """The client wants the turn to end."""


class Exited(Exception):
    """The script ends the agent."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Prompted(Struct):
    """What a turn is for."""

    text: str
    id: Any
    """The message, or the request, that it came with."""
    session: str


class Call(Struct):
    """A tool that is used."""

    id: str
    tool: str
    input: Json
    change: tuple[str | None, str] | None = None
    """Of a file: what was in it, and what will be."""


class Verdict(Struct):
    """What was answered to a permission request."""

    allowed: bool
    message: str = "Denied."
    input: Json | None = None
    interrupt: bool = False


class Ended(Struct):
    """How a turn ended."""

    outcome: str
    """completed, failed or cancelled."""
    error: str | None = None


class Heard(Struct):
    """What the agent was told, in all its runs."""

    prompts: list[str] = []
    steers: list[str] = []
    answers: list[bool | dict[str, Any] | None] = []
    interrupts: int = 0


class Speaker(ABC):
    """One run. A dialect fills in how everything is said, and `take`."""

    def __init__(self, stage: Stage, steps_for: Callable[[str], s.Steps], heard: Heard, cwd: str) -> None:
        self.heard = heard
        self.cwd = cwd
        self.spent = s.Spends()
        """In the open turn."""
        self.text = ""
        """What it said last in the open turn."""
        self.prompt: Prompted | None = None
        """That of the open turn."""
        self.waiting: deque[Prompted] = deque()
        self.denied: list[Call] = []
        self._stage = stage
        self._steps_for = steps_for
        self._numbers = 0
        self._steers_given = 0
        """Those that somebody waited for. One that comes while the agent speaks is there for the next to wait."""
        self._acts: dict[type[Any], Callable[[Any], Any]] = {
            s.Says: self._says,
            s.Thinks: self._thinks,
            s.Calls: self._calls,
            s.Writes: self._writes,
            s.AsksUser: self._asks_user,
            s.Spends: self._spends,
            s.Waits: self._waits,
            s.Exits: self._exits,
        }

    def serve(self) -> int:
        try:
            while True:
                while self.waiting:
                    self._turn(self.waiting.popleft())
                self.hear()
        except HungUp:
            return 0
        except Exited as exited:
            return exited.code

    # --- a turn ------------------------------------------------------------------------------------------

    def _turn(self, prompt: Prompted) -> None:
        self.heard.prompts.append(prompt.text)
        self.prompt, self.text, self.denied = prompt, "", []
        self.spent = s.Spends(input_tokens=_tokens(prompt.text))
        self._steers_given = len(self.heard.steers)
        self.begin(prompt)
        try:
            ended = self._act(prompt.text)
        except Interrupted:
            self.heard.interrupts += 1
            ended = Ended("cancelled")
        self.end(prompt, ended)
        self.prompt = None

    def _act(self, prompt: str) -> Ended:
        steps, given = self._steps_for(prompt), None
        while True:
            self.poll()
            try:
                step = steps.send(given)
            except StopIteration:
                return Ended("completed")
            if isinstance(step, s.Fails):
                return Ended("failed", step.message)
            given = self._acts[s.Says if isinstance(step, str) else type(step)](step)

    def _says(self, step: s.Says | str) -> None:
        self.text = step if isinstance(step, str) else step.text
        self._spends(s.Spends(output_tokens=_tokens(self.text)))
        self.say(self.text, _pieces(self.text), thought=False)

    def _thinks(self, step: s.Thinks) -> None:
        self._spends(s.Spends(output_tokens=_tokens(step.text)))
        self.say(step.text, _pieces(step.text), thought=True)

    def _calls(self, step: s.Calls) -> bool:
        call = Call(self.new_id("call"), step.tool, step.input)
        return self._use(call, step.asks, lambda: self.own_tool(call) or (step.output, step.failed))

    def _writes(self, step: s.Writes) -> bool:
        path = Path(self.cwd, step.path)
        before = path.read_text() if path.is_file() else None
        call = Call(
            self.new_id("call"),
            "Write",
            {"file_path": os.fspath(path), "content": step.text},
            change=(before, step.text),
        )

        def write() -> tuple[str, bool]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            return f"{path} is written.", False

        return self._use(call, True, write)

    def _use(self, call: Call, asks: bool, work: Callable[[], tuple[str, bool]]) -> bool:
        self.begin_call(call)
        verdict = self.ask(call) if asks else Verdict(True)
        if asks:
            self.heard.answers.append(verdict.allowed)
        if not verdict.allowed:
            self.denied.append(call)
            self.end_call(call, verdict.message, failed=True)
            if verdict.interrupt:
                raise Interrupted
            return False
        call.input = verdict.input if verdict.input is not None else call.input
        output, failed = work()
        self.end_call(call, output, failed=failed)
        return True

    def _asks_user(self, step: s.AsksUser) -> dict[str, Any] | None:
        answers = self.question(step)
        self.heard.answers.append(answers)
        return answers

    def _spends(self, step: s.Spends) -> None:
        spent = self.spent
        self.spent = s.Spends(
            input_tokens=spent.input_tokens + step.input_tokens,
            output_tokens=spent.output_tokens + step.output_tokens,
            cost_usd=spent.cost_usd + step.cost_usd,
        )

    def _waits(self, step: s.Waits) -> str | None:
        while len(self.heard.steers) == self._steers_given:
            try:
                self.hear(step.seconds)
            except TimeoutError:
                return None
        self._steers_given += 1
        return self.heard.steers[self._steers_given - 1]

    def _exits(self, step: s.Exits) -> None:
        if step.stderr:
            self._stage.complain(step.stderr.encode())
        raise Exited(step.code)

    # --- lines -------------------------------------------------------------------------------------------

    def hear(self, seconds: float | None = None) -> None:
        """Take one line of the client's. Raises TimeoutError if none comes in time."""
        line = self._stage.line(seconds)
        if line is None:
            raise HungUp
        self.take(msgspec.json.decode(line))

    def poll(self) -> None:
        """Take what is there."""
        try:
            while True:
                self.hear(0)
        except TimeoutError:
            pass

    def send(self, message: Json) -> None:
        self._stage.say(msgspec.json.encode(message))

    def new_id(self, kind: str) -> str:
        self._numbers += 1
        return f"{kind}-{self._numbers}"

    # --- what a dialect says -----------------------------------------------------------------------------

    @abstractmethod
    def take(self, message: Json) -> None:
        """A line of the client's."""

    @abstractmethod
    def begin(self, prompt: Prompted) -> None: ...
    @abstractmethod
    def end(self, prompt: Prompted, ended: Ended) -> None: ...
    @abstractmethod
    def say(self, text: str, pieces: list[str], *, thought: bool) -> None: ...
    @abstractmethod
    def begin_call(self, call: Call) -> None: ...
    @abstractmethod
    def end_call(self, call: Call, output: str, *, failed: bool) -> None: ...
    @abstractmethod
    def ask(self, call: Call) -> Verdict: ...
    @abstractmethod
    def question(self, step: s.AsksUser) -> dict[str, Any] | None: ...

    def own_tool(self, call: Call) -> tuple[str, bool] | None:
        """What a tool of the program's says, and whether it failed; None if it has none of that name."""
        return None


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    groups = [words[at : at + _PIECE] for at in range(0, len(words), _PIECE)]
    return [" ".join(group) + (" " if at + 1 < len(groups) else "") for at, group in enumerate(groups)]


def _tokens(text: str) -> int:
    return -(-len(text) // _TOKEN)
