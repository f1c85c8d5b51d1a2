"""What a command runs besides itself: `sudo rm x` runs rm, `sh -c 'rm x'` a line, `python -c …` nobody can tell what.

The table is shell_commands.toml; here is how its rows are read, and what has a way of its own (git, find, sed, awk).
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from dragoman._policy.shell_plain import RESERVED
from dragoman._policy.shell_words import Word, literal

TABLE: Final = Path(__file__).with_name("shell_commands.toml")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.S)
_VERSION: Final = re.compile(r"(?<=[A-Za-z])-?[\d.]+$")
_VALUE: Final = re.compile(r"(?:[\w.-]+=)?\s*!?")
_PSEUDO: Final = ("/dev/", "/proc/")
_LOOKS: Final = frozenset(("--version", "--help", "-V", "-h", "-version", "-help"))
_NOT_EXACT: Final = frozenset((
    "eval", "source", ".", "trap", "alias", "unalias", "let", "mapfile", "readarray", "compgen",
    "complete", "compopt", "jobs", "hash", "enable", "exec", "set", "shopt", "declare", "typeset", "local",
    "export", "readonly", "unset", "read", "getopts", "bind", "fc", "history", "builtin", "coproc", "wait",
    "setopt", "unsetopt", "emulate", "autoload", "functions", "integer", "float", "zmodload", "zle",
    "bindkey", "vared", "sched", "print", "zparseopts", "zstyle", "zformat", "zcompile", "disable",
    "where", "repeat",
))  # fmt: skip
"""Builtins that run quoted text, or change what later words mean."""
_EVALUATE: Final = _NOT_EXACT | {
    "test",
    "[",
    "printf",
    "exit",
    "return",
    "shift",
    "break",
    "continue",
    "ulimit",
}
"""Builtins that may compute with their words, in one shell or another: `test -v 'a[$(x)]'` runs x."""
_COMMAND_SETTINGS: Final = re.compile(
    r"alias\.|pager|editor|command|cmd|program|external|textconv|helper|fsmonitor|hookspath|askpass|clean|smudge"
    r"|process|driver|proxy|include|browser|path",
    re.I,
)
COMMAND_VARIABLES: Final = re.compile(
    r"PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV|ZDOTDIR|.*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|COMMAND|SSH|SHELL|OPENER|PROXY_CMD)"
    r"|LESSOPEN|LESSCLOSE|FCEDIT|GIT_(?:EXTERNAL_DIFF|CONFIG_.*|PROXY_COMMAND|SEQUENCE_EDITOR)|MANPAGER|BASH_FUNC.*"
)
"""Variables whose value some program runs."""
_FIND_RUNS: Final = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FIND_DOES: Final = frozenset(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls"))
_AWK_RUNS: Final = re.compile(r"system|\||getline|@load|@include|/inet")
_SED_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*+/I?)"
_SED: Final = re.compile(
    rf"""[\s;}}]*+ (?:{_SED_ADDRESS}(?:,\s*+[+~]?{_SED_ADDRESS}|,[+~]\d+)?)? \s*+ !?+ \s*+
    (?: [pdqQ=PDNnhHgGxlzF]\d*+ (?=[\s;}}]|\Z) | [aic]\\?[^\n]*+ | [bt]\s*+\w*+ | :\s*+\w++ | \{{
      | s(?P<s>[^\w\s\\])(?:(?!(?P=s))[^\\]|\\.)*+(?P=s)(?:(?!(?P=s))[^\\]|\\.)*+(?P=s)[gpiImM0-9]*+ (?=[\s;}}]|\Z)
      | y(?P<y>[^\w\s\\])(?:(?!(?P=y))[^\\]|\\.)*+(?P=y)(?:(?!(?P=y))[^\\]|\\.)*+(?P=y)
      | (?P<file>[wrWR])\s*+[^\n]++
      | \Z )""",
    re.X | re.S,
)
"""One command of sed's that runs nothing."""

MORE: Final = Word("", known=False, exact=False)
"""Words that come from what a program reads."""

Then = Literal["command", "line", "lines", "tails"]


class Wrapper(Struct, forbid_unknown_fields=True):
    names: list[str]
    options: str = ""
    long: list[str] = field(default_factory=list)
    before: int = 0
    then: Then = "command"
    assigns: bool = False
    alone: Literal["", "hidden"] = ""
    fed: bool = False
    """More words come from what it reads."""


class Shell(Struct, forbid_unknown_fields=True):
    names: list[str]
    values: str
    long_values: list[str]


class Interpreter(Struct, forbid_unknown_fields=True):
    names: list[str]
    code: list[str] = field(default_factory=list)
    values: str = ""
    flags: str = ""
    long_flags: list[str] = field(default_factory=list)
    file: str = ""
    """Letters of options that name what is run, as a file would."""
    without: list[str] = field(default_factory=list)
    """Options with which it needs no program."""
    always: bool = False


class Carrier(Struct, forbid_unknown_fields=True):
    names: list[str]
    options: str = ""
    long: list[str] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)
    """What a word has in it that makes it run something."""
    rest: bool = False
    """All words behind such an option are one command."""
    bundled: bool = False
    """Its first word holds options without a dash."""


class _Table(Struct, forbid_unknown_fields=True):
    wrapper: list[Wrapper]
    shell: Shell
    interpreter: list[Interpreter]
    carrier: list[Carrier]


class Runs(Struct):
    """What a command runs besides itself."""

    commands: list[list[Word]] = field(default_factory=list)
    lines: list[Word] = field(default_factory=list)
    """Texts that a shell reads."""
    files: list[str] = field(default_factory=list)
    """Programs in files, that an interpreter is given."""
    hidden: bool = False
    """It may run what cannot be read."""
    exact: bool = True
    """It runs nothing but itself."""
    evaluates: bool = False
    """It may expand text that stood in quotes."""


@cache
def _rows() -> dict[str, Wrapper | Shell | Interpreter | Carrier]:
    table = msgspec.convert(tomllib.loads(TABLE.read_text(encoding="utf-8")), _Table)
    rows: list[Wrapper | Shell | Interpreter | Carrier]
    rows = [*table.wrapper, table.shell, *table.interpreter, *table.carrier]
    return {name: row for row in rows for name in row.names}


@cache
def _subcommands() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in _rows():
        first, _, rest = name.partition(" ")
        if rest:
            found.setdefault(first, []).append(rest)
    return found


def base_name(word: str) -> str:
    """A command's name without its folder and its version: python for /usr/bin/python3.11."""
    name = word.rsplit("/", 1)[-1]
    return name if name in _rows() else _VERSION.sub("", name)


def runs(words: Sequence[Word], fed: Sequence[Word] = ()) -> Runs:
    """What the command runs besides itself; `fed` are the texts that it reads, as far as they are known."""
    found = Runs()
    name = base_name(words[0].text)
    if not words[0].known or not words[0].text or (not words[0].exact and "~" not in words[0].text[:1]):
        found.hidden, found.exact = True, False
        if len(words) > 1:  # the name may come to nothing: `$x rm`
            found.commands.append(list(words[1:]))
        return found
    found.files.append(words[0].text)
    texts = [word.text for word in words[1:]]
    if name in _EVALUATE:
        found.evaluates = True
        found.exact = name not in _NOT_EXACT and not _computes(name, texts)
    special = _SPECIAL.get(name)
    if special is not None:
        special(words, found)
    row, rest = _row(name, words)
    match row:
        case Wrapper():
            _wrapped(row, rest, found)
        case Shell():
            _shell(row, rest, fed, found)
        case Interpreter():
            _interpreter(row, rest, found)
        case Carrier():
            _carried(row, rest, found)
    if (row is not None or special is not None) and any(
        word.pattern[:1] in "*?[" for word in words[1:] if not word.exact
    ):
        found.exact = False  # a file may have the name of an option
    return found


def _row(
    name: str, words: Sequence[Word]
) -> tuple[Wrapper | Shell | Interpreter | Carrier | None, Sequence[Word]]:
    """The row of the table, and the words from the name, or from its subcommand, on."""
    for rest in _subcommands().get(name, ()):
        parts = rest.split()
        for at in range(1, len(words) - len(parts) + 1):
            if [word.text for word in words[at : at + len(parts)]] == parts:
                return _rows()[f"{name} {rest}"], words[at + len(parts) - 1 :]
    return _rows().get(name), words


def _computes(name: str, texts: list[str]) -> bool:
    return any("$" in text or "`" in text for text in texts) or (
        any(text.startswith("-v") for text in texts) if name == "printf" else bool({"-v", "-R"} & {*texts})
    )


# --- wrappers -------------------------------------------------------------------------------------------


class _Lost(Exception):
    """An option that is not understood."""


def _wrapped(row: Wrapper, words: Sequence[Word], found: Runs) -> None:
    name = base_name(words[0].text)
    if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
        return
    found.exact = False
    if row.then == "tails":
        _tails(words, found)
        return
    try:
        rest = list(_behind_options(row, words, found))
    except _Lost:
        found.hidden = True
        _tails(words, found)
        return
    if name == "env" and any("\\" in line.text for line in found.lines):
        found.hidden = True  # `env -S` has escapes of its own
    if row.then == "lines":
        found.lines += rest
    elif row.then == "line" and rest:
        found.lines.append(_joined(rest))
        found.hidden = found.hidden or row.fed
    elif rest:
        found.commands.append([*_replaced(words, rest), MORE] if row.fed else rest)
    elif (
        row.alone == "hidden" and not found.lines and not _LOOKS & {word.text for word in words}
    ) or row.fed:
        found.hidden = found.hidden or name != "xargs"


def _replaced(words: Sequence[Word], rest: Sequence[Word]) -> Iterator[Word]:
    """The words that xargs runs; those that it writes its input into are not known."""
    signs = {"{}"}
    for at, word in enumerate(words[: len(words) - len(rest)]):
        found = re.fullmatch(r"-[0rtpxo]*[IiJ](.*)|--replace(?:=(.*))?", word.text, re.S)
        if found:
            signs.add(found[1] or found[2] or words[at + 1].text)
    for word in rest:
        hole = any(sign and sign in word.text for sign in signs)
        yield Word(word.text, word.pattern, known=False, exact=False, odd=word.odd) if hole else word


def _behind_options(row: Wrapper, words: Sequence[Word], found: Runs) -> Sequence[Word]:
    """The words that the wrapper runs. Raises _Lost."""
    letters = dict(_letters(row.options))
    names = {name.rstrip(":!?="): name[-1] if name[-1] in ":!?=" else "" for name in row.long}
    before, at, options = row.before, 1, True
    while at < len(words):
        word, text = words[at], words[at].text
        if options and text == "--":
            options = False
        elif options and text.startswith("--"):
            at += _long_option(names, words, at, found)
        elif options and text.startswith("-") and len(text) > 1:
            at += _short_options(letters, words, at, found)
        elif row.assigns and "=" in text:
            assigned(word, found)
        elif text == "-" and "-" in letters:
            pass
        elif before:
            before -= 1
        else:
            return words[at:]
        at += 1
    return ()


def _letters(options: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"(.)([:!?=]?)", options):
        yield found[1], found[2]


def _long_option(names: dict[str, str], words: Sequence[Word], at: int, found: Runs) -> int:
    """How many words more it takes."""
    name, has_value, value = words[at].text[2:].partition("=")
    kind = names.get(name)
    if kind is None:
        raise _Lost
    if not has_value and kind in (":", "!", "="):
        if at + 1 == len(words):
            raise _Lost
        _given(kind, words[at + 1], found)
        return 1
    _given(kind, _part(words[at], value), found)
    return 0


def _short_options(letters: dict[str, str], words: Sequence[Word], at: int, found: Runs) -> int:
    text = words[at].text
    for place, letter in enumerate(text[1:], 1):
        kind = letters.get(letter)
        if kind is None or not words[at].known:
            raise _Lost
        glued = text[place + 1 :]
        if kind == "?" or (kind and glued):
            _given(kind, _part(words[at], glued), found)
            return 0
        if kind:
            if at + 1 == len(words):
                raise _Lost
            _given(kind, words[at + 1], found)
            return 1
    return 0


def _given(kind: str, value: Word, found: Runs) -> None:
    """The value of an option."""
    if kind == "!":
        found.lines.append(value)
    elif kind == "=":
        _setting(value.text.partition("=")[0], value, found)


def _part(word: Word, text: str) -> Word:
    """A piece of a word, as sure as the word is."""
    return Word(text=text, pattern=text, known=word.known, exact=word.exact, template=word.template)


def _tails(words: Sequence[Word], found: Runs) -> None:
    for at, word in enumerate(words):
        value = not word.known and words[at - 1].text.startswith("-")
        if at and not value and not word.text.startswith("-") and not _ASSIGNMENT.match(word.text):
            found.commands.append(list(words[at:]))
            if re.search(r"\s", word.text):
                found.lines.append(word)


def _joined(words: Sequence[Word]) -> Word:
    return Word(
        text=" ".join(word.text for word in words),
        known=all(word.known for word in words),
        exact=all(word.exact for word in words),
    )


def assigned(word: Word, found: Runs) -> None:
    """A variable that is set for a command: the value of some is run."""
    name, _, value = word.text.partition("=")
    if COMMAND_VARIABLES.fullmatch(name.rstrip("+").split("[")[0]):
        found.lines.append(_part(word, value))


# --- shells and interpreters ----------------------------------------------------------------------------


def _shell(row: Shell, words: Sequence[Word], fed: Sequence[Word], found: Runs) -> None:
    code = reads = False
    at = 1
    while at < len(words) and words[at].text.startswith(("-", "+")):
        text = words[at].text
        if not words[at].known:
            found.hidden = True
        if text in _LOOKS - {"-h", "-V"}:
            return
        at += 1
        if text in ("--", "-"):
            break
        if text.startswith("--"):
            at += text in row.long_values
            continue
        code, reads = code or "c" in text, reads or "s" in text
        at += sum(text.count(letter) for letter in row.values)
    rest = words[at:]
    if code:
        found.exact = False
        if rest:
            found.lines.append(rest[0])
        else:
            found.hidden = True
    elif rest and not reads:
        _script(rest[0], found)
    else:
        found.exact = False
        found.lines += fed
        found.hidden = found.hidden or not fed


def _script(word: Word, found: Runs) -> None:
    """A file that is run."""
    found.files.append(word.text)
    if not word.exact or word.text.startswith(_PSEUDO) or word.text == "-":
        found.hidden, found.exact = True, False


def _interpreter(row: Interpreter, words: Sequence[Word], found: Runs) -> None:
    texts = [word.text for word in words[1:]]
    if texts and set(texts) <= _LOOKS | {"-v"}:
        return
    if row.always or not texts:
        found.hidden, found.exact = True, False
        return
    unclear, file = False, None
    for at, text in enumerate(texts):
        if text.startswith("-") and len(text) > 1:
            if _takes_code(row, text):
                file = None
                break
            if not text.startswith("--") and text[-1] in row.file and at + 1 < len(texts):
                return
            unclear = not (
                "=" in text
                or (set(text[1:]) <= set(row.flags) and not text.startswith("--"))
                or text[2:] in row.long_flags
            )
        else:
            file = words[at + 1]
            if not unclear:
                break
            unclear = False  # the option's value, or the program: look on
    if file is None and {*row.without} & {*texts}:
        return
    if file is not None:
        _script(file, found)
    if file is None or file.text in ("eval", "repl"):
        found.hidden, found.exact = True, False


def _takes_code(row: Interpreter, text: str) -> bool:
    if row.code == ["*"]:
        return True
    if text.startswith("--"):
        return any(name.startswith(text[2:].split("=")[0]) for name in row.code if len(name) > 1)
    for letter in text[1:]:
        if letter in row.code:
            return True
        if letter in row.values:
            return bool(re.search(r"[^\w:.,/=+-]", text))
    return False


# --- options whose value is run -------------------------------------------------------------------------


def _carried(row: Carrier, words: Sequence[Word], found: Runs) -> None:
    for at, word in enumerate(words[1:], 1):
        text = word.text
        option, has_value, value = text.partition("=")
        following = words[at + 1] if at + 1 < len(words) else literal("")
        if (
            text.startswith("--")
            and len(option) > 3
            and any(f"--{name}".startswith(option) for name in row.long)
        ):
            _value(_part(word, value) if has_value else following, found)
        elif text.startswith("-") and not text.startswith("--") and text[1:2] in tuple(row.options):
            if row.rest and words[at + 1 :]:
                found.commands.append(list(words[at + 1 :]))
            _value(_part(word, text[2:]) if text[2:] else following, found)
        elif re.fullmatch(r"-\w+" if at > 1 or not row.bundled else r"-?\w+", text) and {*text} & {
            *row.options
        }:
            found.hidden = True  # among others in one word: any of the words behind may be its value
            for other in words[at + 1 :]:
                _value(other, found)
        if any(sign in text for sign in row.signs):
            found.hidden, found.exact = True, False


def _value(word: Word, found: Runs) -> None:
    """`exec=pwn`, `alias.x=!pwn`, `ProxyCommand=pwn`, or the command itself."""
    found.exact = False
    for text in {word.text: None, _VALUE.sub("", word.text, count=1): None}:
        found.lines.append(_part(word, text))


# --- those with ways of their own -----------------------------------------------------------------------


def _git(words: Sequence[Word], found: Runs) -> None:
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text.startswith(("--config-env", "--exec-path=")):
            found.hidden, found.exact = True, False
        if text.startswith("-c"):
            setting = words[at + 1 : at + 2] if text == "-c" else [_part(words[at], text[2:])]
            for word in setting:
                _setting(word.text.partition("=")[0], word, found)
        at += 2 if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    rest = list(words[at:])
    texts = [word.text for word in rest]
    if any(text.startswith(("--out", "--ext", "ext::")) for text in texts):
        found.exact = False
    if texts[:1] == ["config"]:
        for at, text in enumerate(texts[1:-1], 1):
            if "." in text and not text.startswith("-"):
                _setting(text, rest[at + 1], found)
    for sub in (["submodule", "foreach"], ["bisect", "run"]):
        if all(word in texts for word in sub):
            place = texts.index(sub[1]) + 1
            found.exact = False
            if sub[0] == "bisect":
                found.commands += [rest[place:]] if rest[place:] else []
            else:
                found.lines.append(
                    _joined(
                        [word for word in rest[place:] if word.text not in ("--recursive", "-q", "--quiet")]
                    )
                )
    if any("ext::" in text for text in texts):
        found.hidden, found.exact = True, False


def _setting(name: str, word: Word, found: Runs) -> None:
    found.exact = False
    if _COMMAND_SETTINGS.search(name):
        _value(word, found)


def _find(words: Sequence[Word], found: Runs) -> None:
    command: list[Word] | None = None
    for word in words[1:]:
        if command is not None and (
            word.text == ";" or (word.text == "+" and command[-1:] and command[-1].text == "{}")
        ):
            found.commands.append(command)
            command = None
        elif command is not None:
            command.append(word)
        elif word.text in _FIND_RUNS:
            command, found.exact = [], False
        elif word.text in _FIND_DOES:
            found.exact = False
    if command:
        found.commands.append(command)
    found.commands = [list(_replaced((), each)) for each in found.commands if each]


def _sed(words: Sequence[Word], found: Runs) -> None:
    scripts: list[Word] = []
    has_file, at = False, 1
    plain: list[Word] = []
    while at < len(words):
        text = words[at].text
        option = re.fullmatch(r"-[nErszu]*([ef])(.*)|--(expression|file)(?:=(.*))?", text, re.S)
        if option:
            glued = option[2] or option[4]
            value = (
                _part(words[at], glued) if glued else words[at + 1] if at + 1 < len(words) else literal("")
            )
            at += not glued
            if (option[1] or option[3]).startswith("e"):
                scripts.append(value)
            else:
                has_file = True
                _script(value, found)
        elif text in ("-l", "--line-length"):
            at += 1
        elif not text.startswith("-"):
            plain.append(words[at])
        at += 1
    if not scripts and not has_file:
        scripts = plain[:1]
    whole = "\n".join(word.text for word in scripts)
    at = 0
    while at < len(whole):
        one = _SED.match(whole, at)
        if one is None or one.end() == at:
            found.hidden, found.exact = True, False
            return
        if one["file"]:
            found.exact = False
        at = one.end()


def _awk(words: Sequence[Word], found: Runs) -> None:
    for word in words[1:]:
        if (
            word.text.startswith("-")
            and word.text[1:2] in ("f", "E", "l", "i", "e", "-")
            and word.text != "--"
        ):
            found.exact = False
        if _AWK_RUNS.search(word.text.replace("||", "")) or (not word.known and "{" in word.text):
            found.hidden, found.exact = True, False


def _trap(words: Sequence[Word], found: Runs) -> None:
    found.lines += [word for word in words[1:] if not word.text.startswith("-")][:1]


def _alias(words: Sequence[Word], found: Runs) -> None:
    found.lines += [_part(word, word.text.partition("=")[2]) for word in words[1:] if "=" in word.text]


def _source(words: Sequence[Word], found: Runs) -> None:
    for word in words[1:2]:
        _script(word, found)
    found.exact = False


def _coproc(words: Sequence[Word], found: Runs) -> None:
    if any(word.text in RESERVED for word in words[1:]):
        found.hidden = True
        _tails(words, found)


def _declare(words: Sequence[Word], found: Runs) -> None:
    for word in words[1:]:
        if "=" in word.text:
            assigned(word, found)


_SPECIAL: Final = {
    "git": _git,
    "find": _find,
    "gfind": _find,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "trap": _trap,
    "alias": _alias,
    "source": _source,
    ".": _source,
    "coproc": _coproc,
    "time": _coproc,
    "repeat": _coproc,
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declare),
}
