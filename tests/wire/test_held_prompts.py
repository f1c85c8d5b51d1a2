"""A prompt waits for the turn before it, in its own session and in no other."""

import json
from typing import Any

from dragoman._model.commands import Prompt
from dragoman._model.events import Event
from dragoman._model.frames import Frame, Launch
from dragoman._wire import note_frames
from dragoman._wire.machine import Machine, Output
from tests.runtime.toy_dialect import ToyMachine


class Talk:
    """A machine and the lines that it has to say, which it hears as they are written."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.sent: list[str] = []
        self.events: list[Event] = []
        self._frames = 0
        self._heard(machine.start(Launch(agent="toy", dialect="toy")))

    def prompt(self, text: str, session: str | None) -> None:
        for line in self.machine.send(Prompt(text=text, session=session, id=text)):
            self._frame("in", line)

    def out(self, type: str, session: str) -> None:
        self._frame("out", json.dumps({"type": type, "session": session}).encode())

    def _frame(self, direction: Any, line: bytes) -> None:
        if direction == "in":
            self.sent.append(json.loads(line)["text"])
        self._frames += 1
        self._heard(self.machine.receive(Frame(self._frames, direction, line)))

    def _heard(self, output: Output) -> None:
        self.events += output.events
        for line in output.lines:
            self._frame("in", line)


class Slow(ToyMachine):
    """It takes no prompts before it is set up."""

    ready = False

    def takes_prompts(self, session: str | None) -> bool:
        return self.ready and super().takes_prompts(session)


def test_a_prompt_waits_for_its_own_session_only() -> None:
    talk = Talk(ToyMachine())
    for text, session in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("b2", "b")):
        talk.prompt(text, session)
    assert talk.sent == ["a1", "b1"]
    talk.out("done", "b")
    assert talk.sent == ["a1", "b1", "b2"]
    talk.out("done", "a")
    talk.out("done", "b")
    assert talk.sent == ["a1", "b1", "b2", "a2"]
    talk.out("done", "a")
    assert talk.sent == ["a1", "b1", "b2", "a2", "a3"]
    assert [talk.machine.turn_of(text) for text in talk.sent] == [1, 2, 3, 4, 5]


def test_one_frame_may_let_prompts_of_several_sessions_go() -> None:
    machine = Slow()
    talk = Talk(machine)
    for text, session in (("a1", "a"), ("b1", "b"), ("a2", "a")):
        talk.prompt(text, session)
    assert talk.sent == []
    machine.ready = True
    talk.out("text", "a")
    assert talk.sent == ["a1", "b1"]


def test_a_prompt_from_before_the_session_had_a_name_keeps_its_place() -> None:
    machine = Slow()
    talk = Talk(machine)
    talk.prompt("first", None)
    talk.out("hello", "a")
    talk.prompt("second", "a")
    machine.ready = True
    talk.out("text", "a")
    assert talk.sent == ["first"]
    talk.out("done", "a")
    assert talk.sent == ["first", "second"]


def test_what_is_held_is_dropped_with_its_session_and_at_the_end() -> None:
    talk = Talk(ToyMachine())
    for text, session in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")):
        talk.prompt(text, session)
    talk.machine.drop_held("a")
    talk.out("done", "a")
    assert talk.sent == ["a1", "b1"]
    talk.machine.receive(Frame(99, "note", note_frames.write(note_frames.Stopping(reason="closed"))))
    talk.out("done", "b")
    assert talk.sent == ["a1", "b1"]
    assert talk.machine.turn_of("b2") is None


def test_who_holds_a_prompt_is_busy() -> None:
    machine = Slow()
    talk = Talk(machine)
    assert not machine.busy()
    talk.prompt("a1", "a")
    assert (machine.busy(), machine.busy("a"), machine.busy("b")) == (True, True, False)
    machine.ready = True
    talk.out("text", "a")
    assert (machine.busy("a"), machine.busy("b")) == (True, False)
    talk.out("done", "a")
    assert not machine.busy()


def test_a_prompt_of_no_session_keeps_all_busy() -> None:
    machine = Slow()
    Talk(machine).prompt("first", None)
    assert (machine.busy(), machine.busy("a")) == (True, True)


def test_no_prompt_goes_before_what_was_said_is_taken() -> None:
    """The agent may begin a turn of its own for it, as Claude Code does for what comes too late."""
    machine = ToyMachine()
    talk = Talk(machine)
    talk.prompt("one", "a")
    machine._untaken["m"] = "too late"
    talk.out("done", "a")
    talk.prompt("two", "a")
    assert talk.sent == ["one"]
    assert machine.busy("a")
    del machine._untaken["m"]
    talk.out("text", "a")
    assert talk.sent == ["one", "two"]
