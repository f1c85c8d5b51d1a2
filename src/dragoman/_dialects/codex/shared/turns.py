"""The turns of a Codex thread: when they begin, what they used, what they answered.

Threads say so themselves (turn.started, task_started …), except in session files of 2025, where a prompt begins
a turn and the next prompt ends it. The thread of a subagent makes no turns: what it says has the call that
started it as its parent.
"""

from dragoman._dialects.codex.shared.agents import Agents
from dragoman._dialects.codex.shared.calls import Calls
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage, of_model, since
from dragoman._wire.ledger import Ledger


class Turns:
    """The turns of one thread, and its calls of the model. `before`: its usage when the first turn began; None if that is
    not known."""

    def __init__(self, ledger: Ledger, *, before: Usage | None = None, calls: Calls | None = None) -> None:
        self.calls = calls or Calls()
        self._ledger = ledger
        self._expected: ev.TurnStarted | None = None
        self._marked = False
        """The thread says itself when its turns begin and end."""
        self._turn_id: str | None = None
        self._has_prompt = False
        self.text: str | None = None
        """The last answer of the open turn."""
        self._before = before
        self._total: Usage | None = None
        self._own: Usage | None = None

    # --- beginnings --------------------------------------------------------------------------------------

    @property
    def open(self) -> bool:
        return self._expected is not None or self._ledger.current in self._ledger.open_turns

    @property
    def has_prompt(self) -> bool:
        """Whether the open turn has its prompt."""
        return self._has_prompt

    def begin(self, turn_id: str | None = None, prompt: str | None = None) -> None:
        """Put the start of a turn."""
        self._marked = True
        self._has_prompt = prompt is not None
        self._turn_id = turn_id
        self.calls.enter(turn_id)
        self._ledger.put(ev.TurnStarted(native_turn_id=turn_id, prompt=prompt))

    def expect(self, turn_id: str | None) -> None:
        """A turn begins whose prompt is yet to come: its start waits for the prompt. An open turn with
        another id is one whose process was killed before this one took the thread up (capture killed)."""
        if self.open and turn_id is not None and turn_id != self._turn_id:
            self.finish()
        self._marked = True
        self.calls.enter(turn_id)
        if not self.open:
            self._expected = ev.TurnStarted(native_turn_id=turn_id)
            self._turn_id = turn_id
            self._has_prompt = False

    def prompt(self, message: ev.Message) -> None:
        """Put a user's message: it begins the turn, or is one more message in the open one."""
        if self._ledger.busy(self._ledger.current) and not self._marked:
            self.finish()
        started, self._expected = self._expected, None
        if started is not None or not self._ledger.busy(self._ledger.current):
            started = started or ev.TurnStarted()
            started.prompt = message.text
            self._ledger.put(started)
        self._has_prompt = True
        self._ledger.put(message)

    def go_on(self) -> None:
        """Make sure that a turn is open, for an event that only turns have."""
        ledger, started = self._ledger, self._expected
        if started is not None:
            self._expected = None
            ledger.put(started)
        elif ledger.current not in ledger.open_turns:
            ledger.put(ev.TurnStarted(synthesized=True))

    def put(self, event: Event) -> None:
        ledger = self._ledger
        if self._expected is not None or ledger.current not in ledger.open_turns:
            self.go_on()
        ledger.put(event)

    def late(self, event: Event) -> None:
        """Put an event that may come after the turn, like the end of a command that ran on (capture
        exec_sigint_in_command)."""
        self._ledger.put(event)

    def of_session(self, event: Event) -> None:
        """Put what is said of the thread as a whole."""
        self._ledger.put(event)

    # --- what it says and uses ---------------------------------------------------------------------------

    def keep_answer(self, text: str) -> None:
        self.text = text

    def count(self, total: Usage, last: Usage | None = None) -> None:
        """Take in the thread's total so far. Without a baseline, the total before the last call is one;
        outside a turn the total itself is (a resumed or forked thread has it first)."""
        if not self.open:
            self._before = total
        elif self._before is None and last is not None:
            self._before = since(total, last)
        self._total = total

    def call(self, event: ev.UsageUpdated) -> None:
        """Put a call of the model: one of the open turn, if there is one."""
        (self.put if self.open else self.late)(event)

    def count_turn(self, usage: Usage) -> None:
        """Take in the turn's usage so far, where Codex has it."""
        self._own = usage

    def rebase(self) -> None:
        """Forget the baseline: turns were taken back, and the next total does not go on from the last."""
        self._before = self._total = None
        self.calls.begin_at(None)

    def usage(self) -> Usage | None:
        if self._own is not None:
            return self._own
        if self._total is None or self._before is None:
            return None
        return since(self._total, self._before)

    # --- ends --------------------------------------------------------------------------------------------

    def end(self, ended: ev.TurnEnded) -> None:
        self.go_on()
        if ended.text is None and ended.outcome == "completed":
            ended.text = self.text
        ended.usage, model = self.usage(), self.calls.model
        if ended.usage is not None and model is not None:
            ended.model_usage = {model: of_model(ended.usage)}
        ended.resume_at = self._turn_id
        self._ledger.put(ended)
        self._reset()

    def finish(self) -> None:
        """End the open turn, because no more lines of it come. In files without turn marks, one with an
        answer is complete."""
        if not self.open:
            return
        if self._marked or self.text is None:
            self.end(ev.TurnEnded(outcome="truncated", synthesized=True))
        else:
            self.end(ev.TurnEnded(outcome="completed", synthesized=True))

    def _reset(self) -> None:
        if self._total is not None:
            self._before = self._total
        self._own = self.text = None
        self._has_prompt = False


class Aside(Turns):
    """The work of a subagent: it has no turns, and all its events have the call that started it as their
    parent."""

    def __init__(self, ledger: Ledger, agents: Agents, agent_id: str) -> None:
        super().__init__(ledger, calls=Calls(agent_id, agent_id=agent_id))
        self._agents = agents
        self._agent_id = agent_id
        self._working = False

    @property
    def open(self) -> bool:
        return self._working

    def begin(self, turn_id: str | None = None, prompt: str | None = None) -> None:
        self._working = True

    def expect(self, turn_id: str | None) -> None:
        self._working = True
        self.calls.enter(turn_id)

    def prompt(self, message: ev.Message) -> None:
        self._has_prompt = True
        self.put(message)

    def go_on(self) -> None:
        self._working = True

    def put(self, event: Event) -> None:
        self._working = True
        self.late(event)

    def late(self, event: Event) -> None:
        event.parent = self._agents.call_of(self._agent_id)
        self._ledger.put(event)

    def of_session(self, event: Event) -> None:
        """Nobody's: a subagent's thread is no session here."""

    def end(self, ended: ev.TurnEnded) -> None:
        summary = ended.text if ended.text is not None else self.text
        self._agents.end_agent(self._agent_id, ended.outcome, summary, self.calls.spent)
        self._working = False
        self._reset()

    def finish(self) -> None:
        if self._working:
            self.end(ev.TurnEnded(outcome="truncated"))
