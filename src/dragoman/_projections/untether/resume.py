"""Resume lines: how a token is written into a chat, and found there again.

    `claude --resume 8a1f…`      `codex resume 0199…`      `gemini --resume abc123def`

In back-ticks or bare, alone on its line; where there are several, the last one counts.
"""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dragoman._projections.untether.model import ResumeToken


class ResumeLine(Struct, frozen=True):
    command: str
    """What comes before the token."""
    pattern: re.Pattern[str]
    latest: str | None = None
    """The command that takes up the most recent session."""
    latest_pattern: re.Pattern[str] | None = None


def _line(command: str, token: str = r"[^`\s]+") -> re.Pattern[str]:
    return _alone(rf"{command} (?P<token>{token})")


def _latest(command: str) -> re.Pattern[str]:
    return _alone(rf"{command}(?: -)?")


def _alone(words: str) -> re.Pattern[str]:
    """`words` alone on a line, with any blanks between them; keyboards make one long dash of two short ones."""
    words = words.replace("--", "(?:--|\u2014)").replace(" ", r"[^\S\n]+")
    return re.compile(rf"^[^\S\n]*`?{words}`?[^\S\n]*$", re.IGNORECASE | re.MULTILINE)


RESUME_LINES: Final[dict[str, ResumeLine]] = {
    "claude": ResumeLine(
        "claude --resume",
        _line("claude (?:--resume|-r)"),
        "claude --continue",
        _latest("claude (?:--continue|-c)"),
    ),
    "codex": ResumeLine(
        "codex resume", _line("codex resume"), "codex resume --last", _latest("codex resume --last")
    ),
    "gemini": ResumeLine(
        "gemini --resume",
        _line("gemini --resume", "[A-Za-z0-9_-]+"),
        "gemini --resume latest",
        _latest("gemini --resume(?: latest)?"),
    ),
    "opencode": ResumeLine(
        "opencode --session",
        _line("opencode(?: run)? (?:--session|-s)", "ses_[A-Za-z0-9]+"),
        "opencode --continue",
        _latest("opencode(?: run)? (?:--continue|-c)"),
    ),
    "pi": ResumeLine(
        "pi --session",
        _line("pi --session", r"[^`\s](?:[^`\n]*[^`\s])?"),
        "pi --continue",
        _latest("pi (?:--continue|-c)"),
    ),
    "amp": ResumeLine("amp threads continue", _line("amp threads continue", "T-[A-Za-z0-9-]+")),
}

_NOT_IDS: Final = frozenset(("latest", "last"))
"""Words that stand for the most recent session where an id would."""

_REPLIED: Final = re.compile("^\\s*\u21a9\ufe0f?\\s*", re.MULTILINE)
"""The arrow that a chat puts before the text that is replied to."""


def is_id(value: str) -> bool:
    """Whether `value` can name a session; a flag cannot, and `latest` names whichever it is."""
    return not value.startswith(("-", "\u2014")) and value.lower() not in _NOT_IDS


def format_resume(token: ResumeToken) -> str | None:
    """The line that takes up the session; None where there is none for this engine."""
    line = RESUME_LINES.get(token.engine)
    if line is None:
        return None
    if token.is_continue:
        return f"`{line.latest}`" if line.latest is not None else None
    value = f'"{token.value}"' if token.engine == "pi" and re.search(r"\s", token.value) else token.value
    return f"`{line.command} {value}`"


def parse_resume(engine: str, text: str) -> ResumeToken | None:
    """The last token for `engine` in `text`, if there is one.

    `codex resume --last` and `gemini --resume latest` are tokens without an id: `is_continue`.
    """
    line = RESUME_LINES.get(engine)
    if line is None:
        return None
    text = _REPLIED.sub("", text)
    found = [(match.start(), _token(engine, match["token"])) for match in line.pattern.finditer(text)]
    if line.latest_pattern is not None:
        latest = ResumeToken(engine, "", is_continue=True)
        found += [(match.start(), latest) for match in line.latest_pattern.finditer(text)]
    tokens = [pair for pair in found if pair[1] is not None]
    return max(tokens, key=lambda pair: pair[0])[1] if tokens else None


def _token(engine: str, value: str) -> ResumeToken | None:
    """None for what stands in the place of an id and is none: it is matched as `latest`, or means nothing."""
    if engine == "pi":
        value = value.strip("\"'")
    return ResumeToken(engine, value) if is_id(value) else None


def find_resume(texts: Iterable[str], engines: Iterable[str] = RESUME_LINES) -> ResumeToken | None:
    """The token in the first of `texts` that has one (what was written, then what it replies to), for the
    first of `engines` that knows it."""
    for text in texts:
        for engine in engines:
            token = parse_resume(engine, text)
            if token is not None:
                return token
    return None
