"""How numbers, times, paths, questions and answers are put for a person."""

import os
from datetime import datetime
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._prices.spending import Cost


def seconds_of(tool: ev.ToolStarted | None, ended: ev.ToolEnded) -> float | None:
    if ended.duration_ms is not None:
        return ended.duration_ms / 1000
    if tool is None or tool.at is None or ended.at is None:
        return None
    return ended.at - tool.at


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


_SPANS: Final = ((60, 1, "min"), (24 * 60, 60, "h"), (14 * 24 * 60, 24 * 60, "d"))
"""Minutes below which a time is told in this unit, and how many minutes that has."""


def ago(time: datetime | None, now: datetime) -> str:
    """How long ago that was, or the date; a dash if it is not known."""
    if time is None:
        return "-"
    minutes = int((now - time).total_seconds() // 60)
    spans = (f"{minutes // size} {unit} ago" for border, size, unit in _SPANS if 0 <= minutes < border)
    return next(spans, f"{time.astimezone():%Y-%m-%d}")


def spent(event: ev.TurnEnded, cost: Cost) -> list[str]:
    """Tokens, cost and time, as far as known."""
    facts = []
    if (usage := event.usage) is not None:
        counts = ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
        tokens = ", ".join(f"{count:,} {way}" for count, way in counts if count is not None)
        if tokens:
            facts.append(f"tokens {tokens}")
    if paid := str(cost):
        facts.append(paid)
    if event.duration_ms is not None:
        facts.append(duration(event.duration_ms / 1000))
    return facts


def question_text(item: Any) -> str:
    """A question as it is asked: agents use `question`, `message` or a bare text; options are labelled."""
    if not isinstance(item, dict):
        return str(item)
    text = str(item.get("question") or item.get("message") or item.get("header") or "")
    labels = choices(item)
    return f"{text} [{' / '.join(labels)}]" if labels else text


def choices(item: Any) -> list[str]:
    """The answers that a question offers, by their labels."""
    options = item.get("options") if isinstance(item, dict) else None
    if not isinstance(options, list):
        return []
    return [
        str(option.get("label", option)) if isinstance(option, dict) else str(option) for option in options
    ]


def answer_text(event: ev.QuestionAnswered) -> str:
    if event.action != "accepted" or not isinstance(event.answers, dict):
        return event.action
    return ", ".join(f"{key}: {value}" for key, value in event.answers.items()) or event.action


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def short_path(path: str, here: str | None = None) -> str:
    """Relative to `here`, or to home, where that is shorter."""
    if here is not None and path.startswith(here.rstrip(os.sep) + os.sep):
        return path[len(here.rstrip(os.sep)) + 1 :]
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path
