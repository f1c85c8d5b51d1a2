"""Which tools a run of Gemini CLI gets, as a policy of its own kind. What a rule there denies its model is not even offered.

0.61.0 drops a whole file without a word if one rule of it has no toolName.
"""

import glob
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._policy.rules import Rule
from dragoman._runtime import own_files

INCLUDED: Final = "includeTools"
EXCLUDED: Final = "excludeTools"
_TRUSTED: Final = "trust"
_KEYS: Final = (INCLUDED, EXCLUDED, _TRUSTED)
"""What its own settings have for an MCP server, and ACP does not."""
_ADMINISTRATOR: Final = (
    "/Library/Application Support/GeminiCli/policies"
    if sys.platform == "darwin"
    else "/etc/gemini-cli/policies"
)
_SURE: Final = re.compile(r"[A-Za-z0-9-]+")
"""Names of servers for which its rules hold. With others (`my_small server`) they fail without a word."""


def policy(config: SessionConfig) -> dict[str, bytes]:
    """The file, by its path, that keeps from the run what it shall not have; nothing where it shall have all."""
    rules = [*_blocked(config), *_of_servers(config.mcp_servers)]
    if not rules:
        return {}
    return {os.path.join(own_files.new_folder(), "tools.toml"): "\n".join(rules).encode()}


def flags(files: Mapping[str, bytes]) -> list[str]:
    """Above the user's own policies; with --policy it would be in place of them. Raises Unsupported where an administrator's
    policies are, beside which the CLI takes none."""
    if files and any(glob.glob(f"{_ADMINISTRATOR}/*.toml")):
        why = f"{_ADMINISTRATOR} has policies, beside which it takes none for a run: say it there"
        raise Unsupported("gemini", "keeping tools from a run", why)
    return [word for path in files for word in ("--admin-policy", path)]


def servers(given: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The servers as ACP has them."""
    return {
        name: {key: value for key, value in server.items() if key not in _KEYS}
        for name, server in given.items()
    }


def trusted(given: Mapping[str, Mapping[str, Any]]) -> list[Rule]:
    """The rules that allow what is not to be asked for."""
    return [
        Rule(effect="allow", name=_TRUSTED, agent="gemini", server=glob.escape(name))
        for name, server in given.items()
        if _is_trusted(name, server)
    ]


def _is_trusted(name: str, server: Mapping[str, Any]) -> bool:
    said = server.get(_TRUSTED, False)
    if not isinstance(said, bool):
        raise UsageError(f"mcp_servers[{name!r}]['{_TRUSTED}'] must be True or False; not {said!r:.60}")
    return said


def _blocked(config: SessionConfig) -> Iterator[str]:
    for tool in config.blocked_tools:
        yield _rule("deny", 999, toolName=tool)


def _of_servers(given: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, server in given.items():
        if {INCLUDED, EXCLUDED} & server.keys() and not _SURE.fullmatch(name):
            raise UsageError(
                f"Gemini CLI would not keep tools of an MCP server from a run that is called {name!r}: give it a name of letters, "
                "digits and dashes"
            )
        included, excluded = (_names(name, server, key) for key in (INCLUDED, EXCLUDED))
        if INCLUDED in server:
            yield _rule("deny", 996, mcpName=name, toolName="*")
        for tool in included:
            yield _rule("ask_user", 997, mcpName=name, toolName=tool)
        for tool in excluded:
            yield _rule("deny", 998, mcpName=name, toolName=tool)


def _names(name: str, server: Mapping[str, Any], key: str) -> list[str]:
    said = server.get(key, [])
    if not isinstance(said, list) or not all(isinstance(tool, str) and tool for tool in said):
        raise UsageError(f"mcp_servers[{name!r}]['{key}'] must be a list of names; not {said!r:.60}")
    return said


def _rule(decision: str, priority: int, **names: str) -> str:
    lines = [f"{key} = {json.dumps(name)}" for key, name in names.items()]
    return "\n".join(["[[rule]]", *lines, f'decision = "{decision}"', f"priority = {priority}\n"])
