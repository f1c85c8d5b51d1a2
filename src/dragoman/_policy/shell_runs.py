"""What a command runs besides itself: `sudo rm x` runs rm, `sh -c 'rm x'` a line, `python -c …` nobody can tell what.

The table is shell_commands.toml; programs with ways of their own are in shell_programs.py.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman._policy.shell_programs import SPECIAL, replaced, tails
from dragoman._policy.shell_table import (
    Carrier,
    Interpreter,
    Runs,
    Shell,
    Wrapper,
    base_name,
    joined,
    part,
    rows,
    table,
)
from dragoman._policy.shell_words import Word, literal

MORE: Final = Word("", known=False, exact=False)
"""Words that come from what a program reads."""
_LOOKS: Final = frozenset(("--version", "--help", "-V", "-h", "-version", "-help"))


def runs(words: Sequence[Word], fed: Sequence[Word] = ()) -> Runs:
    """What the command runs besides itself; `fed` are the texts that it reads, as far as they are known."""
    found = Runs()
    name, first = base_name(words[0].text), words[0]
    if not first.known or not first.text or not (first.exact or first.text.startswith("~")):
        found.hide()
        if len(words) > 1:  # the name may come to nothing: `$x rm`
            found.commands.append(list(words[1:]))
        return found
    if "/" in first.text:
        found.files.append(first.text)
    if name in table().inexact or name in table().computing:
        found.evaluates = True
        found.exact = name in table().computing and not _computes(name, [word.text for word in words[1:]])
    if name in table().writers:
        for word in words[1:]:
            found.writes += [word.text, word.text.rpartition("=")[2], word.text.rpartition("/")[2]]
    if name in SPECIAL:
        SPECIAL[name](words, found)
    known = name in SPECIAL
    for row, rest in rows(name, words):
        known = True
        match row:
            case Wrapper():
                _wrapped(row, rest, found)
            case Shell():
                _shell(row, rest, fed, found)
            case Interpreter():
                _interpreter(row, rest, found)
            case Carrier():
                _carried(row, rest, found)
    if known and any(word.pattern[:1] in "*?[" for word in words[1:] if not word.exact):
        found.exact = False  # a file may have the name of an option
    return found


def _computes(name: str, texts: list[str]) -> bool:
    """Whether a builtin may expand its words: `test -v 'a[$(x)]'`, in zsh `printf %d 'a[$(x)]'` as well."""
    if any("$" in text or "`" in text for text in texts):
        return True
    return any(text.startswith("-v") for text in texts) if name == "printf" else bool({"-v", "-R"} & {*texts})


# --- wrappers -------------------------------------------------------------------------------------------


class _Lost(Exception):
    """An option that is not understood."""


def _wrapped(row: Wrapper, words: Sequence[Word], found: Runs) -> None:
    name = base_name(words[0].text)
    if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
        return
    found.exact = False
    if row.then == "tails":
        tails(words, found)
        return
    try:
        rest = list(_behind_options(row, words, found))
    except _Lost:
        found.hidden = True
        tails(words, found)
        return
    if name in ("env", "genv") and any("\\" in line.text for line in found.lines):
        found.hidden = True  # `env -S` has escapes of its own
    if row.then == "lines":
        found.lines += rest
    elif row.then == "line" and rest:
        found.lines.append(joined(rest))
        found.hidden = found.hidden or row.fed
    elif rest and row.fed:
        signs = list(_replaces(words[: len(words) - len(rest)]))
        found.commands.append([*replaced(rest, signs), MORE])
    elif rest:
        found.commands.append(rest)
    elif row.alone == "hidden" and not found.lines and not _LOOKS & {word.text for word in words}:
        found.hidden = True
        tails(words, found)


def _replaces(words: Sequence[Word]) -> Iterator[str]:
    """What xargs replaces by its input."""
    yield "{}"
    for word, following in zip(words, [*words[1:], literal("")], strict=True):
        found = re.fullmatch(r"-[0rtpxo]*[IiJ](.*)|--replace(?:=(.*))?", word.text, re.S)
        if found and (sign := found[1] or found[2] or following.text):
            yield sign


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
            found.assigned(word)
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
    _given(kind, part(words[at], value), found)
    return 0


def _short_options(letters: dict[str, str], words: Sequence[Word], at: int, found: Runs) -> int:
    text = words[at].text
    for place, letter in enumerate(text[1:], 1):
        kind = letters.get(letter)
        if kind is None or not words[at].known:
            raise _Lost
        glued = text[place + 1 :]
        if kind == "?" or (kind and glued):
            _given(kind, part(words[at], glued), found)
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
        found.setting(value)


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
            found.hidden = found.hidden or text not in (*row.long_values, *row.long_flags)
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
        found.script(rest[0])
    else:
        found.exact = False
        found.lines += fed
        found.hidden = found.hidden or not fed


def _interpreter(row: Interpreter, words: Sequence[Word], found: Runs) -> None:
    texts = [word.text for word in words[1:]]
    if texts and set(texts) <= _LOOKS | {"-v"}:
        return
    if row.always or not texts:
        found.hide()
        return
    unclear, file = False, None
    for at, text in enumerate(texts):
        if text.startswith("-") and len(text) > 1:
            if _takes_code(row, text):
                file = None
                break
            if not text.startswith("--") and text[-1] in row.file and at + 1 < len(texts):
                if texts[at + 1] in row.code_files or not words[at + 2].known:
                    found.hide()
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
        found.script(file)
    if file is None or file.text in row.code_files:
        found.hide()


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
            found.value(part(word, value) if has_value else following)
        elif text.startswith("-") and not text.startswith("--") and text[1:2] in tuple(row.options):
            if row.rest and words[at + 1 :]:
                found.commands.append(list(words[at + 1 :]))
            found.value(part(word, text[2:]) if text[2:] else following)
        elif re.fullmatch(r"-\w+" if at > 1 or not row.bundled else r"-?\w+", text) and {*text} & {
            *row.options
        }:
            found.hidden = True  # among others in one word: any of the words behind may be its value
            for other in words[at + 1 :]:
                found.value(other)
        if any(sign in text for sign in row.signs):
            found.hide()
