"""AgentEvent: the unified event model of specification 004, §7 and §8, as a view.

What the view loses is listed in `project`.
"""

from dragoman._dialects.agent_event.messages import AGENT_TYPES
from dragoman._projections.agent_event.project import AgentEventProjector
from dragoman._projections.agent_event.schema import schema
from dragoman._projections.published import Profile

__all__ = ["projector", "refusal", "schema"]


def projector(*, profile: Profile = "seed", extended: bool = False, vendor: str = "") -> AgentEventProjector:
    return AgentEventProjector(profile=profile, extended=extended, vendor=vendor)


def refusal(*, extended: bool = False, vendor: str = "") -> str:
    """Why agents of that vendor cannot be shown, or "" if they can: the strict schema knows three."""
    if extended or vendor in AGENT_TYPES:
        return ""
    known = ", ".join(AGENT_TYPES)
    return f"AgentEvent knows the agents {known}, not {vendor or 'this one'}; --extended allows any"
