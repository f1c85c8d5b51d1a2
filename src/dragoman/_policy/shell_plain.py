"""Plain command lines, read a second time: words, quotes, `;` `&&` `||` `|` `( )` and the few redirections that harm
nobody; any other character makes it no plain line.

It shares nothing with the grammar of the tree. A line is sure where both find the same commands in it, since each of
them alone has been led astray: the tree by `ls a\\` newline `#; rm x`, by a carriage return before `#`, by a lone brace.
"""

import re
from typing import Final

from msgspec import Struct

_WORD: Final = r"""(?:
      @\{\w*\}                                    # git's stash@{0}: no shell makes more than one word of it
    | [A-Za-z0-9_\-+./:,@%=^~*?\[\]\#]            # a `#` in front is a comment, which is looked for before
    | !(?=[=\s]|\Z)                               # any other may bring back a line of the past
    | '[^']*'
    | "(?:[^"\\$`!] | \\[^\n] | !(?=[\ ="]))*"
    | \\[\ -~]
    | [^\x00-\x7f]
)+"""
_TOKENS: Final = re.compile(
    rf"""
      (?P<blank> [\ \t]+)
    | (?P<comment> (?<![^\ \t\n]) \#[^'"\\`$;&|<>(){{}}\n]*(?=\n|\Z))
    | (?P<redirect> (?:[0-9]*(?:>>|>\||>&|<&|>|<)|&>>|&>) (?![<>&|(]) [\ \t]* (?P<target> {_WORD}) (?=[\s;&|)]|\Z))
    | (?P<word> {_WORD})
    | (?P<operator> && | \|\| | \|(?!&) | ; | \n | \((?!\() | \) )
    """,
    re.X,
)
_PIECES: Final = re.compile(r"""'([^']*)' | "((?:[^"\\]|\\.)*)" | \\(.) | ([^'"\\]+)""", re.X | re.S)
_SINKS: Final = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
_ODD_NAME: Final = re.compile(r"[*?\[\]~^#{}=!]")
_ODD_WORD: Final = re.compile(r"[\^#]|=.|~\[")
RESERVED: Final = frozenset((
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for",
    "foreach", "function", "if", "in", "nocorrect", "repeat", "select", "then", "time", "until", "while",
))  # fmt: skip


class Plain(Struct):
    """A plain line: its commands, and the files that it reads from."""

    commands: list[list[str]]
    reads: list[str]


def plain(text: str) -> Plain | None:
    """The commands of a plain line; None if it is none."""
    if not _readable(text):
        return None
    line, command, redirected, closed = Plain([], []), list[str](), False, False
    depth = at = 0
    while at < len(text):
        token = _TOKENS.match(text, at)
        if token is None:
            return None
        at = token.end()
        kind, source = token.lastgroup, token[0]
        if kind == "word":
            if closed or not _good_word(source, first=not command):
                return None
            command.append(_unquoted(source))
        elif token["redirect"] is not None:
            reads = _harmless(token["redirect"], token["target"])
            if reads is None:
                return None
            line.reads += reads
            redirected = True
        elif kind == "operator":
            if source == "(":
                if command or redirected or closed:
                    return None
                depth += 1
                continue
            if not (command or closed) and (redirected or source != "\n"):
                return None  # `;;`, or a redirection alone: zsh then runs a program of its own choice
            if command:
                line.commands.append(command)
            command, redirected, closed = [], False, source == ")"
            depth -= closed
            if depth < 0:
                return None
    if depth or (redirected and not (command or closed)):
        return None
    if command:
        line.commands.append(command)
    return line


def _readable(text: str) -> bool:
    """Whether every character is what it seems to be, in every shell and locale."""
    if text.isascii():
        return not re.search(r"[\x00-\x08\x0b-\x1f\x7f]|\\\n", text)
    # Bytes A0 and 85 of a letter are blanks for some builds of bash.
    outside = re.sub(r"""'[^']*'|"[^"]*\"""", "", text)
    if re.search(r"[^\x00-\x7f][\\`|{}\[\]~^@]", text):
        return False  # in some locales of East Asia the two are one character
    return (
        all(char.isprintable() or char in "\n\t" for char in text)
        and "\\\n" not in text
        and all(
            char.isascii() or (char.isalnum() and not {0x85, 0xA0} & {*char.encode()}) for char in outside
        )
    )


def _good_word(source: str, first: bool) -> bool:
    if first:
        return source == "[" or not (not source.isascii() or _ODD_NAME.search(source) or source in RESERVED)
    return not _ODD_WORD.match(source)


def _unquoted(source: str) -> str:
    return "".join(
        single or re.sub(r'\\(["\\$`])', r"\1", double or "") or escaped or bare or ""
        for single, double, escaped, bare in _PIECES.findall(source)
    )


def _harmless(redirect: str, target: str) -> list[str] | None:
    """The files that a redirection reads; None if it does anything else than that, or than to drop output."""
    sign = redirect.lstrip("0123456789").removesuffix(target).strip()
    if sign in (">&", "<&"):
        return [] if target in ("0", "1", "2") else None
    name = _unquoted(target)
    if sign != "<":
        return [] if name in _SINKS else None
    if name == "/dev/null":
        return []
    return None if _ODD_NAME.search(target) or name.startswith("/dev/") or not name else [name]
