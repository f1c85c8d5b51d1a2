"""Terminals: what runs in them, whoever runs it, and which tool call shows it.

Agents of protocol 1 tell of their own terminals in `_meta` of a tool call (terminal_info, terminal_output,
terminal_exit), those of protocol 2 in updates of their own, which may come before the tool that they belong to.
"""

import codecs
from base64 import b64decode
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger

LOOSE_KEPT: Final = 64
"""Terminals that no call embeds and that are kept for one that will: the newest."""


class Terminal:
    """What a terminal showed. Its output is kept in pieces: a long one grows by many."""

    __slots__ = ("_parts", "_untold", "call_id", "exit_code", "number", "rest")

    def __init__(self, number: int) -> None:
        self.number = number
        """In the order in which terminals became known."""
        self.exit_code: int | None = None
        self.call_id: str | None = None
        self.rest = b""
        """The beginning of a character whose end comes with the next chunk."""
        self._parts: list[str] = []
        self._untold: list[str] = []
        """The pieces that were not told as the tool's."""

    @property
    def output(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._untold.append(text)

    def replace(self, text: str) -> bool:
        """Take `text` for the whole output. Returns whether it goes on from what there was."""
        before = self.output
        goes_on = text.startswith(before)
        if goes_on:
            self.add(text[len(before) :])
        else:
            self._parts = [text] if text else []
            self._untold = [] if self.call_id is not None else [*self._parts]
        return goes_on

    def news(self) -> str:
        """What is told as the tool's from now on."""
        untold, self._untold = "".join(self._untold), []
        return untold


class Terminals:
    """The terminals of one session: those of calls, until the call is forgotten, and loose ones."""

    def __init__(self, ledger: Ledger, *, replay: bool) -> None:
        self._ledger = ledger
        self._replay = replay
        self._known: dict[str, Terminal] = {}
        self._loose: dict[str, None] = {}
        """The ids of those that no call embeds."""
        self.of_calls: dict[str, dict[str, Terminal]] = {}
        """Those that calls embed, by the id of the call."""
        self._made = 0

    def find(self, terminal_id: str) -> Terminal:
        """The terminal with this id, made if it is new."""
        terminal = self._known.get(terminal_id)
        if terminal is None:
            self._made += 1
            terminal = self._known[terminal_id] = Terminal(self._made)
            self._loose[terminal_id] = None
            if len(self._loose) > LOOSE_KEPT:
                oldest = next(iter(self._loose))
                del self._loose[oldest], self._known[oldest]
        return terminal

    def of(self, call_id: str) -> list[Terminal]:
        """The terminals that a tool call embeds."""
        return sorted(self.of_calls.get(call_id, {}).values(), key=_number)

    def tie(self, terminal_id: str, call_id: str) -> None:
        """A tool call embeds this terminal: its output so far and from now on is the tool's."""
        terminal = self.find(terminal_id)
        if terminal.call_id != call_id:
            self._loose.pop(terminal_id, None)
            if terminal.call_id is not None:
                del self.of_calls[terminal.call_id][terminal_id]
            terminal.call_id = call_id
            self.of_calls.setdefault(call_id, {})[terminal_id] = terminal
        self._tell(terminal_id, terminal)

    def forget(self, call_id: str) -> None:
        """A call that embedded terminals has long ended."""
        for terminal_id in self.of_calls.pop(call_id, ()):
            del self._known[terminal_id]

    def read_meta(self, meta: dict[str, Any], call_id: str) -> None:
        """Take in the terminals in `_meta` of a tool call (captures codex-acp and claude-agent-acp:
        shell_zedmeta, shell_noterm)."""
        info, exit = fields.mapping(meta, "terminal_info"), fields.mapping(meta, "terminal_exit")
        for said in (
            info,
            fields.mapping(meta, "terminal_output"),
            fields.mapping(meta, "terminal_output_delta"),
            exit,
        ):
            if said:
                terminal_id = fields.text(said, "terminal_id") or call_id
                self.find(terminal_id).add(fields.text(said, "data") or "")
                self.tie(terminal_id, call_id)
        if exit:
            self.keep_exit(fields.text(exit, "terminal_id") or call_id, exit, "exit_code")

    def add_output(self, terminal_id: str, data: str) -> None:
        """Add output, given in base64."""
        terminal = self.find(terminal_id)
        terminal.add(_decoded(terminal, data))
        self._tell(terminal_id, terminal)

    def replace_output(self, terminal_id: str, output: str | None = None, data: str | None = None) -> None:
        """Replace the output, given as text or in base64."""
        terminal = self.find(terminal_id)
        terminal.rest = b""
        text = (output or "") + (_decoded(terminal, data) if data is not None else "")
        if terminal.replace(text):
            self._tell(terminal_id, terminal)
        elif terminal.call_id is not None:
            self._ledger.put(
                ev.ToolUpdated(
                    call_id=terminal.call_id,
                    output=text,
                    terminal_id=terminal_id,
                    replay=self._replay,
                )
            )

    def keep_exit(self, terminal_id: str, status: dict[str, Any], key: str = "exitCode") -> None:
        self.find(terminal_id).exit_code = fields.integer(status, key)

    def _tell(self, terminal_id: str, terminal: Terminal) -> None:
        if terminal.call_id is None:
            return
        news = terminal.news()
        if news:
            self._ledger.put(
                ev.Delta(
                    kind="tool_output",
                    text=news,
                    call_id=terminal.call_id,
                    terminal_id=terminal_id,
                    replay=self._replay,
                )
            )


_number: Final[Callable[[Terminal], int]] = attrgetter("number")


def _decoded(terminal: Terminal, data: str) -> str:
    """The text that base64 `data` holds, as far as its characters are whole."""
    try:
        raw = terminal.rest + b64decode(data)
    except ValueError:
        raw = terminal.rest
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(raw)
    terminal.rest = decoder.getstate()[0]
    return text
