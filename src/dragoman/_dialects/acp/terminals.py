"""Terminals: what runs in them, whoever runs it, and which tool call shows it.

Agents of protocol 1 tell of their own terminals in `_meta` of a tool call (terminal_info, terminal_output,
terminal_exit), those of protocol 2 in updates of their own, which may come before the tool that they belong to.
"""

import codecs
from base64 import b64decode
from typing import Any

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger


class Terminal(Struct):
    output: str = ""
    exit_code: int | None = None
    signal: str | None = None
    call_id: str | None = None
    put_length: int = 0
    """How much of the output was told as the tool's."""
    rest: bytes = b""
    """The beginning of a character whose end comes with the next chunk."""


class Terminals:
    """The terminals of one session."""

    def __init__(self, ledger: Ledger, *, replay: bool) -> None:
        self._ledger = ledger
        self._replay = replay
        self._known: dict[str, Terminal] = {}

    def find(self, terminal_id: str) -> Terminal:
        return self._known.setdefault(terminal_id, Terminal())

    def of(self, call_id: str) -> list[Terminal]:
        """The terminals that a tool call embeds."""
        return [terminal for terminal in self._known.values() if terminal.call_id == call_id]

    def tie(self, terminal_id: str, call_id: str) -> None:
        """A tool call embeds this terminal: its output so far and from now on is the tool's."""
        terminal = self.find(terminal_id)
        terminal.call_id = call_id
        self._tell(terminal_id, terminal)

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
                self.find(terminal_id).output += fields.text(said, "data") or ""
                self.tie(terminal_id, call_id)
        if exit:
            self.keep_exit(fields.text(exit, "terminal_id") or call_id, exit, "exit_code")

    def add_output(self, terminal_id: str, data: str) -> None:
        """Add output, given in base64."""
        terminal = self.find(terminal_id)
        self._decode(terminal, data)
        self._tell(terminal_id, terminal)

    def replace_output(self, terminal_id: str, output: str | None = None, data: str | None = None) -> None:
        """Replace the output, given as text or in base64."""
        terminal = self.find(terminal_id)
        before, terminal.output, terminal.rest = terminal.output, output or "", b""
        if data is not None:
            self._decode(terminal, data)
        if terminal.output.startswith(before):
            self._tell(terminal_id, terminal)
        elif terminal.call_id is not None:
            terminal.put_length = len(terminal.output)
            self._ledger.put(
                ev.ToolUpdated(
                    call_id=terminal.call_id,
                    output=terminal.output,
                    terminal_id=terminal_id,
                    replay=self._replay,
                )
            )

    def keep_exit(self, terminal_id: str, status: dict[str, Any], key: str = "exitCode") -> None:
        terminal = self.find(terminal_id)
        terminal.exit_code, terminal.signal = fields.integer(status, key), fields.text(status, "signal")

    def _tell(self, terminal_id: str, terminal: Terminal) -> None:
        news = terminal.output[terminal.put_length :]
        if news and terminal.call_id is not None:
            terminal.put_length = len(terminal.output)
            self._ledger.put(
                ev.Delta(
                    kind="tool_output",
                    text=news,
                    call_id=terminal.call_id,
                    terminal_id=terminal_id,
                    replay=self._replay,
                )
            )

    def _decode(self, terminal: Terminal, data: str) -> None:
        try:
            raw = terminal.rest + b64decode(data)
        except ValueError:
            raw = terminal.rest
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        terminal.output += decoder.decode(raw)
        terminal.rest = decoder.getstate()[0]
