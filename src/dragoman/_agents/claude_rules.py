"""Permissions as Claude Code words them (`Bash(git log:*)`, a suggestion of its own), as rules of ours.

Since every call of Claude Code is asked for, what its own lists allow has to be known here. What cannot be said as a
rule of ours is left out: then it is asked for.
"""

import glob
import re
from collections.abc import Iterable
from typing import Any, Final

from dragoman._model.config import Approve
from dragoman._model.toolnames import split_mcp
from dragoman._policy.permission import Effect
from dragoman._policy.rules import Rule
from dragoman._wire import fields

_FORM: Final = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<content>.*)\))?", re.DOTALL)
_COMMAND: Final = re.compile(r"(?P<prefix>[^*]+?)(?::\*| \*)")
_EDITS: Final = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_READS: Final = ("Read", "Grep", "Glob", "LS", "NotebookRead")
_EFFECTS: Final[dict[str, Effect]] = {"allow": "allow", "deny": "deny", "ask": "ask"}

MODES: Final[dict[str, Approve]] = {
    "default": "ask",
    "acceptEdits": "edits",
    "bypassPermissions": "all",
    "plan": "plan",
    "dontAsk": "never",
}
"""What its permission modes mean in ours; `auto`, in which a model decides, is none of them."""


def allowed(names: Iterable[str], source: str) -> list[Rule]:
    """The rules that allow these tools, as `--allowedTools` takes them; `source` is what a decision names."""
    return [rule for name in names if (rule := rule_of(name, "allow", source)) is not None]


def rule_of(text: str, effect: Effect, source: str) -> Rule | None:
    """The rule that says the same as this one of Claude Code's; None if none does."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    tool, content = match["tool"], match["content"]
    rule = Rule(effect=effect, name=source, agent="claude")
    if tool.startswith("mcp__"):
        return _mcp_rule(tool, rule) if content is None else None
    if "*" in tool:
        return None
    if content is None or content == "*":
        rule.tool = tool
        return rule
    if tool == "Bash":
        prefix = _COMMAND.fullmatch(content)
        rule.tool = tool
        if prefix is not None:
            rule.command = prefix["prefix"]
        else:
            rule.line = content
        return rule if prefix is not None or "*" not in content else None
    if tool == "WebFetch" and content.startswith("domain:"):
        rule.tool, rule.host = tool, content.removeprefix("domain:")
        return rule
    if tool in ("Edit", "Read"):
        rule.tool, rule.path = list(_EDITS if tool == "Edit" else _READS), _path(content)
        return rule
    return None


def _mcp_rule(name: str, rule: Rule) -> Rule:
    """Of one tool of a server's, or of all of them: `mcp__server`, `mcp__server__*`."""
    server, tool = split_mcp(name)
    if server is None:
        rule.server = glob.escape(name.removeprefix("mcp__"))
    else:
        rule.server, rule.tool = glob.escape(server), tool if tool == "*" else glob.escape(tool)
    return rule


def _path(pattern: str) -> str:
    """`//x` is from the root of the file system, `/x` from that of the project."""
    return pattern[1:] if pattern.startswith("//") else pattern.removeprefix("/")


_SUGGESTED: Final = "as was suggested"


def suggested(update: Any) -> tuple[list[Rule], Approve | None]:
    """What a permission update of Claude Code's, such as it suggests, comes to: rules, and a mode."""
    kind = fields.text(update, "type")
    if kind == "setMode":
        return [], MODES.get(fields.text(update, "mode") or "")
    if kind == "addDirectories":
        folders = [folder for folder in fields.items(update, "directories") if isinstance(folder, str)]
        paths = [place for folder in folders for place in (folder, f"{folder.rstrip('/')}/**")]
        rule = Rule(effect="allow", name=_SUGGESTED, agent="claude", kind=["read", "search"], path=paths)
        return [rule] if paths else [], None
    effect = _EFFECTS.get(fields.text(update, "behavior") or "")
    if kind != "addRules" or effect is None:
        return [], None
    said = [rule_of(_worded(rule), effect, _SUGGESTED) for rule in fields.mappings(update, "rules")]
    return [rule for rule in said if rule is not None], None


def _worded(said: dict[str, Any]) -> str:
    name, content = fields.text(said, "toolName") or "", fields.text(said, "ruleContent")
    return f"{name}({content})" if content is not None else name
