"""Lines that go to their handlers at once: the general way, behind it, makes the same events of each of them."""

import msgspec
import pytest

from dragoman._dialects.codex.exec import messages as m
from dragoman._dialects.codex.exec.machine import CodexExec
from dragoman._model.events import Event
from tests.dialects.test_one_decode import Refuses, lines_of, mutated
from tests.interpreted import interpreted, out

BEFORE = (b'{"type":"thread.started","thread_id":"t"}', b'{"type":"turn.started"}')


def events_of(line: bytes) -> list[Event]:
    """What comes of a line in an open turn, and of the same one again."""
    return interpreted("codex_exec", out((*BEFORE, line, line)))


def refuse(line: bytes) -> m.Message:
    raise msgspec.ValidationError("refused")


def test_both_roads_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for each in lines_of("codex_exec") for line in mutated(each, sorted(m.TYPES))]
    lines += [b"", b"  ", b"null", b"[7]", b'{"id":"1","msg":{"type":"task_started"}}']
    at_once = [events_of(line) for line in lines]
    monkeypatch.setattr(m, "decode", refuse)
    monkeypatch.setattr(m, "_TYPED", Refuses())
    assert len(lines) > 1_000
    for line, events in zip(lines, at_once, strict=True):
        assert events_of(line) == events, line


def test_captured_lines_take_the_short_road(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CodexExec, "read", None)
    for line in lines_of("codex_exec"):
        events_of(line)
