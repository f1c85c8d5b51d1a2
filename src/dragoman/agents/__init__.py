"""The agents: one record each. This table is the only place that lists them."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.agents.agent import Agent

_MODULES = {"claude": "dragoman.agents.claude", "demo": "dragoman.agents.demo"}


class _Agents(Mapping[str, "Agent"]):
    """Records by name, imported when they are first looked at."""

    def __getitem__(self, name: str) -> "Agent":
        record: Agent = import_module(_MODULES[name]).AGENT
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


AGENTS: Mapping[str, "Agent"] = _Agents()
