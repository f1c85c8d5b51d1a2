"""A recording that plays the agent: what the agent said is said again, in its order, and what the client said is waited
for at its place. What comes in place of it, and is not the same, ends the playing with NotAsRecorded."""

import json
import re
import signal
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from dragoman._files import likeness
from dragoman._files.sources import Source
from dragoman._model.commands import Reply
from dragoman._model.errors import NotAsRecorded
from dragoman._model.events import HostCalled
from dragoman._model.frames import Exit, Frame
from dragoman._runtime.process.played import Stage, Stopped
from dragoman._wire import note_frames
from dragoman._wire.jsontext import parse
from dragoman._wire.redaction import Redactor

_SHOWN: Final = 2_000
"""Characters of a line that an error shows."""
_NOTHING: Final = "nothing more"


class _HungUp(Exception):
    """The client says nothing any more."""


class Playback:
    """Plays what `opened` has, once for each time that it is called."""

    def __init__(
        self,
        opened: Callable[[], Source],
        *,
        speed: float | None,
        places: list[tuple[str, str]],
        redactor: Redactor,
        waits_for_end: bool,
    ) -> None:
        self.sent: list[bytes] = []
        """What the client has said."""
        self.left: list[bytes] = []
        """What it had said when this was recorded, and has not said now."""
        self._opened = opened
        self._speed = speed
        self._redactor = redactor
        self._waits_for_end = waits_for_end
        """The agent goes on until its client hangs up; else it exits with its last line."""
        self._ids: dict[str, Any] = {}
        """The ids of our requests, by those that were recorded."""
        self._swaps = _Swaps()
        for one, other in places:
            self._swaps.place(one, other)
        self._early: list[bytes] = []
        """What came before its place."""
        self._hung_up = False

    def __call__(self, stage: Stage) -> int:
        source = self._opened()
        frames = iter(source)
        try:
            self._play(stage, frames, source.name)
            self._end(stage, source.name)
        except _HungUp:
            self.left += [frame.line for frame in frames if frame.dir == "in"]
            return 0
        except Stopped as stopped:
            over = not any(frame.dir in ("in", "out") for frame in frames)
            return _status(source.exit) if over and source.exit is not None else -stopped.number
        finally:
            source.close()
        return _status(source.exit)

    def _play(self, stage: Stage, frames: Any, name: str) -> None:
        since, at, stopping = time.monotonic(), 0.0, False
        for frame in frames:
            if frame.dir == "note":
                stopping = isinstance(note_frames.read(frame.line), note_frames.Stopping)
            elif frame.dir == "in":
                self._hear(stage, frame, name)
                since, at, stopping = time.monotonic(), frame.t or at, False
            else:
                if stopping and not self._hung_up:  # it was said because the client hung up
                    self._await_end(stage)
                    stopping = False
                if self._speed is not None and frame.t is not None:
                    stage.pause(max(0.0, (frame.t - at) / self._speed - (time.monotonic() - since)))
                say = stage.say if frame.dir == "out" else stage.complain
                say(self._as_now(frame.line), frame.eol)

    def _end(self, stage: Stage, name: str) -> None:
        """Nothing more was recorded: only the client's end is waited for, where the agent had waited for it."""
        while self._waits_for_end and not self._hung_up:
            line = stage.line()
            self._hung_up = line is None or likeness.is_farewell(parse(line))
            if line is not None and not self._hung_up:
                raise self._unlike(name, None, line, "the recording is over")

    # --- what the client says ----------------------------------------------------------------------------

    def _hear(self, stage: Stage, frame: Frame, name: str) -> None:
        """Wait for the line that was recorded. Answers to several requests, and what is said in several sessions, may come
        in another order than they did."""
        recorded = parse(self._redactor.line(self._swaps.applied(frame.line)))
        waiting, self._early = self._early, []
        while True:
            line = waiting.pop(0) if waiting else self._line(stage, frame)
            sent = parse(self._redactor.line(line))
            differs = likeness.difference(recorded, sent)
            if differs is None:
                self._early += waiting
                self._learn(parse(frame.line), parse(line))
                return
            if likeness.is_farewell(sent):
                self.left.append(frame.line)
                raise _HungUp
            if not _may_be_early(recorded, sent):
                raise self._unlike(name, frame, line, differs)
            self._early.append(line)

    def _line(self, stage: Stage, frame: Frame) -> bytes:
        line = None if self._hung_up else stage.line()
        if line is None:
            self.left.append(frame.line)
            raise _HungUp
        self.sent.append(line)
        return line

    def _await_end(self, stage: Stage) -> None:
        while (line := stage.line()) is not None:
            self.sent.append(line)
            self._early.append(line)
        self._hung_up = True

    def _learn(self, recorded: Any, sent: Any) -> None:
        pairs = likeness.paired(recorded, sent)
        for one, other in pairs.ids:
            if one != other:
                self._ids[_key(one)] = other
            else:
                self._ids.pop(_key(one), None)
        for one, other in pairs.texts:
            self._swaps.text(one, other)
        for one, other in pairs.places:
            self._swaps.place(one, other)

    def _as_now(self, line: bytes) -> bytes:
        """A line of the agent's, with our ids and our folders in it."""
        line = self._swaps.applied(line)
        if self._ids:
            message = parse(line)
            if likeness.is_answer(message) and _key(likeness.answered(message)) in self._ids:
                return msgspec.json.encode(
                    likeness.renamed(message, self._ids[_key(likeness.answered(message))])
                )
        return line

    def _unlike(self, name: str, frame: Frame | None, line: bytes, differs: str) -> NotAsRecorded:
        recorded = _NOTHING if frame is None else _text(self._redactor.line(frame.line))
        sent = _text(self._redactor.line(line))
        where = name if frame is None else f"{name}, frame {frame.n}"
        return NotAsRecorded(
            f"the program sends something else than was recorded ({where}): {differs}\n"
            f"  recorded: {recorded:.{_SHOWN}}\n  sent:     {sent:.{_SHOWN}}\n"
            "Let it send the same, or record anew",
            recorded=recorded,
            sent=sent,
        )


def _may_be_early(recorded: Any, sent: Any) -> bool:
    if likeness.is_answer(sent):
        return not likeness.is_answer(recorded) or likeness.answered(recorded) != likeness.answered(sent)
    one, other = likeness.session(recorded), likeness.session(sent)
    return one is not None and other is not None and one != other


class _Swaps:
    """Texts that are others now, wherever they stand in a line."""

    def __init__(self) -> None:
        self._texts: dict[bytes, bytes] = {}
        self._patterns: list[bytes] = []
        self._pattern: re.Pattern[bytes] | None = None

    def text(self, one: str, other: str) -> None:
        self._add(one, other, b"%b")

    def place(self, one: str, other: str) -> None:
        """A folder: also at the beginning of a path, never within a name."""
        one, other = one.rstrip("/"), other.rstrip("/")
        self._add(one, other, rb"(?:(?<=\\[nrt])|(?<![\w.-]))%b(?![\w.-])")

    def _add(self, one: str, other: str, pattern: bytes) -> None:
        before, after = (json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in (one, other))
        if before and before != after and before not in self._texts:
            self._texts[before] = after
            self._patterns.append(pattern % re.escape(before))
            self._patterns.sort(key=len, reverse=True)
            self._pattern = re.compile(b"|".join(self._patterns))

    def applied(self, line: bytes) -> bytes:
        if self._pattern is None:
            return line
        return self._pattern.sub(lambda found: self._texts[found[0]], line)


def host_replies(source: Source) -> Callable[[HostCalled], Reply | None]:
    """What the client answered to calls for files and terminals (ACP), by the id of the call."""
    calls: set[str] = set()
    replies: dict[str, Reply] = {}
    for frame in source:
        if frame.dir == "out" and likeness.is_host_call(frame.line):
            calls.add(_key((parse(frame.line) or {}).get("id")))
        elif frame.dir == "in" and calls and likeness.is_answer(message := parse(frame.line)):
            error = message.get("error") or {}
            if (key := _key(message.get("id"))) in calls:
                replies[key] = Reply(
                    result=message.get("result"), error=error.get("message"), code=error.get("code")
                )
    return lambda call: replies.get(call.request_id)


def _key(id: Any) -> str:
    return id if isinstance(id, str) else json.dumps(id)


def _status(exit: Exit | None) -> int:
    if exit is None:
        return 0
    if exit.signal is not None:
        return -int(getattr(signal, exit.signal, signal.SIGKILL))
    return exit.code or 0


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
