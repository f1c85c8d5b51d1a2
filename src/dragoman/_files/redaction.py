"""Secrets stay out of recordings: what looks like a key or a token, and what we know to be one.

Known are the values of variables and headers whose names say so (ANTHROPIC_API_KEY, Authorization), as the agent
or its MCP servers were given them. A secret that an agent streams in pieces, one per line, is not recognised.
What is put in a secret's place is plain text without quotes, so JSON stays JSON and a line stays a line.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

REDACTED: Final = b"[redacted]"

_SECRET_NAME: Final = re.compile(
    r"((^|[_-])(key|pass|auth)|apikey|token|secret|password|passwd|authorization)$", re.IGNORECASE
)

SHORTEST: Final = 8
"""Characters that a known secret must have: shorter ones are everywhere."""

# Before a key: nothing that could be the inside of a longer word, but an escaped line break may come, or a colour.
_START: Final = rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=[0-9\[]m))"
# The same where base64 could spell it by chance.
_STRICT: Final = rb"(?:(?<![A-Za-z0-9_+/-])|(?<=\\[nrtbf])|(?<=[0-9\[]m))"

_PATTERNS: Final = tuple(
    (needle, re.compile(pattern))
    for needle, pattern in (
        (b"sk-", _START + rb"()sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
        (b"gh", _START + rb"()gh[pousr]_[A-Za-z0-9]{30,}"),
        (b"github_pat_", _START + rb"()github_pat_[A-Za-z0-9_]{22,}"),
        (b"glpat-", _START + rb"()glpat-[A-Za-z0-9_-]{20,}"),
        (b"AIza", _STRICT + rb"()AIza[A-Za-z0-9_-]{35,}"),
        (b"AKIA", _STRICT + rb"()AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        (b"ASIA", _STRICT + rb"()ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        (b"xox", _START + rb"()xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        (b"npm_", _START + rb"()npm_[A-Za-z0-9]{36}"),
        (b"hf_", _START + rb"()hf_[A-Za-z0-9]{30,}"),
        (b"eyJ", _STRICT + rb"()eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        (b"earer ", rb"([Bb]earer )[A-Za-z0-9._~+/-]{16,}=*"),
        (b"PRIVATE KEY-----", rb"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^\"-]+"),
    )
)
"""What must be in a line for the pattern to be worth a try, and the pattern; its group stays."""


def is_secret_name(name: str) -> bool:
    """Whether a variable or a header of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def secrets_in(value: Any) -> set[str]:
    """The secrets in what a mapping says, at any depth, by the names of its entries."""
    if isinstance(value, Mapping):
        own = {text for name, text in value.items() if isinstance(text, str) and is_secret_name(str(name))}
        return own.union(*(secrets_in(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set[str]().union(*(secrets_in(item) for item in value))
    return set()


class Redactor:
    """Takes secrets out of texts. `known` are those that no pattern has to find."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        words = {word.removeprefix("Bearer ").strip() for word in known}
        forms = {form for word in words if len(word) >= SHORTEST for form in _forms(word)}
        self._known = sorted(forms, key=lambda form: (-len(form), form))

    def line(self, line: bytes) -> bytes:
        """The line without its secrets; the very same if there are none."""
        for secret in self._known:
            if secret in line:
                line = line.replace(secret, _instead(secret))
        for needle, pattern in _PATTERNS:
            if needle in line:
                line = pattern.sub(rb"\1" + REDACTED, line)
        return line

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value."""
        if isinstance(value, str):
            return _decoded(self.line(value.encode("utf-8", "surrogatepass")))
        if isinstance(value, Mapping):
            return {
                name: REDACTED.decode()
                if isinstance(item, str) and is_secret_name(str(name))
                else self.value(item)
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _forms(word: str) -> set[bytes]:
    """A text as it is, and as JSON writes it, also inside a text of JSON."""
    once = {json.dumps(word, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    twice = {json.dumps(form, ensure_ascii=False)[1:-1] for form in once}
    return {data for form in (word, *once, *twice) for data in _encoded(form)}


def _encoded(text: str) -> set[bytes]:
    """A text in UTF-8. A lone surrogate is written as itself; one that stands for a byte which is no UTF-8, as
    in the variables of a process (PEP 383), also as that byte."""
    written = {text.encode("utf-8", "surrogatepass")}
    with suppress(UnicodeEncodeError):
        written.add(text.encode("utf-8", "surrogateescape"))
    return written


def _decoded(data: bytes) -> str:
    """The text that a redacted one has become."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # a secret began with a byte that is no UTF-8, and was found within a letter
        return data.decode("utf-8", "replace")


def _instead(secret: bytes) -> bytes:
    """A number may stand in JSON without quotes, and must stay one."""
    try:
        float(secret)
    except ValueError:
        return REDACTED
    return b"9" * len(secret)
