"""What every machine does by itself, whatever it speaks."""

import re
from typing import Any

import pytest

from dragoman._dialects import DIALECTS, machine_for
from dragoman._model.commands import Prompt, Steer
from dragoman._model.errors import Unsupported
from dragoman._model.events import Event, NativeInvalid, NativeKnown, NativeUnknown, RunEnded, RunStarted
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.jsontext import Invalid, Unknown
from dragoman._wire.machine import Machine, StartOptions
from tests.runtime.toy_dialect import ToyMachine

pytestmark = pytest.mark.parametrize("dialect", [*DIALECTS, "toy"])

UNKNOWN = {
    "gemini_stream": b'{"type":"unheard of"}',
    "claude_stream": b'{"type":"unheard of"}',
    "codex_app": b'{"method":"unheard/of","params":{}}',
    "codex_exec": b'{"type":"unheard of"}',
    "acp": b'{"jsonrpc":"2.0","method":"unheard/of","params":{}}',
    "claude_transcript": b'{"type":"unheard of","uuid":"u"}',
    "gemini_chat": b'{"type":"unheard of","id":"m"}',
    "codex_rollout": b'{"timestamp":"2026-01-01T00:00:00Z","type":"unheard of","payload":{}}',
    "copilot_events": b'{"type":"unheard.of","id":"e","timestamp":"2026-01-01T00:00:00Z","parentId":null,"data":{}}',
    "qwen_chat": b'{"type":"unheard of","uuid":"u","sessionId":"s"}',
    "agent-event": b'{"type":"unheard of","id":"1","sessionId":"s","timestamp":"t"}',
    "insights": b'{"event":"unheard of","id":"1","timestamp":"t","provider":"claude"}',
    "toy": b'{"type":"unheard of"}',
}
"""A line of each dialect that says what no version has said so far."""


def started(dialect: str, options: StartOptions | None = None) -> Machine:
    machine = ToyMachine() if dialect == "toy" else machine_for(dialect)
    machine.start(Launch(agent="a", dialect=dialect), options)
    return machine


def said(machine: Machine, line: bytes, n: int = 1) -> list[Event]:
    return list(machine.receive(Frame(n, "out", line)).events)


@pytest.mark.parametrize("line", [b"", b" ", b"\t \r"])
def test_a_blank_line_is_named_as_one(dialect: str, line: bytes) -> None:
    [event] = said(started(dialect), line)
    assert isinstance(event, NativeKnown)
    assert (event.native_type, event.frame, event.origin) == ("blank", 1, "agent")


@pytest.mark.parametrize("line", [b"oops", b"\xff\xfe", b'{"type":', b"7", b'"text"', b"{" * 9000])
def test_what_is_no_message_is_reported_and_the_run_goes_on(dialect: str, line: bytes) -> None:
    machine = started(dialect)
    events = said(machine, line)
    assert [type(event) for event in events] == [NativeInvalid]
    assert isinstance(events[0], NativeInvalid)
    assert events[0].reason
    assert events[0].frame == 1
    [ended] = machine.end(Exit(code=0)).events
    assert isinstance(ended, RunEnded)


def test_what_is_not_known_is_named(dialect: str) -> None:
    [event] = said(started(dialect), UNKNOWN[dialect])
    assert isinstance(event, NativeUnknown)
    assert re.sub("[^a-z]", " ", event.native_type or "") == "unheard of"


def test_what_stands_in_the_place_of_a_message(dialect: str) -> None:
    """So it is within a line too: one of several messages may be the one that cannot be read."""
    machine = started(dialect)
    machine.take(Invalid("no reason"))
    machine.take(Unknown({"type": "a", "subtype": "b"}))
    invalid, unknown = machine.ledger.take()
    assert isinstance(invalid, NativeInvalid)
    assert isinstance(unknown, NativeUnknown)
    assert (invalid.reason, unknown.native_type) == ("no reason", "a/b")


def test_every_line_is_named_by_some_event(dialect: str) -> None:
    machine = started(dialect)
    for n, line in enumerate((b"{}", b"[]", b"[7]", b"null", b'{"id":1,"result":{}}', UNKNOWN[dialect]), 1):
        assert n in {event.frame for event in said(machine, line, n)}, line


def test_a_line_that_a_dialect_stumbles_over_is_reported(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = started(dialect)

    def stumbles(line: bytes) -> Any:
        raise LookupError("over this")

    monkeypatch.setattr(machine, "on_out", stumbles)
    monkeypatch.setattr(machine, "strict", False)
    [event] = said(machine, UNKNOWN[dialect])
    assert isinstance(event, NativeInvalid)
    assert event.reason == "not understood: LookupError: over this"
    monkeypatch.setattr(machine, "strict", True)
    with pytest.raises(LookupError):
        said(machine, UNKNOWN[dialect])


@pytest.mark.parametrize("keeps", [False, True])
def test_lines_are_kept_on_the_events_that_name_them(dialect: str, keeps: bool) -> None:
    machine = started(dialect, StartOptions(keeps_lines=keeps))
    assert [event.line for event in said(machine, b"oops")] == (["oops"] if keeps else [None])


def test_the_beginning_and_the_end(dialect: str) -> None:
    """Of the agent it is told with the launch."""
    machine = ToyMachine() if dialect == "toy" else machine_for(dialect)
    [begun] = machine.start(Launch(agent="somebody", dialect=dialect, resume="old")).events
    assert isinstance(begun, RunStarted)
    assert (begun.agent, machine.agent, machine.resumed) == ("somebody", "somebody", True)
    machine.receive(Frame(1, "err", b"help!"))
    [ended] = machine.end(Exit(code=1)).events
    assert isinstance(ended, RunEnded)
    assert (ended.outcome, ended.stderr_tail) == ("failed", "help!")


def test_what_cannot_be_said_in_a_dialect_is_refused(dialect: str) -> None:
    machine = started(dialect)
    for command in (Prompt(text="go"), Steer(text="left")):
        if command.needs not in machine.capabilities:
            with pytest.raises(Unsupported, match="a cannot do this"):
                machine.send(command)


def test_ids_of_our_messages_depend_on_the_seed_and_a_counter(dialect: str) -> None:
    one, same, other = (started(dialect, StartOptions(seed=seed)) for seed in ("a", "a", "b"))
    ids = [[machine.new_message_id() for _ in range(3)] for machine in (one, same, other)]
    assert ids[0] == ids[1]
    assert len({id for several in ids for id in several}) == 6
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}", id) for id in ids[0]
    )
