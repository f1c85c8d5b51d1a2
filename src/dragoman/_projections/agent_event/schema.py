"""The JSON Schemas of specification 004 §8: of AgentEvents, and of what three agents write themselves.

`schemas/unified.json` is §8.1 as it stands. The native ones are those of §8.2, corrected where the real agents
differ: they hold for every line of the captures.
"""

import json
from importlib.resources import files
from typing import Any, Final

import msgspec

from dragoman._dialects.agent_event.messages import AGENT_TYPES, EXTENDED

NATIVE: Final = AGENT_TYPES
"""The agents whose own lines have a schema here."""


def schema(*, extended: bool = False) -> dict[str, Any]:
    """§8.1. Extended: with the types that only the tables name, and with any agent."""
    unified = _load("unified")
    if not extended:
        return unified
    refs, components = msgspec.json.schema_components(EXTENDED, ref_template="#/$defs/{name}")
    unified["title"] += " (extended)"
    unified["oneOf"] += [{"allOf": [{"$ref": "#/$defs/BaseEvent"}, ref]} for ref in refs]
    unified["$defs"] |= components
    started = unified["$defs"]["SessionStartedEvent"]["allOf"][1]["properties"]
    started["agentType"] = unified["$defs"]["SessionConfig"]["properties"]["agentType"] = {"type": "string"}
    return unified


def native_schema(agent: str) -> dict[str, Any]:
    """§8.2: one line of what `agent` (one of NATIVE) writes."""
    return _load(agent)


def _load(name: str) -> dict[str, Any]:
    text = (files(__package__) / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value
