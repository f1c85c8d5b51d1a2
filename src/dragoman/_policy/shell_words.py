"""One word of a command line without its quotes, as the shell would hand it on."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from msgspec import Struct

_HOME: Final = (b"$HOME", b"${HOME}")
_SINGLE: Final = re.compile(rb"'([^']*)'")
_ANSI: Final = re.compile(rb"\$'((?:[^'\\]|\\.)*)'", re.S)
_ESCAPE: Final = re.compile(
    rb"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|([abeEfnrtv\\'\"?])|(.?))",
    re.S,
)
_LETTERS: Final = dict(zip(b"abeEfnrtv\\'\"?", b"\a\b\033\033\f\n\r\t\v\\'\"?", strict=True))
_ESCAPED: Final = re.compile(rb"\\((?:[\xc0-\xff][\x80-\xbf]*|.)?)", re.S)
_EXPANDS: Final = re.compile(rb"\$[\w{(\[@*#?!$-]")
_PLAIN: Final = re.compile(rb"[^\s;&|<>()`'\"\\$*?\[\]{},~]+")
_BREAKS: Final = frozenset(b" \t\n\r\v\f;&|<>()`")
_OPEN, _COMMA, _CLOSE, _UNKNOWN = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKS: Final = re.compile("[\ue000-\ue003]")
_BRACES: Final = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_MANY: Final = 64
"""So many words at most come of the braces of one; what is left of them is then a `*`."""

_DEEP: Final = 16


class Word(Struct, frozen=True):
    """A word without its quotes."""

    text: str
    """Expansions stand in it as they were written."""
    pattern: str = ""
    """The files that it may name, for fnmatch; marks of this module where braces and expansions were."""
    known: bool = True
    """Nothing in it is expanded from a variable or a command."""
    exact: bool = True
    """Nor from a file's name, a brace or a tilde: the text is what the program gets."""
    template: bool = False
    """Its quotes hold text that a shell would expand if it came to read it: `'$(x)'`."""
    odd: bool = False
    """It has characters that no word of a shell can have: the grammar and the shell read it differently."""


def literal(text: str) -> Word:
    """A word that was never a shell's: an argument of a program."""
    return Word(text=text, pattern=_quoted(text), template=_is_template(text))


def unquoted(source: bytes, holes: Mapping[int, int]) -> Word:
    """The word that `source` is; `holes` are where its expansions begin and end."""
    reading = _Reading(source, holes)
    reading.take()
    return Word(
        text=reading.text.decode(errors="replace"),
        pattern="".join(reading.pattern),
        known=reading.known,
        exact=(reading.exact or source == b"[") and reading.known,
        template=_is_template(reading.literal.decode(errors="replace")),
        odd=reading.odd,
    )


class _Reading:
    def __init__(self, source: bytes, holes: Mapping[int, int]) -> None:
        self.source, self.holes = source, holes
        self.text, self.literal = bytearray(), bytearray()
        self.pattern: list[str] = []
        self.known = self.exact = True
        self.odd = False

    def _quoted_part(self, part: bytes) -> None:
        self.text += part
        self.literal += part
        self.pattern.append(_quoted(part.decode(errors="replace")))

    def _hole(self, start: int) -> int:
        end = self.holes[start]
        part = self.source[start:end]
        self.text += part
        self.literal += b" "
        self.pattern.append("~" if part in _HOME else _UNKNOWN)
        self.known = False
        return end

    def take(self) -> None:
        at = 0
        while at < len(self.source):
            at = self._hole(at) if at in self.holes else self._unquoted(at)

    def _unquoted(self, at: int) -> int:
        source = self.source
        if found := _PLAIN.match(source, at):
            self.text += found[0]
            self.literal += found[0]
            self.pattern.append(found[0].decode(errors="replace"))
            return found.end()
        char = source[at : at + 1]
        if found := _SINGLE.match(source, at):
            self._quoted_part(found[1])
            return found.end()
        if found := _ESCAPED.match(source, at):
            self._quoted_part(found[1])
            self.odd = self.odd or found[1] in (b"", b"\n")
            return found.end()
        if found := _ANSI.match(source, at):
            self._quoted_part(_decoded(found[1]))
            self.odd = self.odd or b"\0" in _decoded(found[1])
            return found.end()
        if char == b'"' or source.startswith(b'$"', at):
            return self._double(at + (1 if char == b'"' else 2))
        # An expansion that the grammar does not show, or what would end a word.
        self.odd = self.odd or bool(_EXPANDS.match(source, at)) or char[0] in _BREAKS or char == b"'"
        self._active(char, at)
        return at + 1

    def _active(self, char: bytes, at: int) -> None:
        marks = {b"{": _OPEN, b",": _COMMA, b"}": _CLOSE}
        self.text += char
        self.literal += char
        self.pattern.append(marks.get(char, char.decode()))
        if char in b"*?[{" or (char == b"~" and (at == 0 or self.source[at - 1 : at] in b"=:")):
            self.exact = False

    def _double(self, at: int) -> int:
        source, begin = self.source, at
        part = bytearray()
        while at < len(source) and source[at : at + 1] != b'"':
            if at in self.holes:
                self._quoted_part(bytes(part))
                part = bytearray()
                at = self._hole(at)
            elif source[at : at + 1] == b"\\" and source[at + 1 : at + 2] in (b'"', b"\\", b"$", b"`"):
                part += source[at + 1 : at + 2]
                at += 2
            else:
                self.odd = self.odd or source[at : at + 1] == b"`" or source[at : at + 2] == b"\\\n"
                self.odd = self.odd or bool(_EXPANDS.match(source, at))
                part += source[at : at + 1]
                at += 1
        self._quoted_part(bytes(part))
        self.odd = self.odd or at >= len(source) or begin > len(source)
        return at + 1


def _is_template(text: str) -> bool:
    return "$(" in text or "`" in text or "${" in text


def _quoted(text: str) -> str:
    """As a pattern that fits only this; `~` is not the home of anyone then."""
    escaped = re.sub(r"([*?\[])", r"[\1]", _MARKS.sub("?", text))
    return f"[~]{escaped[1:]}" if escaped.startswith("~") else escaped


def _decoded(source: bytes) -> bytes:
    """The text of `$'…'`."""

    def one(found: re.Match[bytes]) -> bytes:
        pair, short, long, octal, letter, other = found.groups()
        if pair:
            return bytes([int(pair, 16)])
        if short or long:
            return _character(int(short or long, 16))
        if octal:
            return bytes([int(octal, 8) & 255])
        if letter:
            return bytes([_LETTERS[letter[0]]])
        return (
            b"\0" if other in (b"c", b"") else b"\\" + other
        )  # \cx: a control character, which is odd anyway

    return _ESCAPE.sub(one, source)


def _character(number: int) -> bytes:
    try:
        return chr(number).encode()
    except (ValueError, OverflowError):
        return b"\0"


# --- files ----------------------------------------------------------------------------------------------


def files_of(word: Word) -> Iterator[str]:
    """The patterns of files that a word may name: itself, what is behind `=`, `:`, `@`, or glued to an option."""
    for pattern in _expanded(word.pattern):
        for part in _parts(pattern):
            if part.strip(_UNKNOWN):
                yield _MARKS.sub("*", part)


def _parts(pattern: str) -> Iterator[str]:
    if not pattern.startswith("-"):
        yield pattern
    elif not pattern.startswith("--"):
        yield pattern[2:].lstrip("@<=")
    if pattern.startswith("@"):
        yield pattern[1:]
    if pattern.startswith("file:"):
        yield "/" + pattern[5:].lstrip("/")
    for sign in "=:":
        for found in re.finditer(sign, pattern):
            yield pattern[found.end() :].lstrip("@<")


def _expanded(pattern: str) -> list[str]:
    """The patterns that its braces stand for; `{1..3}` is any word."""
    done = [pattern]
    if pattern.count(_OPEN) > _DEEP:
        return [_MARKS.sub("*", pattern)]
    while any(_BRACES.search(each) for each in done):
        if len(done) > _MANY:
            return [_BRACES.sub("*", each) for each in done[:_MANY]]
        done = [other for each in done for other in _one_brace(each)]
    return [each.translate({0xE000: "{", 0xE001: ",", 0xE002: "}"}) for each in done]


def _one_brace(pattern: str) -> list[str]:
    found = _BRACES.search(pattern)
    if found is None:
        return [pattern]
    before, inside, after = pattern[: found.start()], found[1], pattern[found.end() :]
    if _COMMA in inside:
        choices = inside.split(_COMMA)
    else:
        choices = ["*"] if ".." in inside else [f"{{{inside}}}"]
    return [f"{head}{middle}{tail}" for head, middle, tail in product([before], choices, [after])]
