"""What a tool call would do, in full: what a person must see before saying yes.

Everything that a decision rests on is here and each value stands behind its own name: the tool and its MCP server, the
kind, the command, every other input, the files where they really lie, and why it is asked. A value of several lines
stands below its name and further in, so that no line of it looks like a name.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from dragoman._model import toolnames
from dragoman._model.events import FileChanged, PermissionRequested
from dragoman._reports.diffs import diff_of_edit, text_after

DIFF_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
TAB: Final = 4

Line = tuple[str, str]
"""Text and style."""

_NAME: Final = re.compile(r"[\w./:@+-]+", re.ASCII)
"""A name that cannot be taken for anything else; others stand in quotes."""
_SUBJECTS: Final = (
    "command", "cmd", "file_path", "path", "filePath", "absolute_path", "notebook_path", "dir_path", "url", "uri",
    "pattern", "query",
)  # fmt: skip
"""The inputs that say best what a call is about: the first of them stands beside the tool's name."""


class Proposal(Struct, frozen=True):
    """What is asked for: the line that says it, and those below."""

    head: str
    lines: list[Line]


def proposal(
    event: PermissionRequested, files: Iterable[str] = (), changes: Iterable[FileChanged] = ()
) -> Proposal:
    """All that is asked for. `files` are those that it touches and does not name itself; `changes` what the agent has
    proposed for this call."""
    server, tool = toolnames.split_mcp(event.tool_name or "")
    input = dict(event.input) if isinstance(event.input, dict) else {}
    if event.synthesized and input.get("sessionId") == event.session:
        del input["sessionId"]  # of a host call: whose it is goes without saying
    key, about = _subject(input)
    if about is None and event.input in (None, {}) and event.title:
        key, about = "its title", event.title  # all that there is
    beside = about if about is not None and "\n" not in about else None
    lines: list[Line] = []
    if about is not None and beside is None:
        lines += _field(key, about)
    if server is not None:
        lines += _field("MCP server", server)
    if event.tool_name not in (None, event.kind) and not event.synthesized:
        lines += (
            [] if event.kind == toolnames.kind_of(event.tool_name or "") else _field("of kind", event.kind)
        )
    lines += _edit(input)
    patched = _patches(input)
    for name, value in input.items():
        lines += _field(_name(name), value)
    if event.input is not None and not isinstance(event.input, dict):
        lines += _field("its input", event.input)
    if event.blocked_path is not None:
        lines += _field("blocked path", event.blocked_path)
    for path in files:
        lines += _field("file touched", path)
    for patch in patched.values():
        lines += patch
    for change in changes:
        if change.path in patched:
            continue
        moved = f" → {change.move_to}" if change.move_to else ""
        if change.path != beside or moved:
            lines.append((f"{change.change} file: {change.path}{moved}", "bold"))
        lines += diff_lines(change.diff or "")
    if event.reason:
        lines += _field("its reason", event.reason)
    name = _name(tool) if tool else event.kind
    head = f"{name} {beside}" if beside is not None else name
    if event.title and about != event.title and _says_more(event.title, [head, *(text for text, _ in lines)]):
        lines += _field("its title", event.title)
    return Proposal(head, lines)


def _says_more(title: str, shown: list[str]) -> bool:
    """Whether a title has a word that is not shown yet: most only name the tool and its file once more."""
    known = "\n".join(shown).lower()
    return any(word not in known for word in re.findall(r"\w[\w./-]*", title.lower()))


def files_beside(event: PermissionRequested, paths: Iterable[str], cwd: str) -> list[str]:
    """Those of the real `paths` that the input does not name as they are: a link leads there, or the agent told of
    them elsewhere."""
    values = event.input.values() if isinstance(event.input, dict) else ()
    named = [value for value in (*values, event.blocked_path) if isinstance(value, str) and value]
    here = os.path.realpath(cwd)
    plain = set()
    for name in named:
        whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(name)))
        plain.add(here + whole[len(cwd) :] if whole.startswith(cwd + os.sep) else whole)
    return [path for path in paths if path not in plain]


def diff_lines(diff: str) -> list[Line]:
    """A unified diff without its file names. Only two lines before the first hunk are names: `--- a` is also how a line
    `-- a` looks that is taken out."""
    body = diff.removesuffix("\n").split("\n") if diff else []
    named = [line[:3] for line in body[:3]] == ["---", "+++", "@@ "]
    return [
        (line.expandtabs(TAB), DIFF_STYLES.get(line[:1], "dim")) for line in (body[2:] if named else body)
    ]


def _subject(input: dict[str, Any]) -> tuple[str, str | None]:
    """What a call is about, taken out of its input, and the name it has there: its command with all arguments, a
    path, a url."""
    for key in _SUBJECTS:
        value = input.get(key)
        line = key in ("command", "cmd")
        if line and _words(value) and value:
            return key, shlex.join(input.pop(key))
        if isinstance(value, str) and value:
            args = input.get("args")
            if line and _words(args) and args:
                return key, shlex.join((input.pop(key), *input.pop("args")))
            return key, input.pop(key)
    return "", None


def _edit(input: dict[str, Any]) -> list[Line]:
    """The texts before and after, taken out of an edit's input, as a diff."""
    diff = diff_of_edit(input)
    if diff is None:
        return []
    for taken in ("old_string", text_after(input)):
        input.pop(taken, None)
    return diff_lines(diff)


def _patches(input: dict[str, Any]) -> dict[str, list[Line]]:
    """The changes that Codex asks for (capture approval_filechange) by path, taken out of the input; {} where one of
    them is of another form."""
    changes, found = input.get("changes"), {}
    for change in changes if isinstance(changes, list) else ():
        match change:
            case {"path": str(path), "kind": {"type": str(kind), **more}, "diff": str(diff), **rest}:
                known = kind in _CODEX_KINDS and path not in found and not rest and not any(more.values())
            case _:
                known = False
        if not known:
            return {}
        found[path] = [(f"{kind} file: {path}", "bold"), *_patch(kind, diff)]
    if found:
        del input["changes"]
    return found


_CODEX_KINDS: Final = {"add": "+", "delete": "-", "update": ""}
"""What is done to a file; where it comes or goes the text is all of it, and no diff."""


def _patch(kind: str, diff: str) -> list[Line]:
    sign = _CODEX_KINDS[kind]
    if not sign:
        return diff_lines(diff)
    return [
        (f"{sign}{line}".expandtabs(TAB), DIFF_STYLES[sign]) for line in diff.removesuffix("\n").split("\n")
    ]


def _field(label: str, value: Any) -> list[Line]:
    """A value behind its name, or below it. Our own names are of two words, which an agent's are only in quotes."""
    if label == "env" and (variables := _variables(value)):
        return [(f"{label}: {variable}", "") for variable in variables]
    if isinstance(value, str):
        body = value.split("\n")
    elif isinstance(value, dict | list) and value:
        body = json.dumps(value, indent=2, ensure_ascii=False, default=str).split("\n")
    else:
        body = [json.dumps(value, ensure_ascii=False, default=str)]
    if len(body) == 1:
        return [(f"{label}: {body[0]}", "")]
    return [(f"{label}:", ""), *((f"  {line.expandtabs(TAB)}", "") for line in body)]


def _variables(value: Any) -> list[str]:
    """NAME=value of variables by name, or of ACP's list of them; [] for anything else."""
    if isinstance(value, dict) and _words([*value.values()]):
        return [f"{_name(name)}={text}" for name, text in value.items()]
    rows = value if isinstance(value, list) else []
    if not all(
        isinstance(row, dict) and row.keys() == {"name", "value"} and _words([*row.values()]) for row in rows
    ):
        return []
    return [f"{_name(row['name'])}={row['value']}" for row in rows]


def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
