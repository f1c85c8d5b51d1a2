"""Turns belong to prompts: which turn took what we said, and when the next prompt may go.

The lines are in the order in which the CLIs write them, in both shapes: 2.1.197 echoes a message when a turn takes
it; 2.1.325 says besides what becomes of each (command_lifecycle), and names in init and result what a turn took.
"""

from typing import Any, Literal

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects.claude.stream.machine import ClaudeStream
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.frames import Exit
from dragoman._wire.machine import play
from tests.dialects.claude.stream.conversation import (
    SESSION,
    Conversation,
    init,
    result,
    text,
    tool_result,
    tool_use,
)

Version = Literal["2.1.197", "2.1.325"]
ARGV = ["claude", "--replay-user-messages", "--session-id", SESSION]
TASK_DONE = {"kind": "task-notification"}
INTERRUPTED = {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_streaming"}


class Talk(Conversation):
    """With a CLI of that version. What we said is named by its text."""

    def __init__(self, version: Version) -> None:
        super().__init__(ARGV)
        self.version = version
        self.names = version == "2.1.325"
        """It says what a turn took."""

    # --- what the CLI writes -----------------------------------------------------------------------------

    def becomes(self, state: str, *messages: str) -> None:
        if self.names:
            for message in messages:
                fields = {"command_uuid": self.uuid(message), "state": state, "session_id": SESSION}
                self.agent({"type": "command_lifecycle", **fields})

    def begins(self, *messages: str) -> None:
        """A turn begins for these."""
        self.becomes("started", *messages)
        took = {"user_message_uuids": [*map(self.uuid, messages)]} if self.names and messages else {}
        self.agent(init(version=self.version, **took))
        self.agent({"type": "system", "subtype": "status", "status": "requesting", "session_id": SESSION})

    def echoes(self, message: str, said: str | None = None) -> None:
        what = {"role": "user", "content": said or message}
        self.agent({"type": "user", "message": what, "uuid": self.uuid(message), "isReplay": True})

    def ends(self, *messages: str, said: str = "Done.", **fields: Any) -> None:
        """A turn ends that took these."""
        took = {"user_message_uuids": [*map(self.uuid, messages)]} if self.names and messages else {}
        self.agent(result(said, **took, **fields))
        self.becomes("cancelled" if fields.get("is_error") else "completed", *messages)

    def answers(self, message: str) -> None:
        """A whole turn for one message."""
        self.begins(message)
        self.echoes(message)
        self.agent(text(f"to {message}", id=f"msg_{message}"))
        self.ends(message, said=f"to {message}")

    def runs(self, command: str) -> None:
        """A slash command is run. 2.1.197 does not echo it; 2.1.325 does, in other words and at the end."""
        self.begins(command)
        self.agent(text("$0.01", id=f"msg_{command}"))
        if self.names:
            self.echoes(command, f"<command-name>{command}</command-name>")
        self.ends(command, said="$0.01")

    # --- what we say -------------------------------------------------------------------------------------

    def prompt(self, message: str) -> None:
        self.say(c.Prompt(text=message, id=message))
        self.becomes("queued", *(message for said in self.said() if said == message))

    def steer(self, message: str) -> None:
        self.say(c.Steer(text=message))
        self.becomes("queued", message)

    def said(self) -> list[str]:
        """What we have said so far: a prompt that is held has not been."""
        return [line["message"]["content"] for line in self.sent if line["type"] == "user"]

    def uuid(self, message: str) -> str:
        [uuid] = [
            line["uuid"]
            for line in self.sent
            if line["type"] == "user" and line["message"]["content"] == message
        ]
        return str(uuid)

    # --- what came of it ---------------------------------------------------------------------------------

    def turns(self) -> list[tuple[str | None, str | None, list[str]]]:
        """Each turn: the prompt it began with, its final answer, and what it heard from the user (not the echoes)."""
        ended = {event.turn: event.text for event in self.of(ev.TurnEnded)}
        heard: dict[int, list[str]] = {event.turn: [] for event in self.of(ev.TurnStarted)}
        for message in self.of(ev.Message):
            if message.role == "user" and not message.echo and not message.synthetic:
                heard[message.turn].append(message.text or "")
        return [(event.prompt, ended.get(event.turn), heard[event.turn]) for event in self.of(ev.TurnStarted)]

    def over(self) -> None:
        """Nothing is left to come, all that always holds, holds, and the frames alone give the same events."""
        assert not self.machine.busy()
        assert self.machine._untaken == {}
        self.end(code=0)
        frames = [frame.n for frame in self.frames if frame.dir == "out"]
        assert broken(self.events, frames=frames) == []
        assert list(play(self.frames, ClaudeStream(), self._launch, lambda: Exit(code=0))) == self.events


@pytest.fixture(params=["2.1.197", "2.1.325"])
def talk(request: pytest.FixtureRequest) -> Talk:
    return Talk(request.param)


def named(talk: Talk, prompt: str) -> str | None:
    """The prompt of a turn that the CLI began for a message of ours, where it says for which."""
    return prompt if talk.names else None


def test_every_message_has_an_id_and_each_its_own(talk: Talk) -> None:
    talk.prompt("P1")
    talk.steer("S")
    ids = [line["uuid"] for line in talk.sent if line["type"] == "user"]
    assert len(set(ids)) == 2
    assert [event.message_id for event in talk.of(ev.Message)] == ids


def test_one_turn_for_one_prompt(talk: Talk) -> None:
    talk.prompt("P1")
    assert talk.machine.busy()
    talk.answers("P1")
    assert talk.turns() == [("P1", "to P1", ["P1"])]
    [ended] = talk.of(ev.TurnEnded)
    assert ended.message_ids == [talk.uuid("P1")]
    talk.prompt("P2")
    talk.answers("P2")
    assert talk.turns()[1:] == [("P2", "to P2", ["P2"])]
    assert [talk.machine.turn_of(prompt) for prompt in ("P1", "P2")] == [1, 2]
    talk.over()


def test_a_steer_that_is_folded_into_the_turn(talk: Talk) -> None:
    talk.prompt("P1")
    talk.begins("P1")
    talk.echoes("P1")
    talk.agent(tool_use("Bash", command="sleep 2"))
    talk.steer("S")
    assert list(talk.machine._untaken.values()) == ["S"]
    talk.agent(tool_result("done"))
    talk.echoes("S")
    talk.becomes("started", "S")
    talk.agent(text("Both."))
    talk.becomes("completed", "S")
    took = {"user_message_uuids": [talk.uuid("P1"), talk.uuid("S")]} if talk.names else {}
    talk.agent(result("Both.", **took))
    talk.becomes("completed", "P1")
    assert talk.turns() == [("P1", "Both.", ["P1", "S"])]
    [ended] = talk.of(ev.TurnEnded)
    assert ended.message_ids == [talk.uuid("P1"), talk.uuid("S")]
    talk.prompt("P2")
    assert talk.said() == ["P1", "S", "P2"]
    talk.answers("P2")
    talk.over()


def late_steer(talk: Talk, *messages: str) -> None:
    """Said while the turn is about to end: it takes no more."""
    talk.prompt("P1")
    talk.begins("P1")
    for message in messages:
        talk.steer(message)
    talk.echoes("P1")
    talk.agent(text("to P1"))
    talk.ends("P1", said="to P1")


def test_a_steer_that_comes_too_late_has_a_turn_of_its_own(talk: Talk) -> None:
    late_steer(talk, "S")
    assert talk.machine.busy()
    assert not talk.machine.ledger.busy()
    talk.answers("S")
    assert talk.turns() == [("P1", "to P1", ["P1", "S"]), (named(talk, "S"), "to S", [])]
    assert [event.synthesized for event in talk.of(ev.TurnStarted)] == [False, True]
    talk.over()


def test_a_prompt_is_held_until_what_came_too_late_has_been_answered(talk: Talk) -> None:
    """Else the turn that the CLI begins for the steer would be taken for the prompt's."""
    late_steer(talk, "S")
    talk.prompt("P2")
    assert talk.said() == ["P1", "S"]
    assert talk.machine.turn_of("P2") is None
    talk.begins("S")
    talk.echoes("S")
    assert talk.said() == ["P1", "S"]
    talk.agent(text("to S", id="msg_S"))
    talk.ends("S", said="to S")
    assert talk.said() == ["P1", "S", "P2"]
    talk.answers("P2")
    assert talk.turns() == [
        ("P1", "to P1", ["P1", "S"]),
        (named(talk, "S"), "to S", []),
        ("P2", "to P2", ["P2"]),
    ]
    assert talk.machine.turn_of("P2") == 3
    talk.over()


def test_two_steers_that_come_too_late_share_a_turn(talk: Talk) -> None:
    """The first is echoed before init; with the second comes the text of both."""
    late_steer(talk, "S1", "S2")
    talk.prompt("P2")
    talk.echoes("S1")
    assert talk.machine.ledger.busy()
    talk.begins("S1", "S2")
    talk.echoes("S2", "S1\nS2")
    assert talk.machine._untaken == {}
    talk.agent(text("to both", id="msg_2"))
    assert talk.said() == ["P1", "S1", "S2"]
    talk.ends("S1", "S2", said="to both")
    assert talk.said() == ["P1", "S1", "S2", "P2"]
    talk.answers("P2")
    assert talk.turns() == [
        ("P1", "to P1", ["P1", "S1", "S2"]),
        ("S1", "to both", []),
        ("P2", "to P2", ["P2"]),
    ]
    assert talk.of(ev.TurnEnded)[1].message_ids == [talk.uuid("S1"), talk.uuid("S2")]
    talk.over()


@pytest.mark.parametrize("steer_first", [True, False])
def test_an_interrupt_with_a_steer_in_the_queue(talk: Talk, steer_first: bool) -> None:
    """The turn is stopped, and the steer has one of its own."""
    talk.prompt("P1")
    talk.begins("P1")
    talk.echoes("P1")
    if steer_first:
        talk.steer("S")
    talk.say(c.Interrupt(id="i"))
    queued = {"still_queued": [talk.uuid("S")] if steer_first else []} if talk.names else None
    response = {"subtype": "success", "request_id": "i", "response": queued}
    if not steer_first:
        talk.steer("S")
    talk.agent({"type": "control_response", "response": response}, text("to "))
    stop = [{"type": "text", "text": "[Request interrupted by user]"}]
    talk.agent({"type": "user", "message": {"role": "user", "content": stop}, "session_id": SESSION})
    talk.prompt("P2")
    talk.ends("P1", said="", **INTERRUPTED)
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["cancelled"]
    [ended] = talk.of(ev.CommandEnded)
    assert (ended.request_id, ended.ok) == ("i", True)
    assert talk.said() == ["P1", "S"]
    talk.answers("S")
    assert talk.said() == ["P1", "S", "P2"]
    talk.answers("P2")
    assert [event.prompt for event in talk.of(ev.TurnStarted)] == ["P1", named(talk, "S"), "P2"]
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["cancelled", "completed", "completed"]
    talk.over()


def test_an_interrupt_before_the_turn_has_taken_its_prompt(talk: Talk) -> None:
    talk.prompt("P1")
    talk.say(c.Interrupt(id="i"))
    talk.agent({"type": "control_response", "response": {"subtype": "success", "request_id": "i"}})
    talk.begins("P1")
    talk.echoes("P1")
    talk.ends("P1", said="", **INTERRUPTED)
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["cancelled"]
    talk.prompt("P2")
    talk.answers("P2")
    talk.over()


# --- slash commands ------------------------------------------------------------------------------------------


def test_a_slash_command_as_a_prompt(talk: Talk) -> None:
    talk.prompt("/cost")
    talk.runs("/cost")
    talk.prompt("P2")
    assert talk.said() == ["/cost", "P2"]
    talk.answers("P2")
    assert talk.turns() == [("/cost", "$0.01", ["/cost"]), ("P2", "to P2", ["P2"])]
    talk.over()


def test_a_slash_command_as_a_steer(talk: Talk) -> None:
    """It is never folded into a turn."""
    late_steer(talk, "/cost")
    talk.prompt("P2")
    assert talk.said() == ["P1", "/cost"]
    talk.runs("/cost")
    assert talk.said() == ["P1", "/cost", "P2"]
    talk.answers("P2")
    assert talk.turns() == [
        ("P1", "to P1", ["P1", "/cost"]),
        (named(talk, "/cost"), "$0.01", []),
        ("P2", "to P2", ["P2"]),
    ]
    talk.over()


@pytest.mark.parametrize("order", [("/cost", "S"), ("S", "/cost")])
def test_a_slash_command_and_another_steer(talk: Talk, order: tuple[str, str]) -> None:
    late_steer(talk, *order)
    talk.prompt("P2")
    for message in order:
        assert talk.said() == ["P1", *order]
        if message.startswith("/"):
            talk.runs(message)
        else:
            talk.answers(message)
    assert talk.said() == ["P1", *order, "P2"]
    talk.answers("P2")
    assert [answer for _, answer, _ in talk.turns()] == [
        "to P1",
        *("$0.01" if message.startswith("/") else f"to {message}" for message in order),
        "to P2",
    ]
    talk.over()


def test_a_steer_behind_a_slash_command(talk: Talk) -> None:
    talk.prompt("/cost")
    talk.steer("S")
    talk.runs("/cost")
    assert list(talk.machine._untaken.values()) == ["S"]
    talk.answers("S")
    assert [answer for _, answer, _ in talk.turns()] == ["$0.01", "to S"]
    talk.over()


def test_compact_is_a_slash_command_too(talk: Talk) -> None:
    talk.say(c.Compact())
    assert talk.said() == ["/compact"]
    talk.prompt("P2")
    assert talk.said() == ["/compact"]
    talk.runs("/compact")
    assert talk.said() == ["/compact", "P2"]
    talk.answers("P2")
    talk.over()


# --- turns that the CLI begins by itself ---------------------------------------------------------------------


def own_turn(talk: Talk) -> None:
    """Something in the background is done, and the CLI tells the model. No result names a message then, and it says
    where the turn came from."""
    talk.begins()
    talk.agent(text("It has finished.", id="msg_own"))
    talk.ends(said="It has finished.", origin=TASK_DONE)


def test_a_turn_that_nobody_prompted(talk: Talk) -> None:
    talk.prompt("P1")
    talk.answers("P1")
    own_turn(talk)
    assert talk.turns() == [("P1", "to P1", ["P1"]), (None, "It has finished.", [])]
    [_, ended] = talk.of(ev.TurnEnded)
    assert ended.ext == {"claude.origin": TASK_DONE}
    talk.prompt("P2")
    talk.answers("P2")
    talk.over()


def test_a_prompt_waits_for_a_turn_that_nobody_prompted(talk: Talk) -> None:
    talk.begins()
    talk.prompt("P1")
    assert talk.said() == []
    talk.ends(said="It has finished.", origin=TASK_DONE)
    assert talk.said() == ["P1"]
    talk.answers("P1")
    assert talk.turns() == [(None, "It has finished.", []), ("P1", "to P1", ["P1"])]
    talk.over()


def test_a_result_that_names_others_is_not_the_end_of_the_prompts_turn() -> None:
    talk = Talk("2.1.325")
    talk.prompt("P1")
    talk.begins()
    talk.agent(text("Something else.", id="msg_own"))
    talk.agent(result("Something else.", user_message_uuids=[], total_cost_usd=0.5))
    assert talk.of(ev.TurnEnded) == []
    [usage] = talk.of(ev.UsageUpdated)
    assert (usage.scope, usage.cost_usd) == ("turn", 0.5)
    assert talk.machine.busy()
    talk.answers("P1")
    assert talk.turns() == [("P1", "to P1", ["P1"])]
    talk.over()


def test_a_prompt_that_crosses_a_turn_of_the_clis_own(talk: Talk) -> None:
    """It was sent when the CLI had begun, and had not been heard yet. The CLI answers it afterwards (seen with both
    versions, with a command in the background)."""
    talk.prompt("P1")
    own_turn(talk)
    assert talk.of(ev.TurnEnded) == []
    assert talk.machine.busy()
    talk.answers("P1")
    assert talk.turns() == [("P1", "to P1", ["P1"])]
    assert talk.machine.turn_of("P1") == 1
    talk.over()


# --- without echoes ------------------------------------------------------------------------------------------


def test_a_cli_that_does_not_echo_takes_everything_at_once() -> None:
    """Recordings of others have such: there is nothing to wait for."""
    talk = Conversation()
    talk.say(c.Prompt(text="P1"))
    talk.say(c.Steer(text="S"))
    talk.agent(init(), text("Hi."), result("Hi."))
    assert not talk.machine.busy()
    talk.say(c.Prompt(text="P2"))
    assert [event.prompt for event in talk.of(ev.TurnStarted)] == ["P1", "P2"]


def test_an_echo_of_what_nobody_said_opens_no_turn(talk: Talk) -> None:
    """History that is played back, or another client's."""
    what = {"role": "user", "content": "earlier"}
    talk.agent({"type": "user", "message": what, "uuid": "unknown", "isReplay": True, "session_id": SESSION})
    assert talk.of(ev.TurnStarted) == []
    [message] = talk.of(ev.Message)
    assert message.echo
    talk.over()
