"""What is said in a session: chunks become blocks, blocks become messages.

A block is an unbroken run of chunks of one kind and one message. Most agents of protocol 1 give their messages no
id: then the run is the message, and it is numbered here.
"""

from typing import Any, Final, Literal

from dragoman._dialects.acp import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock
from dragoman._wire import fields
from dragoman._wire.content import text_and_blocks
from dragoman._wire.jsontext import Unknown
from dragoman._wire.ledger import Ledger

Kind = Literal["text", "thinking"]

_KINDS: Final[dict[type[m.Update], Kind]] = {
    m.AgentChunk: "text",
    m.ThoughtChunk: "thinking",
    m.AgentMessage: "text",
    m.AgentThought: "thinking",
}


Run = tuple[type[m.Update], str | None, str | None]
"""The type, the message's own id and the parent that chunks in a row share if they are one block. A plain tuple: one is
made for every chunk, and a named one takes six times as long."""


class Texts:
    """The messages of one session."""

    def __init__(self, ledger: Ledger) -> None:
        self.run: Run | None = None
        """What the open block is of; None if none is open. Where it is, the next four are the block's."""
        self.kind: Kind = "text"
        self.id = ""
        self.block = 0
        self.parts: list[str] = []
        """What its deltas said, as the ledger made it whole."""
        self._ledger = ledger
        self._made = 0
        self._blocks: dict[str, int] = {}
        self._answer: str | None = None

    @property
    def answer(self) -> str | None:
        """The agent's last text to the user since `forget`."""
        if self.run is not None and self.kind == "text" and self.run[2] is None:
            return "".join(self.parts)
        return self._answer

    def forget(self) -> None:
        """Begin the block numbers again, for another turn or another history."""
        self.close()
        self._answer = None
        self._blocks = {}

    def close(self) -> None:
        """End the open block, because something else follows."""
        if self.run is not None:
            self._ledger.close_text()
            self._answer = self.answer
            self.run, self.parts = None, []

    # --- the agent ---------------------------------------------------------------------------------------

    def agent(self, chunk: m.AgentChunk | m.ThoughtChunk, words: str | None, replay: bool) -> None:
        """Take in a chunk of the agent; `words` is its text, None if it is not plain text."""
        given, parent = chunk.messageId, parent_of(chunk)
        run = (type(chunk), given, parent)
        if not words:
            if words is None and chunk.content:
                self._say(run, chunk.content, replay)
            return
        if replay and given is None:
            self._say(run, words, replay)
            return
        if run != self.run:
            self.close()
            self.run, self.kind = run, _KINDS[type(chunk)]
            self.id, self.block = self._next(given)
        if replay:
            delta = ev.Delta(
                kind=self.kind, text=words, message_id=self.id, block=self.block, parent=parent, replay=True
            )
            self._ledger.put(delta)
            words = delta.text
        else:
            words = self._ledger.delta(self.kind, words, self.id, self.block, None, parent)
        self.parts.append(words)

    def whole(self, message: m.AgentMessage | m.AgentThought, *, replay: bool) -> None:
        """Take in a whole message of the agent. One without content only announces the chunks to come."""
        given = message.messageId
        if message.content:
            if given is not None:
                self._blocks.pop(given, None)  # it replaces what was said under this id
            self._say((type(message), given, parent_of(message)), message.content, replay)

    def _say(self, run: Run, content: Any, replay: bool) -> None:
        """Put a message that comes in one line."""
        kind, given, parent = _KINDS[run[0]], run[1], run[2]
        self.close()
        words, blocks = _read(content)
        message_id, block = self._next(given)
        if kind == "text" and parent is None and words:
            self._answer = words
        self._ledger.put(
            ev.Message(
                role="assistant",
                kind=kind,
                text=words,
                blocks=blocks,
                message_id=message_id,
                block=block,
                parent=parent,
                replay=replay,
            )
        )

    # --- the user, in the agent's words ------------------------------------------------------------------

    def user(self, update: m.UserChunk | m.UserMessage, *, prompt: str | None, replay: bool) -> None:
        """Take in a message in the user's name: history, or an echo of the prompt."""
        words, blocks = _read(update.content if update.content else None)
        if words is None and not blocks:
            return
        self.close()
        message_id, block = self._next(update.messageId)
        echo = prompt is not None and (words is None or words.strip() in prompt)
        self._ledger.put(
            ev.Message(
                role="user",
                text=words,
                blocks=blocks,
                message_id=message_id,
                block=block,
                echo=echo and not replay,
                parent=parent_of(update),
                replay=replay,
            )
        )

    def _next(self, given: str | None) -> tuple[str, int]:
        """Message id and number of the block that begins."""
        if given is None:
            self._made += 1
            return f"m{self._made}", 0
        block = self._blocks.get(given, 0)
        self._blocks[given] = block + 1
        return given, block


def chunk_text(content: Any) -> str | None:
    """The text of a chunk's content that is plain text; None for anything else."""
    if isinstance(content, m.TextContent):
        return content.text
    return content if isinstance(content, str) else None


def parent_of(update: m.Update) -> str | None:
    """The id of the tool call whose subagent sent an update, where `_meta.claudeCode` has it."""
    return fields.text(fields.mapping(update.meta, "claudeCode"), "parentToolUseId")


def _read(content: Any) -> tuple[str | None, list[ContentBlock]]:
    """The text and blocks of a chunk's or message's `content`."""
    if isinstance(content, m.TextContent):
        content = content.text
    elif isinstance(content, Unknown):
        content = content.native
    text, blocks = text_and_blocks(content)
    return text or None, blocks
