"""Who may come in. A link works once: it is traded for a token, which one tab keeps. Neither is ever kept here, only what it
hashes to; both end with the server."""

from collections import Counter
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from msgspec import Struct

_BYTES: Final = 32
MOST_LINKS: Final = 64
"""Links that may wait to be used; the oldest is good for nothing when there are more."""

_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrom", "Chromium"),
    ("Safari", "Safari"),
)
_SYSTEMS: Final = ("iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux")


class Tab(Struct, frozen=True):
    """Whoever holds a token."""

    name: str
    """By what others know it: the browser and its system, numbered."""
    read_only: bool


class Tokens:
    """The links and tokens of a server. With `read_only` none of them lets anybody change anything."""

    def __init__(self, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self._links: dict[bytes, bool] = {}
        self._tabs: dict[bytes, Tab] = {}
        self._named: Counter[str] = Counter()

    def link(self, *, read_only: bool = False) -> str:
        """A new link."""
        made = token_urlsafe(_BYTES)
        self._links[_mark(made)] = read_only or self.read_only
        while len(self._links) > MOST_LINKS:
            del self._links[next(iter(self._links))]
        return made

    def enter(self, link: str, user_agent: str = "") -> tuple[str, Tab] | None:
        """A token for a link, which is used up by that, and whose it is; None for a link that is none, or was used."""
        read_only = self._links.pop(_mark(link), None)
        if read_only is None:
            return None
        kind = _called(user_agent)
        self._named[kind] += 1
        number = self._named[kind]
        tab = Tab(kind if number == 1 else f"{kind} {number}", read_only)
        token = token_urlsafe(_BYTES)
        self._tabs[_mark(token)] = tab
        return token, tab

    def tab(self, token: str) -> Tab | None:
        """Whose token this is; None if it is nobody's."""
        return self._tabs.get(_mark(token))


def _mark(secret: str) -> bytes:
    """What is kept of a secret: looking for it takes no time that would tell anything about the secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _called(user_agent: str) -> str:
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), None)
    system = next((name for name in _SYSTEMS if name in user_agent), None)
    if browser is None:
        return "a program"
    return f"{browser} on {system}" if system is not None else browser
