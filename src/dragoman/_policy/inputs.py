"""What a tool's input names, whatever its keys are called: commands, files, addresses, variables.

Agents call the same thing by many names (`file_path`, `target_file`, `uri`, `files` …) and new ones come with every
release. So a file is whatever stands under a name for files, and whatever looks like a path under any other name but
those for plain text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

COMMAND_KEYS: Final = (
    "command",
    "cmd",
    "script",
    "commands",
    "argv",
    "shell",
    "bash",
    "code",
    "program",
    "executable",
)
"""Where a command stands, the best first. The first two are what agents use."""
_ENVIRONMENTS: Final = frozenset(("env", "environment", "environment_variables"))
DIRECTORIES: Final = ("cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path")
"""Where a command says that it runs."""

_FILE_KEY: Final = re.compile(
    r"path|file|folder|director|(^|_)(dir|dirs|uri|root|roots|src|dst|dest|destination|target|notebook|location)s?($|_)|Uri$|Dir$",
    re.IGNORECASE,
)
_TEXT_KEYS: Final = frozenset(
    [
        "content",
        "contents",
        "text",
        "new_string",
        "old_string",
        "new_str",
        "old_str",
        "newText",
        "oldText",
        "newString",
        "oldString",
        "new_source",
        "old_source",
        "new_content",
        "old_content",
        "file_text",
        "description",
        "prompt",
        "message",
        "thought",
        "thoughts",
        "reason",
        "explanation",
        "instruction",
        "instructions",
        "query",
        "pattern",
        "regex",
        "replacement",
        "question",
        "questions",
        "todos",
        "plan",
        "title",
        "subject",
        "fact",
        "output_mode",
        "type",
        "glob_type",
        "edits_text",
        "diff",
        "patch_text",
        "unified_diff",
        "insert_text",
    ]
)
"""What is said, not where it goes. A diff names files too: those are read out of it."""
_PATTERN_KEYS: Final = frozenset(("pattern", "glob", "include", "exclude", "patterns"))
"""Globs of files in some tools, plain text in others."""
_PATCH_KEYS: Final = frozenset(
    ("input", "patch", "diff", "unified_diff", "patch_text", "content", "command", "cmd")
)
_PATCHED: Final = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) (?:[ab]/)?|rename (?:from|to) )(?P<path>[^\t\n]+)",
    re.MULTILINE,
)
_URL: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s'\"<>`]*")
_LONGEST: Final = 4096
"""Characters of a path, as the system has it."""
_DEEPEST: Final = 32


def texts(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in an input, with the name under which it stands. The keys of a mapping below another are texts
    too: Codex' file changes have their paths there."""
    if isinstance(value, str):
        yield key, value
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for name, item in value.items():
            if depth and isinstance(item, Mapping):
                yield key, str(name)
            yield from texts(item, str(name), depth + 1)
    elif depth < _DEEPEST and isinstance(value, list | tuple):
        for item in value:
            yield from texts(item, key, depth + 1)


def files(input: Mapping[str, Any], *, globs: bool) -> list[str]:
    """The files that an input names. `globs`: its patterns are files' too."""
    found: list[str] = []
    for key, text in texts({name: item for name, item in input.items() if name not in _ENVIRONMENTS}):
        if key in _PATCH_KEYS and "\n" in text:
            found += [
                match["path"].rstrip() for match in _PATCHED.finditer(text) if match["path"] != "/dev/null"
            ]
        if not text or key in COMMAND_KEYS or key == "args":
            continue
        if "\n" in text or len(text) > _LONGEST:
            wanted = key not in _TEXT_KEYS and _FILE_KEY.search(key) is not None
        elif key in _PATTERN_KEYS:
            wanted = globs and _looks_like_a_path(text)
        else:
            wanted = key not in _TEXT_KEYS and (_FILE_KEY.search(key) is not None or _looks_like_a_path(text))
        if wanted and (path := _path(text)) is not None:
            found.append(path)
    return list(dict.fromkeys(found))


def mentioned(input: Mapping[str, Any]) -> list[str]:
    """Every short text that may be a file's name, under any key: enough for a rule that denies or asks."""
    return [
        text
        for key, text in texts(dict(input))
        if key not in _TEXT_KEYS and "\n" not in text and 0 < len(text) <= _LONGEST
    ]


def hosts(input: Mapping[str, Any]) -> list[str | None]:
    """The hosts of all addresses in an input, also of those in running text; None for one that programs read
    differently (a backslash is a slash to browsers)."""
    found: list[str | None] = []
    for key, text in texts(dict(input)):
        urls = _URL.findall(text)
        if key in ("url", "urls", "uri") and not urls:
            found.append(None)
        found += [_host(url) for url in urls if not url.lower().startswith("file:")]
    return list(dict.fromkeys(found))


def environment(input: Mapping[str, Any]) -> dict[str, str]:
    """The variables that a command is given: a mapping, or a list of names and values as ACP has them."""
    found: dict[str, str] = {}
    for key in _ENVIRONMENTS & input.keys():
        given = input[key]
        if isinstance(given, Mapping):
            found |= {str(name): str(value) for name, value in given.items()}
        elif isinstance(given, list):
            for item in given:
                if isinstance(item, Mapping):
                    found[str(item.get("name", ""))] = str(item.get("value", ""))
                else:
                    name, _, value = str(item).partition("=")
                    found[name] = value
    return found


def directory(input: Mapping[str, Any]) -> str | None:
    """Where a command says that it runs."""
    return next((input[key] for key in DIRECTORIES if isinstance(input.get(key), str) and input[key]), None)


def _looks_like_a_path(text: str) -> bool:
    return text.startswith(("/", "~", "file:", "./", "../")) or "/../" in text or text == ".."


def _path(text: str) -> str | None:
    """The path in a text; None for an address of another kind."""
    if text[:5].lower() == "file:":
        return unquote(text[5:].removeprefix("//").removeprefix("localhost")) or None
    return None if _URL.match(text) else text


def _host(url: str) -> str | None:
    if "\\" in url or any(not char.isprintable() for char in url):
        return None
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.rstrip(".") if host else None
