"""What is said in a thread: the items that are messages, and those of the past. Stateless and total."""

from collections.abc import Iterator
from typing import Any

from dragoman._dialects.codex.app import items as i
from dragoman._dialects.codex.app import tools
from dragoman._dialects.codex.app.changes import file_changes
from dragoman._dialects.codex.shared.content import user_message
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._wire.jsontext import Unknown


def messages(item: Any) -> list[ev.Message]:
    """The messages of an item, one for each part of reasoning; none if it is no message."""
    if isinstance(item, i.UserMessage):
        return [user_message(item.content, item.id)]
    if isinstance(item, i.HookPrompt):
        text = "\n".join(str(fragment.get("text", "")) for fragment in item.fragments or [])
        return [ev.Message(role="user", text=text, message_id=item.id, synthetic=True)]
    if isinstance(item, i.AgentMessage):
        return [answer(item)]
    if isinstance(item, i.Plan):
        return [ev.Message(role="assistant", kind="plan", text=item.text, message_id=item.id)]
    if isinstance(item, i.Reasoning):
        parts = [*(item.summary or []), *(item.content or [])]
        return [
            ev.Message(role="assistant", kind="thinking", text=part, message_id=item.id, block=block)
            for block, part in enumerate(parts)
        ]
    return []


def answer(item: i.AgentMessage) -> ev.Message:
    """The message of an item that the model says."""
    kind: ev.MessageKind = "commentary" if item.phase == "commentary" else "text"
    return ev.Message(role="assistant", kind=kind, text=item.text, message_id=item.id)


def history(turns: list[i.Turn]) -> Iterator[Event]:
    """The events of the past turns that thread/resume and thread/fork answer."""
    for item in (item for turn in turns for item in turn.items):
        for event in _past(item):
            event.replay = True
            yield event


def _past(item: i.ThreadItem) -> Iterator[Event]:
    if isinstance(item, Unknown):
        return
    yield from messages(item)
    if type(item) in tools.STARTS:
        yield tools.started(item)
        ended = tools.ENDS[type(item)](item)
        if isinstance(item, i.FileChange):
            yield from file_changes(
                item.changes, item.id, "applied" if ended.status == "completed" else "failed"
            )
        yield ended
