"""Secrets taken out of texts: what looks like one (secret_forms, secret_names), and what we know to be one.

Known are the values of variables and headers whose names say so (ANTHROPIC_API_KEY, Authorization), as the agent
or its MCP servers were given them. What is put in a secret's place is plain text without quotes, so JSON stays JSON
and a line stays a line.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import structs

from dragoman._model.frames import Launch
from dragoman._wire import secret_forms, secret_names
from dragoman._wire.plain_words import PlainWords, are_ids, unescaped
from dragoman._wire.secret_forms import Span

REDACTED: Final = b"[redacted]"

_SECRET_NAME: Final = re.compile(
    r"((^|[_-])(key|pass|auth|cookie)|apikey|token|secret|passw(or)?d|passphrase|authorization"
    r"|_(pwd|pat|creds|credentials?|dsn))$",
    re.IGNORECASE,
)

SHORTEST: Final = 8
"""Characters that a known secret must have: shorter ones are everywhere."""

FEW: Final = 4
"""Characters of a known secret that may be the beginning of something else."""

MOST_HINTS: Final = 16
"""Words that are looked for in a line, before all of it is looked at."""


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
        words = {re.sub(r"^(Bearer|Basic|[Tt]oken) ", "", word).strip() for word in known}
        forms = {form for word in words if len(word) >= SHORTEST for form in _forms(word)}
        self._known = sorted(forms, key=lambda form: (-len(form), form))
        self._numbers = [form for form in self._known if _is_number(form)]
        self._beginnings = {form[:FEW] for form in self._known}
        self._is_simple = not any(b'"' in form for form in self._known)
        """None of those that are known goes beyond a text of JSON."""
        self._words = PlainWords()

    def line(self, line: bytes) -> bytes:
        """The line without its secrets; the very same if there are none."""
        hints = self._hints(line)
        if not hints:
            return line
        if line.lstrip()[:1] in (b"{", b"[") and _is_json(line):
            return self._json(line, hints)
        return without(line, self.found(line))

    def text(self, text: str) -> str:
        """The same for a text."""
        return decoded(self.line(text.encode("utf-8", "surrogatepass")))

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                name: REDACTED.decode()
                if isinstance(item, str) and is_secret_name(str(name))
                else self.value(item)
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            flags = [None, *value]
            return [
                REDACTED.decode()
                if isinstance(item, str)
                and isinstance(flag, str)
                and _is_flag(flag.encode("utf-8", "replace"))
                else self.value(item)
                for flag, item in zip(flags, value, strict=False)
            ]
        return value

    def launch(self, launch: Launch) -> Launch:
        """The same for how a run began."""
        return structs.replace(launch, argv=self.value(launch.argv), config=self.value(launch.config))

    def is_plain(self, line: bytes) -> bool:
        """Whether nothing in a line has to do with a secret."""
        return not self._hints(line)

    def are_plain(self, before: bytes, texts: Sequence[bytes], ids: Sequence[bytes]) -> bool:
        """Whether the pieces of a text, `before` already written, and the ids that their lines end with have nothing to do
        with a secret: each alone, and all of the text so far. One look at many of them; if in doubt, it says no."""
        return (
            self._is_simple
            and not (self._known and self._may_begin(before, b"".join(texts), b"".join(ids)))
            and are_ids(ids)
            and self._words.are_all(before, texts)
        )

    def _may_begin(self, before: bytes, written: bytes, ids: bytes) -> bool:
        """Whether one of the secrets that are known may be in a text that goes on, or is in the ids."""
        said = before + unescaped(written)
        return any(begun in written or begun in said for begun in self._beginnings) or any(
            secret in ids for secret in self._known
        )

    def found(self, text: bytes, goes_on: bool = False) -> list[Span]:
        """Where the secrets are, in order, apart from each other. With `goes_on` also what reaches the end of the
        text and may become one."""
        spans: list[Span] = []
        for secret in self._known:
            at = -1
            while (at := text.find(secret, at + 1)) >= 0:
                spans.append(Span(at, at + len(secret)))
                at += len(secret) - 1
            if goes_on:
                spans += _begun(text, secret)
        known, written = spans, text
        spans = []
        text = secret_forms.opened(text)
        signs = self._words.signs(text)
        if forms := secret_forms.forms_in(text, signs):
            spans += secret_forms.spans(text, forms, goes_on)
        if secret_forms.KEY_BLOCK in text:
            spans += secret_forms.key_blocks(text, goes_on)
        if any(map(secret_names.is_sign, signs)):
            spans += secret_names.spans(text, goes_on)
        if text is not written or b"\\" in text:
            spans = [_whole(span, text, written) for span in spans]
        return _apart(known + spans)

    def _hints(self, line: bytes) -> list[bytes]:
        """What in the line says that there may be secrets; they are in texts that have some of it, or beside them."""
        hints = self._words.signs(secret_forms.opened(line)) + secret_forms.parts_in(line)
        hints += [secret for secret in self._known if secret in line]
        return list(set(hints)) if len(set(hints)) <= MOST_HINTS else [b""]

    # --- JSON ----------------------------------------------------------------------------------------------

    def _json(self, line: bytes, hints: list[bytes]) -> bytes:
        """The line with the texts replaced that hold secrets, and everything else as it was written.

        A name says that a text is one if it is its key, a flag before it in a list (`--token`), or the name of a pair
        (`{"name": "API_KEY", "value": …}`).
        """
        parts: list[bytes] = []
        done = 0
        kind = of_pair = None
        """What the name before a text says that it is, and what the name of a pair says of its value."""
        in_key_block = False
        before: re.Match[bytes] | None = None
        places = _places(line, hints)
        place = next(places)
        for match in _TEXT.finditer(line):
            start, end = match.span(1)
            while place < start:
                place = next(places)
            hinted = place <= end
            if hinted or kind or of_pair or in_key_block:
                raw = match[1]
                is_name = match[2] is not None
                key = before[1] if before is not None and before[2] is not None and not is_name else b""
                if key == b"value":
                    kind = of_pair
                text = raw if b"\\" not in raw else _unescaped(raw)
                redacted = text
                if kind and not is_name and secret_names.worth(kind, _bare(kind, text), plain=True):
                    redacted = _after_scheme(text) if kind == "header" else REDACTED
                elif in_key_block and not is_name and _KEY_LINE.fullmatch(text):  # a list of its lines
                    redacted = REDACTED
                elif hinted:
                    redacted = without(text, self.found(text))
                    in_key_block = secret_forms.KEY_BLOCK in text and secret_forms.begins_block(text)
                else:
                    in_key_block = False
                if is_name and hinted and (digits := _NUMBER.match(line, match.end())) is not None:
                    if secret_names.kind_of(raw) == "password":
                        parts += (line[done : digits.start(1)], b"9" * len(digits[1]))
                        done = digits.end()
                elif redacted != text:
                    parts += (line[done:start], json.dumps(decoded(redacted))[1:-1].encode())
                    done = end
                if key in _NAMES_OF_PAIRS:
                    of_pair = secret_names.kind_of(raw) if hinted else None
                is_flag = raw.startswith(b"--") and not is_name
                kind = (
                    secret_names.kind_of(raw[2:] if is_flag else raw)
                    if hinted and (is_name or is_flag)
                    else None
                )
            before = match
        line = b"".join((*parts, line[done:])) if parts else line
        for number in self._numbers:
            line = line.replace(number, b"9" * len(number))
        return line


_TEXT: Final = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*+:)?')
_NUMBER: Final = re.compile(rb"\s*([0-9]{4,})(?=\s*[,}])")
_NAMES_OF_PAIRS: Final = (b"name", b"key", b"header")
_KEY_LINE: Final = re.compile(rb"[ +>-]?(?:[A-Za-z0-9+/=]{1,80}|[A-Za-z-]{1,20}: [^\n]{0,80}|)\n?")


def _places(line: bytes, hints: Iterable[bytes]) -> Iterator[int]:
    """Where the hints are in a line, in order, and then a place behind all others."""
    if b"" in hints:
        return iter(range(len(line) + 2))
    found = [match.start() for hint in hints for match in re.finditer(re.escape(hint), line)]
    return iter((*sorted(found), len(line) + 1))


def without(text: bytes, spans: Iterable[Span]) -> bytes:
    """A text with the mark of redaction in place of these spans."""
    parts: list[bytes] = []
    done = 0
    for span in spans:
        parts += (text[done : span.start], REDACTED)
        done = span.end
    return b"".join((*parts, text[done:])) if parts else text


def replaced_text(line: bytes, key: str, text: str, other: str) -> bytes:
    """A line of JSON in which the entry `key` says something else than `text`."""
    if other == text:
        return line
    last = b""
    for match in _TEXT.finditer(line):
        if match[2] is not None:
            last = match[1]
        elif last == key.encode() and decoded(_unescaped(match[1])) == text:
            return line[: match.start(1)] + json.dumps(other)[1:-1].encode() + line[match.end(1) :]
        else:
            last = b""
    return line


def _apart(spans: list[Span]) -> list[Span]:
    spans.sort()
    merged = spans[:1]
    for span in spans[1:]:
        before = merged[-1]
        if span.start < before.end:
            merged[-1] = Span(before.start, max(before.end, span.end), before.sure or span.sure)
        else:
            merged.append(span)
    return merged


_CUT: Final = re.compile(rb"\\++(?:u[0-9a-fA-F]{0,3})?\Z")


def _whole(span: Span, opened: bytes, written: bytes) -> Span:
    """A span that divides nothing that is written as one escape."""
    start, end, size = span.start, span.end, len(written)
    if start < size and opened[start] != written[start]:
        while start and opened[start - 1] != written[start - 1]:
            start -= 1
    if (cut := _CUT.search(written, max(0, start - 12), start)) is not None:
        start = cut.start()
    while 0 < end < size and opened[end] != written[end] and opened[end - 1] != written[end - 1]:
        end += 1
    return Span(start, end, span.sure)


def _begun(text: bytes, secret: bytes) -> list[Span]:
    """The end of the text, if a secret begins there."""
    at = max(0, len(text) - len(secret))
    while (at := text.find(secret[:FEW], at + 1 if at else 0)) >= 0:
        if secret.startswith(text[at:]):
            return [Span(at, len(text), sure=False)]
        at = max(at, 1)
    return []


def _is_flag(text: bytes) -> bool:
    return text.startswith(b"--") and secret_names.kind_of(text[2:]) is not None


def _bare(kind: str, text: bytes) -> bytes:
    return text.partition(b" ")[2] or text if kind == "header" else text


def _after_scheme(text: bytes) -> bytes:
    scheme, space, _ = text.partition(b" ")
    return scheme + space + REDACTED if space else REDACTED


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            json.loads(line.decode("utf-8", "replace"))  # with half a character, or NaN
        except (ValueError, RecursionError):
            return False
    return True


def _unescaped(raw: bytes) -> bytes:
    text: str = json.loads(b'"%b"' % raw, strict=False)
    return text.encode("utf-8", "surrogatepass")


def _forms(word: str) -> set[bytes]:
    """A text as it is, as JSON writes it, also inside a text of JSON, and as URLs do."""
    once = {json.dumps(word, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    twice = {json.dumps(form, ensure_ascii=False)[1:-1] for form in once}
    forms = {data for form in (word, *once, *twice) for data in _encoded(form)}
    with suppress(UnicodeEncodeError):
        forms.add(quote(word, safe="").encode())
    return forms


def _encoded(text: str) -> set[bytes]:
    """A text in UTF-8. A lone surrogate is written as itself; one that stands for a byte which is no UTF-8, as
    in the variables of a process (PEP 383), also as that byte."""
    written = {text.encode("utf-8", "surrogatepass")}
    with suppress(UnicodeEncodeError):
        written.add(text.encode("utf-8", "surrogateescape"))
    return written


def decoded(data: bytes) -> str:
    """The text that a redacted one has become."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # a secret began with a byte that is no UTF-8, and was found within a letter
        return data.decode("utf-8", "replace")


def _is_number(text: bytes) -> bool:
    """A number may stand in JSON without quotes, and must stay one."""
    try:
        float(text)
    except ValueError:
        return False
    return True
