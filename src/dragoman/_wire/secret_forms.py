"""What a secret looks like: a table of the forms that keys and tokens have.

`spans` finds them in a text, as it is or as JSON writes it. A text that may go on is asked for its open end too: what
could be the beginning of one. A pattern is a prefix at a word's start and a run of one kind of characters, or all its
parts have bounds, so time is linear. Which patterns are worth a try, the beginnings of the words in a text tell.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


class Span(NamedTuple):
    """Where a secret is in a text. `sure` is false for what may only become one, if the text goes on."""

    start: int
    end: int
    sure: bool = True


LONGEST: Final = 512
"""Bytes after which a beginning that has not become a secret is none."""

_START: Final = rb"(?<![A-Za-z0-9_-])"
"""Before a key: nothing that could be the inside of a longer word."""
_STRICT: Final = rb"(?<![A-Za-z0-9_+/-])"
"""The same where base64 could spell it by chance."""

# --- by their beginning ------------------------------------------------------------------------------------

_W, _A, _X, _D = b"A-Za-z0-9_-", b"A-Za-z0-9", b"0-9a-f", b"A-Za-z0-9_.-"
_B = b"A-Za-z0-9+/=_-"

_RUNS: Final[tuple[tuple[str, bytes, int], ...]] = (
    # models
    ("sk-", _W, 20), ("gsk_", _A, 20), ("xai-", _A, 20), ("hf_", _A, 30), ("r8_", _A, 30), ("pplx-", _A, 30),
    ("nvapi-", _W, 30), ("csk-", _A, 30), ("tgp_v1_", _W, 30), ("jina_", _W, 30), ("lsv2_pt_ lsv2_sk_", _W, 30),
    ("tvly-", _W, 20), ("pcsk_", _W, 30), ("apify_api_", _A, 30), ("e2b_", _X, 30),
    ("fc-", _X, 32), ("fw_", _A, 20), ("AIza", _W, 35), ("AQ.A", _W, 36),
    # git hosts
    ("ghp_ gho_ ghu_ ghs_ ghr_", b"A-Za-z0-9_", 30), ("github_pat_", b"A-Za-z0-9_", 22),
    ("glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-", _D, 20),
    ("GR1348941", _W, 20), ("ATBB", _A, 24), ("ATCTT3 ATATT3", b"A-Za-z0-9_=-", 40),
    # package registries
    ("npm_", _A, 30), ("pypi-", _W, 16), ("rubygems_", _X, 40), ("cio", _A, 32), ("oy2", b"a-z0-9", 43),
    ("dckr_pat_ dckr_oat_", _W, 20),
    # clouds
    ("AKIA ASIA ABIA ACCA", b"A-Z0-9", 16), ("ABSK IQoJb3JpZ2lu FwoGZXIvYXdz", b"A-Za-z0-9+/=", 40),
    ("ya29.", _D, 20), ("GOCSPX-", _W, 20), ("dop_v1_ doo_v1_ dor_v1_", _X, 40), ("HRKU-", _W, 30),
    ("fm1_ fm2_ fo1_", _B, 40), ("sbp_", _A, 40), ("sb_secret_", _W, 20), ("nfp_ rnd_", _A, 24), ("dapi", _X, 32),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", _D, 30), ("hvs. hvb. hvr.", _W, 24), ("tskey-", _W, 20),
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _D, 30), ("AGE-SECRET-KEY-1", b"A-Z0-9", 40),
    # payment
    ("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", b"A-Za-z0-9_", 10), ("sk_", _X, 40),
    ("whsec_", b"A-Za-z0-9+/=", 20), ("sq0atp- sq0csp- sq0idp-", _W, 22), ("EAAA", _W, 55),
    ("access_token$production$ access_token$sandbox$", b"A-Za-z0-9$", 20), ("rzp_live_ rzp_test_", _A, 14),
    ("FLWSECK- FLWSECK_TEST-", _W, 12), ("access-production- access-sandbox- access-development-", b"0-9a-f-", 30),
    ("shpat_ shpca_ shppa_ shpss_ shpua_", _X, 32),
    # chat and mail
    ("xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb-", b"A-Za-z0-9%-", 10),
    ("xapp- xwfp- xkeysib-", _W, 20), ("SK", _X, 32), ("SG.", _D, 40), ("key-", _X, 32),
    # others
    ("lin_api_ lin_oauth_", _A, 30), ("ntn_ secret_", _A, 40), ("figd_", _W, 30), ("sntrys_ sntryu_", _B, 30),
    ("glsa_ glc_", _B, 30), ("NRAK-", _A, 24), ("PMAK-", _W, 40), ("ops_eyJ", _W, 60), ("EAAB EAAC EAAG", _A, 80),
    ("sl.u. sl.", _W, 100),
    # private keys in base64, as in the settings of kubectl
    ("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS "
     "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", b"A-Za-z0-9+/=", 40),
)  # fmt: skip
"""How they begin, what follows, and how much of that at least."""


class _Form(NamedTuple):
    whole: re.Pattern[bytes]
    """A secret: its group `s`, else all of it."""
    open: re.Pattern[bytes]
    """What may become one, to the end of the text; the same group."""
    holds: Callable[[bytes], bool] = lambda found: True
    """Whether what was found is one after all."""


def _run(heads: str, body: bytes, least: int) -> _Form:
    """A digit must be somewhere: `sk-circle-fade-dot-animation` is a name."""
    first = heads.encode()
    head = b"(?:%b)" % b"|".join(map(re.escape, first.split()))
    start = _STRICT if first[:1].isupper() or first in (b"cio", b"oy2", b"dapi") else _START
    digit = b"(?=[A-Za-z_.$%%=+/-]{0,200}[0-9])" if b"a-z" in body.lower() else b""
    return _Form(
        re.compile(b"%b%b%b[%b]{%d,}+=*+" % (start, head, digit, body, least)),
        re.compile(rb"%b%b[%b]{0,%d}\Z" % (start, head, body, LONGEST)),
    )


# --- by what stands around them ----------------------------------------------------------------------------


def _around(
    before: bytes, secret: bytes, after: bytes = b"", holds: Callable[[bytes], bool] = lambda found: True
) -> _Form:
    """`secret` must have bounds, and may be shorter while the text goes on."""
    shorter = re.sub(rb"\{\d+,", b"{1,", secret)
    return _Form(
        re.compile(rb"%b(?P<s>%b)%b" % (before, secret, after)),
        re.compile(rb"%b(?P<s>%b)\Z" % (before, shorter)),
        holds,
    )


def is_pair(found: bytes) -> bool:
    """Whether base64 says `user:password`."""
    bare = found.rstrip(b"=")
    try:
        return b":" in b64decode(
            bare + b"=" * (-len(bare) % 4), b"-_" if b"-" in bare or b"_" in bare else None
        )
    except ValueError:
        return False


def _is_written_out(found: bytes) -> bool:
    """Not a variable, a placeholder, or what was redacted before."""
    return not found.startswith((b"$", b"{", b"<", b"%", b"[", b"*"))


def _is_no_port(found: bytes) -> bool:
    return _is_written_out(found) and not (found.isdigit() and len(found) < 6)


_WORD: Final = rb"(?P<q>\\{0,4}[\"'])?"
_WORD_END: Final = rb"(?(q)(?=\\{0,4}[\"']))"
"""An argument may be quoted; a quote before it that none follows is the end of something else."""
_ARGUMENT: Final = rb"[^\s\"'\\]{1,200}"

_ANY: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

_OTHERS: Final[tuple[tuple[str, _Form], ...]] = (
    ("eyJ", _Form(  # a JWT, signed, unsigned or encrypted
        re.compile(_STRICT + rb"eyJ[\w-]{10,}+\.[\w-]{10,}+(?:\.[\w-]*+){0,3}"),
        re.compile(rb"%beyJ[\w-]{0,%d}(?:\.[\w-]{0,%d})?\Z" % (_STRICT, LONGEST, LONGEST)),
    )),
    ("Bearer bearer BEARER", _around(
        rb"[Bb](?:earer|EARER)\s{1,4}", rb"[A-Za-z0-9._~+/=-]{16,4096}", holds=lambda found: not found.isdigit()
    )),
    ("=Basic =basic =BASIC", _around(rb"[Bb](?:asic|ASIC)\s{1,4}", rb"[A-Za-z0-9+/=_-]{4,1024}", holds=is_pair)),
    ("*Q~", _Form(
        re.compile(rb"(?<![\w~.-])[\w~.-]{3,5}Q~[\w~.-]{31,36}"),
        re.compile(rb"(?<![\w~.-])[\w~.-]{3,5}Q~[\w~.-]{0,36}\Z"),
    )),
    ("=atlasv1", _Form(
        re.compile(_START + rb"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
        re.compile(_START + rb"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{0,100}\Z"),
    )),
    ("*1//0", _Form(re.compile(rb"(?<![\w/])1//0[\w-]{20,}"), re.compile(rb"(?<![\w/])1//0[\w-]{0,200}\Z"))),
    (" ".join(f"AA{one}" for one in _ANY), _Form(
        re.compile(rb"(?<![0-9A-Za-z_])(?:bot)?[0-9]{8,10}:AA[\w-]{32,34}(?![\w-])"),
        re.compile(rb"(?<![0-9A-Za-z_])(?:bot)?[0-9]{8,10}:AA[\w-]{0,34}\Z"),
    )),
    ("=slack =slack-gov", _around(
        rb"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/", rb"[\w/-]{16,200}"
    )),
    ("=webhooks", _around(rb"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/", rb"[\w/-]{30,200}")),
    ("=webhookb2", _around(rb"webhook\.office\.com/webhookb2/", rb"[\w/@-]{20,400}")),
    ("=sig", _around(rb"[?&;]sig=", rb"[A-Za-z0-9%+/=_-]{20,400}")),
    ("*://", _around(  # with an @ for a password of its own, so it goes to the last one
        rb"://[^\s/:@\"'\\<>?#]{0,100}:", rb"[^\s/\"'\\<>?#]{1,256}", rb"@", _is_no_port
    )),
    ("*://", _around(rb"://", rb"(?=[A-Za-z_-]{0,60}[0-9])[\w-]{20,256}", rb"@")),
    ("=curl", _around(
        rb"\bcurl\b[^\n|;]{0,300}?\s(?:-u|-U|--user|--proxy-user)[ =]{0,2}%b[^\s:\"'\\]{0,60}:" % _WORD,
        _ARGUMENT, _WORD_END, _is_written_out,
    )),
    ("=sshpass", _around(rb"\bsshpass\s{1,4}-p\s{0,4}" + _WORD, _ARGUMENT, _WORD_END, _is_written_out)),
    ("=mysql =mysqldump =mysqladmin =mysqlsh", _around(rb"\bmysql\w{0,10}\b[^\n|;&]{0,200}?\s-p" + _WORD, _ARGUMENT, _WORD_END, _is_written_out)),
    ("=redis-cli", _around(rb"\bredis-cli\b[^\n|;&]{0,200}?\s-a\s{1,4}" + _WORD, _ARGUMENT, _WORD_END, _is_written_out)),
    ("=-passin =-passout =-pass", _around(rb"\s-pass(?:in|out)?\s{1,4}pass:", _ARGUMENT, holds=_is_written_out)),
    ("=docker =podman", _around(
        rb"\b(?:docker|podman)\s{1,4}login\b[^\n|;&]{0,200}?\s-p\s{1,4}" + _WORD, _ARGUMENT, _WORD_END, _is_written_out
    )),
    ("=login", _around(rb"\blogin[ \t]{1,8}\S{1,100}\s{1,8}password[ \t]{1,8}", rb"[^\s\"'\\]{1,200}")),
    ("=Cookie =cookie =Set-Cookie =set-cookie", _around(
        rb"\b(?:[Ss]et-)?[Cc]ookie:\s{0,4}[^\s\"'\\=;]{1,80}=", rb"[^\n\r\"'\\]{6,4096}", holds=_is_written_out
    )),
    ("AKIA ASIA", _around(  # the secret beside its id, as in a table
        rb"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9+/]{1,12}", rb"[A-Za-z0-9+/]{40,40}", rb"(?![A-Za-z0-9+/])"
    )),
    (" ".join(f"{two}{one}" for two in ("MT", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
              for one in _ANY), _Form(
        re.compile(_STRICT + rb"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),  # a bot of Discord's
        re.compile(_STRICT + rb"[MNO][A-Za-z0-9]{23,27}\.[\w-]{0,6}(?:\.[\w-]{0,40})?\Z"),
    )),
    (" ".join(f"re_{one}" for one in _ANY), _Form(
        re.compile(_START + rb"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}"),
        re.compile(_START + rb"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{0,40}\Z"),
    )),
)  # fmt: skip
"""How a word in it begins; after `=` a whole word of it, after `*` what must be somewhere in it; and the form."""

# --- private keys, over many lines ---------------------------------------------------------------------------

BEGIN: Final = re.compile(rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
END: Final = re.compile(rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")

# Up to the end of the block, or of the text that it is quoted in. Where its lines are quoted one by one, a quote that
# ends one and the quote that begins the next belong to it.
_BLOCK: Final = re.compile(
    rb"(?:[^\"'`-]|-(?!---)|\\{0,4}[\"'`][\s,+.;\\nr]{0,40}[\"'`](?=[A-Za-z0-9+/=]{16}|[A-Za-z-]{1,20}: |\s|[\\\"'`]))*+"
)
_KEY_LINE: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}+")
_LAST_LINE: Final = re.compile(rb"(?:\s|\\{1,4}[nr]){0,4}[A-Za-z0-9+/=]{0,15}")
_HEADERS, _GAP = 400, 64
"""Bytes that may stand before the first line of a key, and between two of its lines."""


def begins_block(text: bytes) -> bool:
    """Whether a private key begins in a text and does not end there."""
    begin = BEGIN.search(text)
    return begin is not None and END.search(text, begin.end()) is None


def key_blocks(text: bytes, goes_on: bool = False) -> list[Span]:
    """What is between BEGIN and END of private keys, or as far as there are lines of one; where the beginning is
    missing, the lines before END."""
    found, at = [], 0
    for begin in BEGIN.finditer(text):
        if begin.start() >= at:
            at = _BLOCK.match(text, begin.end()).end()  # type: ignore[union-attr]
            found += _block(text, begin.end(), at, goes_on)
    end = END.search(text)
    if end is not None and BEGIN.search(text, 0, end.start()) is None:
        start = _lines_before(text, end.start())
        found += [Span(start, end.start())] if start < end.start() else []
    return found


def _block(text: bytes, start: int, end: int, goes_on: bool) -> list[Span]:
    last = start
    for line in _KEY_LINE.finditer(text, start, end):
        if line.start() - last > (_HEADERS if last == start else _GAP):
            break
        last = line.end()
    if goes_on and end == len(text) and end - last <= (_HEADERS if last == start else _GAP):
        return [Span(start, end, sure=last > start)] if end > start else []
    if last == start:
        return []
    if END.match(text, end) is None:
        end = _LAST_LINE.match(text, last, end).end()  # type: ignore[union-attr]
    return [Span(start, end)]


_KEY_LINES: Final = re.compile(rb"(?:[A-Za-z0-9+/=]{1,80}(?:\s|\\{1,4}[nr]){1,4})+\Z")


def _lines_before(text: bytes, end: int) -> int:
    """Where the lines of base64 begin that stand before `end`."""
    lines = text[max(0, end - 16384) : end]
    start = len(lines)
    for line in re.split(rb"(?<=\n)|(?<=\\n)", lines)[::-1]:
        if line and not _KEY_LINES.match(line):
            break
        start -= len(line)
    return end - len(lines) + start


# --- which are worth a try -----------------------------------------------------------------------------------

_LENGTHS: Final = {"secret_": 7, "access-": 7, "lin_": 7, "apify_": 7, "github_": 7, "AGE-": 7, "key-": 4}
"""How much of a word tells that a form begins there, where three letters are everywhere."""

_BY_START: Final[dict[bytes, list[_Form]]] = {}
_BY_WORD: Final[dict[bytes, list[_Form]]] = {}
_BY_PART: Final[dict[bytes, list[_Form]]] = {}
"""Forms by how a word begins, by a whole word, and by what must be somewhere in the text."""


def _enter(signs: str, form: _Form) -> None:
    for sign in signs.split():
        word = re.split(r"[^\w-]", sign.lstrip("=*"))[0]
        if sign.startswith("*"):
            table, at = _BY_PART, sign[1:]
        elif sign.startswith(("=", "access_")):
            table, at = _BY_WORD, word
        else:
            length = next((length for common, length in _LENGTHS.items() if sign.startswith(common)), 3)
            table, at = _BY_START, word[:length]
        ends = _ANY if len(at) < 3 and sign == at else ("",)
        for end in ends:
            forms = table.setdefault((at + end).encode(), [])
            forms += [form] if form not in forms else []


for _heads, _body, _least in _RUNS:
    _enter(_heads, _run(_heads, _body, _least))
for _signs, _other in _OTHERS:
    _enter(_signs, _other)

WORDS_ONLY: Final = bytes(c if (chr(c).isalnum() and c < 128) or c in b"_-" else 32 for c in range(256))
"""A table for `translate`: the letters that words are made of, and blanks for all else."""
_COLOUR: Final = re.compile(rb"(?:\x1b|\\{1,4}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,20}m")
_SIGN: Final = re.compile(rb"%(?:0[aAdD]|2[026]|3[aAdDbB])|\\{1,4}u00(?:0[aAdD]|2[026]|3[aAdDcCeEbB])")


def opened(text: bytes) -> bytes:
    """A text in which line breaks, quotes and signs that JSON or a URL escapes are what they stand for, after blanks,
    and colours are blanks: no byte of it is at another place."""
    if b"\\" in text:
        text = text.replace(rb"\n", b" \n").replace(rb"\t", b" \t").replace(rb"\r", b" \r")
        if b"\\" in text and _COLOUR.search(text) is not None:
            text = _COLOUR.sub(_blanks, text)
    elif b"\x1b" in text:
        text = _COLOUR.sub(_blanks, text)
    if b"%" in text or rb"\u00" in text:
        text = _SIGN.sub(_sign, text)
    return text


def _blanks(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _sign(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[0][-2:], 16),)).rjust(len(match[0]))


def words_of(text: bytes) -> list[bytes]:
    """The words in a text that is `opened`."""
    return text.translate(WORDS_ONLY).split()


def is_sign(word: bytes) -> bool:
    """Whether a word makes some form worth a try."""
    return word[:3] in _BY_START or word in _BY_WORD or word[:7] in _BY_START or word[:4] in _BY_START


def starts() -> list[bytes]:
    """How words begin that make a form worth a try: no two bytes are one."""
    return [*_BY_START, *_BY_WORD]


def forms_in(text: bytes, signs: Iterable[bytes]) -> list[_Form]:
    """The forms that are worth a try in a text with such words."""
    found: list[_Form] = []
    for word in signs:
        for table, sign in ((_BY_WORD, word), *((_BY_START, word[:length]) for length in (3, 4, 7))):
            found += (form for form in table.get(sign, ()) if form not in found)
    for part, forms in _BY_PART.items():
        if part in text:
            found += forms
    return found


KEY_BLOCK: Final = b"PRIVATE KEY"
_BY_WORD[b"PRIVATE"] = []


def parts_in(text: bytes) -> list[bytes]:
    """What makes a text worth a look, beside its words."""
    return [part for part, sign in _PART_SIGNS if sign in text and part in text]


_PART_SIGNS: Final = tuple(
    (part, b"@" if part == b"://" else part[-1:] if part == b"Q~" else part) for part in _BY_PART
)
"""With each part a single byte, if there is one that must be there too: one is found at once."""


def spans(text: bytes, forms: Iterable[_Form], goes_on: bool = False) -> list[Span]:
    """Where secrets of these forms are. With `goes_on` also what reaches the end and may become one."""
    found: list[Span] = []
    for form in forms:
        group = "s" if "s" in form.whole.groupindex else 0
        matches = form.whole.finditer(text)
        found += [Span(*match.span(group)) for match in matches if form.holds(match[group])]
        begun = form.open.search(text, max(0, len(text) - 2 * LONGEST)) if goes_on else None
        if begun is not None:
            found.append(Span(*begun.span(group), sure=False))
    return found
