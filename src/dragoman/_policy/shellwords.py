"""What a shell command line runs, as far as it can be told without running it.

`git log; rm -rf x` is two commands, and `git log $(rm x)` hides one. A rule that *allows* must be sure of all of
them, a rule that *denies* must find any of them; so a line has its commands, those hidden in substitutions too,
and says whether anything in it stays opaque.
"""

import re
import shlex
from typing import Final

from msgspec import Struct, field

_OPERATORS: Final = frozenset((";", "&", "&&", "||", "|", "|&", "(", ")", "\n", ";;"))
_REDIRECTS: Final = re.compile(r"\d*(>>?|<|>&|<&|<>|>\||<<<?|&>>?)-?")
_HARMLESS_TARGETS: Final = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "&1", "&2", "1", "2"))
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUBSTITUTION: Final = re.compile(r"\$\(|`|<\(|>\(|\$\{|\$'|\$\[")
_KEYWORDS: Final = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "{",
        "}",
        "!",
        "[[",
        "time",
        "coproc",
    ]
)
_WRAPPERS: Final = frozenset(
    [
        "sudo",
        "doas",
        "env",
        "nohup",
        "nice",
        "time",
        "timeout",
        "xargs",
        "exec",
        "command",
        "builtin",
        "stdbuf",
        "setsid",
        "ionice",
        "chroot",
        "su",
        "watch",
    ]
)
_SHELLS: Final = frozenset(["sh", "bash", "dash", "zsh", "ksh", "fish"])
_BUILTINS_THAT_RUN: Final = frozenset(("eval", "source", ".", "trap", "alias"))
_SCRIPT_FLAG: Final = re.compile(r"-[a-z]*c")
_FLAGS_THAT_DO_MORE: Final = {"git": ("--out", "--ext")}
"""Options of commands that only look, as far as they must be written out: with these they write a file, or run a
program."""


class Line(Struct):
    """A command line, taken apart."""

    commands: list[list[str]] = field(default_factory=list)
    """Every command with its arguments, those hidden in substitutions, wrappers and `sh -c` too."""
    opaque: bool = False
    """There is more to it than `commands` tells: assignments, redirections, substitutions, control flow."""


def parsed(text: str) -> Line:
    """The line taken apart. Never raises; what cannot be understood is opaque."""
    line = Line()
    _take(text, line, depth=0)
    return line


def words(text: str) -> list[str]:
    """The words of one plain command, without their quotes."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def script(text: str) -> str:
    """What `bash -lc '…'` runs, for that is how Codex runs everything; any other line is its own script."""
    parts = words(text) if "c " in text else []
    wrapped = len(parts) == 3 and _name(parts) in _SHELLS and _SCRIPT_FLAG.fullmatch(parts[1])
    return parts[2] if wrapped else text


def _name(command: list[str]) -> str:
    """Without the folder that it lies in."""
    return command[0].rsplit("/", 1)[-1]


def _take(text: str, line: Line, depth: int) -> None:
    if depth > 5:
        line.opaque = True
        return
    if _SUBSTITUTION.search(text):
        line.opaque = True
        for inner in _substituted(text):
            _take(inner, line, depth + 1)
    try:
        lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=";&|()<>\n")
        lexer.commenters = ""
        lexer.whitespace = " \t\r"
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        line.opaque = True
        words = text.split()
    command: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
            line.opaque = line.opaque or word not in _HARMLESS_TARGETS
        elif word in _OPERATORS or (word and set(word) <= set(";&|()\n")):
            _finish(command, line, depth)
            command = []
        elif _REDIRECTS.fullmatch(word):
            skip = True
            if command and command[-1].isdigit():
                command.pop()
        else:
            command.append(word)
    _finish(command, line, depth)


def _substituted(text: str) -> list[str]:
    """The texts inside `$( )`, back-ticks and process substitutions."""
    found = re.findall(r"`([^`]*)`", text)
    for start in re.finditer(r"[$<>]\(", text):
        level, begin = 1, start.end()
        for end in range(begin, len(text)):
            level += {"(": 1, ")": -1}.get(text[end], 0)
            if level == 0:
                found.append(text[begin:end])
                break
    return found


def _finish(command: list[str], line: Line, depth: int) -> None:
    while command and (_ASSIGNMENT.match(command[0]) or command[0] in _KEYWORDS):
        line.opaque = True
        command = command[1:]
    if not command:
        return
    line.commands.append(command)
    name = _name(command)
    if name in _BUILTINS_THAT_RUN:
        line.opaque = True
    if any(word.startswith(_FLAGS_THAT_DO_MORE.get(name, ())) for word in command):
        line.opaque = True
    at = next((n for n, word in enumerate(command) if n and _SCRIPT_FLAG.fullmatch(word)), None)
    if name in _SHELLS and at is not None:
        line.opaque = True
        for inner in command[at + 1 : at + 2]:
            _take(inner, line, depth + 1)
    elif name in _WRAPPERS:
        line.opaque = True
        rest = command[1:]
        line.commands += [
            rest[start:]
            for start, word in enumerate(rest)
            if not word.startswith("-") and not _ASSIGNMENT.match(word)
        ]
    elif name == "find" and any(word in ("-exec", "-execdir", "-ok", "-delete") for word in command):
        line.opaque = True
        for flag in ("-exec", "-execdir", "-ok"):
            if flag in command:
                line.commands.append(command[command.index(flag) + 1 :])
