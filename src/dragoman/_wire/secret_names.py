"""Secrets by the names beside them: `X_PASSWORD=…`, `"client_secret": "…"`, `api_key: …`, `--token …`.

Names alone say little (`password = getpass()`, `token: str`, `"token": "keyword"`), so what stands there must look like
a value that somebody wrote down.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

from dragoman._wire.secret_forms import LONGEST, Span, is_pair

Kind = Literal["password", "secret", "token", "header", "pair"]
"""A header has a scheme before it, as Authorization does; a pair is base64 of `user:password`, as Docker keeps it."""

_PARTS: Final = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORDS: Final = frozenset(
    b"password passwd passphrase passcode pgpassword mysqlpwd sshpass connectionstring pwd pass".split()
)
_KEYED: Final = frozenset(
    b"api access private secret auth account shared signing encryption encrypt master service ssh deploy admin app "
    b"application consumer subscription storage webhook session license hmac jwt cipher aes bot host function "
    b"anthropic openai gemini google azure aws stripe github gitlab mistral groq xai deepseek".split()
)
_OTHER_TOKENS: Final = frozenset(
    b"bos eos pad unk mask sep cls stop next page continuation prev cancellation cancel progress max min per first "
    b"last special start end total".split()
)
_ONE_WORD: Final[dict[bytes, Kind]] = {
    b"apikey": "token", b"secretkey": "secret", b"accesskey": "token", b"privatekey": "secret", b"authkey": "token",
    b"accountkey": "token", b"sharedaccesskey": "token", b"authtoken": "token", b"accesstoken": "token",
    b"refreshtoken": "token", b"idtoken": "token", b"clientsecret": "secret", b"authorization": "header",
    b"token": "token", b"secret": "secret",
}  # fmt: skip


@lru_cache(4096)
def kind_of(name: bytes) -> Kind | None:
    """What a name says that it holds; None if that is no secret. `primary_key`, `max_token` and PWD hold none."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts:
        return None
    last, before = parts[-1], parts[-2] if len(parts) > 1 else b""
    if last in _PASSWORDS:
        return "password" if before or last not in (b"pwd", b"pass") or name == b"Pwd" else None
    if last == b"token" and before in _OTHER_TOKENS:
        return None
    if last in _ONE_WORD:
        return _ONE_WORD[last]
    if last == b"key":
        return "token" if before in _KEYED or (before and name.isupper()) else None
    if name == b"auth":
        return "pair"
    if last in (b"auth", b"pat", b"creds") and ((name.isupper() and before) or name == b"_auth"):
        return "token"
    if last == b"string" and before == b"connection":
        return "password"
    return (
        "token"
        if parts[-3:] == [b"private", b"key", b"id"] or parts[-2:] in ([b"key", b"base"], [b"key", b"data"])
        else None
    )


# --- values ------------------------------------------------------------------------------------------------

_NO_VALUES: Final = frozenset(
    b"string str number int bool boolean true false null none nil undefined object any required optional password "
    b"passwd token secret hidden text bearer basic include unset empty void unknown default prompt stdin read write "
    b"yes no on off self this type function redacted masked".split()
)
_PLACEHOLDER: Final = re.compile(
    rb"[$%<{*\[(]|\.\.\.|\xe2\x80[\xa6\xa2]|#\{|[xX]{3,}\Z|process\.env|os\.environ"
)
_PATH: Final = re.compile(rb"(?:~|\.{1,2})?/(?=[^/\s]*[/.]|[a-z]+\Z)|[A-Za-z]:\\|https?://|file:")
_EXPRESSION: Final = re.compile(rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_LETTERS: Final = re.compile(rb"[A-Za-z_]+\Z")
_DIGITS: Final = re.compile(rb"[0-9.,_]+\Z")


def worth(kind: Kind, value: bytes, plain: bool = False) -> bool:
    """Whether a value beside such a name is a secret. `plain`: it was quoted, so it is no code."""
    if kind == "pair":
        return len(value) >= 8 and is_pair(value)
    if len(value) < (3 if kind == "password" else 6) or value.lower() in _NO_VALUES:
        return False
    if _PLACEHOLDER.match(value) or _PATH.match(value):
        return False
    if kind != "password":
        if b" " in value or b"\n" in value or (_DIGITS.match(value) and len(value) < 12):
            return False
        if kind in ("token", "header") and _LETTERS.match(value) and len(value) < 20:
            return False
        if kind == "token" and re.fullmatch(rb"[a-z]+(?:[.:/-][a-z]+)*", value):
            return False
    elif value.count(b" ") > 5 or b"\n" in value:
        return False
    return plain or not _EXPRESSION.match(value)


# --- in a text ---------------------------------------------------------------------------------------------

_ENDS: Final = (
    rb"passw(?:or)?d|passphrase|passcode|secret|token|key(?:_id|_base|-data|_data)?|authorization|auth|pass|pwd|pat|creds"
    rb"|connection[_ -]?string"
)
_NAME: Final = re.compile(
    rb"(?P<word>(?:%b)[0-9]{0,2})(?=[\\\"'`\]\s:=>])"
    rb"(?P<close>\\{0,8}[\"'`])?\]?(?P<gap>[ \t]{0,4})"
    rb"(?P<sep>(?::[ \t]{0,4}[a-z][a-z\[\]|. ]{0,30}?)?[ \t]{0,4}(?:=>|:=|={1,3}|:|>)(?!=)|)(?P<space>[ \t]{0,8})"
    % _ENDS
)
_BEFORE: Final = re.compile(rb"[A-Za-z0-9_.-]{0,60}\Z")
_SCHEME: Final = re.compile(
    rb"(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,4}", re.IGNORECASE
)
_QUOTE: Final = re.compile(rb"\\{0,8}[\"'`]")
_SHELL: Final = re.compile(rb"[^\s\"'`\\;&|<>]{1,400}")
_BARE: Final = re.compile(rb"[^\s\"'`\\;&|<>,(){}\[\]]{1,400}")

_LAST_FOUR: Final = frozenset(
    end + digit if digit else end
    for whole in (
        *(case for word in ("word", "sswd", "rase", "cret", "oken", "ikey") for case in (word, word.upper())),
        *(sign + key for sign in "_-" for key in ("key", "KEY", "Key", "pwd", "PWD", "pat", "PAT")),
        *(f"{letter}Key" for letter in "abcdefghijklmnopqrstuvwxyz"),
        "Pwd", "skey", "tkey", "y_id", "Y_ID", "base", "BASE", "AUTH", "PASS", "REDS",
    )
    for digit in (b"", *(b"%d" % n for n in range(10)))
    for end in ((whole.encode()[-3:] if digit else whole.encode()),)
)  # fmt: skip
"""How words end that may be names of secrets."""
_WHOLE: Final = frozenset(
    b"authorization Authorization AUTHORIZATION proxy-authorization Proxy-Authorization _auth auth "
    b"client-key-data".split()
)


def is_sign(word: bytes) -> bool:
    """Whether a word may be the name of a secret."""
    return word[-4:] in _LAST_FOUR or word in _WHOLE


def endings() -> frozenset[bytes]:
    """The last four bytes of words that may be."""
    return _LAST_FOUR | {word[-4:] for word in _WHOLE}


def spans(text: bytes, goes_on: bool = False) -> Iterator[Span]:
    """Where the values are that stand beside names of secrets."""
    for match in _NAME.finditer(text.lower()):
        before = _BEFORE.search(text, max(0, match.start() - 60), match.start())
        name = (before[0] if before is not None else b"") + text[match.start() : match.end("word")]
        is_flag = name.startswith(b"--") and not match["close"]
        if (
            match["sep"] == b">"
            and text[match.end("word") - len(name) - 1 : match.end("word") - len(name)] != b"<"
        ):
            continue  # no element of XML
        kind = kind_of(name.lstrip(b"-.")) if match["sep"] or (is_flag and match["gap"]) else None
        if kind is not None:
            yield from _value(text, match, name, kind, goes_on)


def _value(text: bytes, match: re.Match[bytes], name: bytes, kind: Kind, goes_on: bool) -> Iterator[Span]:
    at = match.end()
    quote = _QUOTE.match(text, at)
    if quote is not None:
        end = _closing(text, quote[0], quote.end())
        start = quote.end()
        if kind == "header" and (scheme := _SCHEME.match(text, start)) is not None:
            start = scheme.end()
        if end is not None:
            if worth(kind, text[start:end], plain=True):
                yield Span(start, end)
            return
        if goes_on and start < len(text) and len(text) - start < LONGEST:
            yield Span(start, len(text), sure=False)
            return
        at = start
    elif kind == "header" and (scheme := _SCHEME.match(text, at)) is not None:
        at = scheme.end()
    tight = match["sep"].strip() in (b"=", b">") and not match["gap"] and not match["space"]
    shell = tight and name.isupper()
    found = (_SHELL if shell else _BARE).match(text, at)
    if found is None:
        return
    value, end = found[0].rstrip(b".:"), found.end()
    if goes_on and (end == len(text) or (match["sep"] == b">" and text[end:] == b"<")):
        yield Span(at, len(text), sure=False)
    after = text[end : end + 1]
    if match["sep"] == b">" and text[end : end + 2] != b"</":
        return
    if not shell and ((after in b"([" and after) or _EXPRESSION.match(value)):
        return  # a call, or a name of the program's own
    is_last = end == len(text) and not goes_on
    if not tight and quote is None and not _is_written(kind, value, text, end, match, is_last):
        return
    if worth(kind, value, plain=shell):
        yield Span(at, at + len(value))


def _is_written(
    kind: Kind, value: bytes, text: bytes, end: int, match: re.Match[bytes], is_last: bool
) -> bool:
    """Whether a word without quotes behind `name = ` or `name: ` is a value, and not code or prose: it has a digit or
    a sign, or it is a password that has the rest of the line of a settings file to itself."""
    if not _LETTERS.match(value):
        return re.search(rb"[0-9]|[^\w.,:/-]", value) is not None
    alone = is_last or text[end : end + 1] in (b"\n", b"\r") or text[end : end + 2] in (b" \n", b" \r")
    return kind == "password" and alone and value.islower() and match["sep"].strip() in (b":", b"")


def _closing(text: bytes, quote: bytes, at: int) -> int | None:
    """Where a quoted text ends that began with `quote`, which may be escaped; None if that is too far away."""
    limit = at + LONGEST
    while (found := text.find(quote, at, limit)) >= 0:
        if len(quote) > 1 or (found - len(text[at:found].rstrip(b"\\")) - at) % 2 == 0:
            return found
        at = found + 1
    return None
