"""The agents: one record each. This table is the only place that lists them."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman._agents.agent import Agent

_MODULES = {
    "claude": "dragoman._agents.claude",
    "codex": "dragoman._agents.codex",
    "gemini": "dragoman._agents.gemini",
    "demo": "dragoman._agents.demo",
}


class _Agents(Mapping[str, "Agent"]):
    """Records by name, imported when they are first looked at; then those of acp_agents.toml."""

    def __getitem__(self, name: str) -> "Agent":
        if name not in _MODULES:
            from dragoman._agents import acp

            return acp.record(name)
        record: Agent = import_module(_MODULES[name]).AGENT
        return record

    def __iter__(self) -> Iterator[str]:
        from dragoman._agents import acp

        return iter(dict.fromkeys((*_MODULES, *acp.names())))

    def __len__(self) -> int:
        return sum(1 for _ in self)


AGENTS: Mapping[str, "Agent"] = _Agents()
