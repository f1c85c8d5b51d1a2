"""Programs with ways of their own to run another: git, find, sed, awk, and some builtins of the shell."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from dragoman._policy.shell_plain import RESERVED
from dragoman._policy.shell_table import Runs, joined, part
from dragoman._policy.shell_words import Word, literal

_GIT_VALUES: Final = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env")
_FIND_RUNS: Final = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FIND_DOES: Final = frozenset(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls"))
_AWK_RUNS: Final = re.compile(r"system|\||getline|@\s*\w|/inet")
_SED_OPTION: Final = re.compile(r"-[nErszu]*([ef])(.*)|--(e[a-z]*|f(?:i[a-z]*)?)(?:=(.*))?", re.S)
_SED_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*+/I?)"
_SED: Final = re.compile(
    rf"""[\s;}}]*+ (?:{_SED_ADDRESS}(?:,\s*+[+~]?{_SED_ADDRESS}|,[+~]\d+)?)? \s*+ !?+ \s*+
    (?: [pdqQ=PDNnhHgGxlzF]\d*+ (?=[\s;}}]|\Z) | [aic]\\?[^\n]*+ | [bt]\s*+\w*+ | \#[^\n]*+ | :\s*+\w++ | \{{
      | s(?P<s>[^\w\s\\])(?:(?!(?P=s))[^\\]|\\.)*(?P=s)(?:(?!(?P=s))[^\\]|\\.)*(?P=s)[gpiImM0-9]*+ (?=[\s;}}]|\Z)
      | y(?P<y>[^\w\s\\])(?:(?!(?P=y))[^\\]|\\.)*(?P=y)(?:(?!(?P=y))[^\\]|\\.)*(?P=y)
      | (?P<file>[wrWR])\s*+[^\n]++
      | \Z )""",
    re.X | re.S,
)
"""One command of sed's that runs nothing. What refers to a group is not possessive: Python before 3.11.5 matches that
wrong."""


def tails(words: Sequence[Word], found: Runs) -> None:
    """Every tail of the words may be the command."""
    for at, word in enumerate(words):
        value = not word.known and words[at - 1].text.startswith("-")
        if at and not value and not word.text.startswith("-"):
            found.commands.append(list(words[at:]))
            if re.search(r"\s", word.text):
                found.lines.append(word)


def replaced(words: Sequence[Word], signs: Sequence[str]) -> Iterator[Word]:
    """The words of a command; those that a program writes its input into are not known."""
    for word in words:
        hole = any(sign in word.text for sign in signs)
        yield Word(word.text, word.pattern, known=False, exact=False) if hole else word


def _git(words: Sequence[Word], found: Runs) -> None:
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text.startswith(("--config-env", "--exec-path=")):
            found.hide()
        if text.startswith("-c"):
            for word in words[at + 1 : at + 2] if text == "-c" else [part(words[at], text[2:])]:
                found.setting(word)
        at += 2 if text in _GIT_VALUES else 1
    rest = list(words[at:])
    texts = [word.text for word in rest]
    if any("ext::" in text for text in texts):
        found.hide()
    if any(text.startswith(("--out", "--ext")) for text in texts):  # they write a file, or run a program
        found.exact = False
    if texts[:1] == ["config"]:
        for name, value in pairwise(rest):
            if "." in name.text and not name.text.startswith("-"):
                found.setting(part(value, f"{name.text}={value.text}"))
    if texts[:1] == ["bisect"] and "run" in texts:
        found.exact = False
        tails(rest[texts.index("run") :], found)
    if texts[:1] == ["submodule"] and "foreach" in texts:
        found.exact = False
        behind = rest[texts.index("foreach") + 1 :]
        found.lines.append(joined([word for word in behind if not word.text.startswith("-")]))
        tails(behind, found)


def _find(words: Sequence[Word], found: Runs) -> None:
    command: list[Word] | None = None
    commands: list[list[Word]] = []
    for word in words[1:]:
        if command is None:
            if word.text in _FIND_RUNS:
                command, found.exact = [], False
                commands.append(command)
            elif word.text in _FIND_DOES:
                found.exact = False
        elif word.text == ";" or (word.text == "+" and command and command[-1].text == "{}"):
            command = None
        else:
            command.append(word)
    found.commands += [list(replaced(each, ["{}"])) for each in commands if each]


def _sed(words: Sequence[Word], found: Runs) -> None:
    scripts, plain = list[Word](), list[Word]()
    at, from_file = 1, False
    while at < len(words):
        text = words[at].text
        if option := _SED_OPTION.fullmatch(text):
            glued = option[2] or option[4]
            value = part(words[at], glued) if glued else words[at + 1] if at + 1 < len(words) else literal("")
            at += not glued
            if (option[1] or option[3]).startswith("e"):
                scripts.append(value)
            else:
                from_file = True
                found.script(value)
        elif text in ("-l", "--line-length"):
            at += 1
        elif not text.startswith("-") or not words[at].known:
            plain.append(words[at])
        at += 1
    scripts = scripts or ([] if from_file else plain[:1])
    whole = "\n".join(word.text for word in scripts)
    if not all(word.known for word in scripts):
        found.hide()
    at = 0
    while at < len(whole):
        one = _SED.match(whole, at)
        if one is None or one.end() == at:
            found.hide()
            return
        if one["file"]:
            found.exact = False
        at = one.end()


def _awk(words: Sequence[Word], found: Runs) -> None:
    at, program = 1, True
    while at < len(words) and words[at].text.startswith("-") and words[at].text not in ("-", "--"):
        text = words[at].text
        if text.startswith("-f"):
            found.script(
                part(words[at], text[2:])
                if text[2:]
                else words[at + 1]
                if at + 1 < len(words)
                else literal("-")
            )
            program = False
        elif not text.startswith(("-F", "-v")):
            found.hide()
        at += 2 if text in ("-f", "-F", "-v") else 1
    at += words[at : at + 1] == [literal("--")]
    for word in words[at : at + 1] if program else ():
        if not word.known or _AWK_RUNS.search(word.text.replace("||", "")):
            found.hide()


def _trap(words: Sequence[Word], found: Runs) -> None:
    found.lines += [word for word in words[1:] if not word.text.startswith("-")][:1]


def _alias(words: Sequence[Word], found: Runs) -> None:
    found.lines += [part(word, word.text.partition("=")[2]) for word in words[1:] if "=" in word.text]


def _source(words: Sequence[Word], found: Runs) -> None:
    for word in words[1:2]:
        found.script(word)


def _compound(words: Sequence[Word], found: Runs) -> None:
    """`coproc NAME { … }` is no command, though the grammar sees one."""
    if any(word.text in RESERVED for word in words[1:]):
        found.hide()
        tails(words, found)


def _declare(words: Sequence[Word], found: Runs) -> None:
    for word in words[1:]:
        found.assigned(word)


SPECIAL: Final[dict[str, Callable[[Sequence[Word], Runs], None]]] = {
    "git": _git,
    **dict.fromkeys(("find", "gfind"), _find),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "trap": _trap,
    "alias": _alias,
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("coproc", "time", "repeat"), _compound),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declare),
}
