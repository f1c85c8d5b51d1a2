"""InsightsEvent: the model of specifications 000 and 002, as a view.

What the view loses is listed in `project`.
"""

from dragoman._projections.insights.project import InsightsProjector
from dragoman._projections.insights.schema import schema
from dragoman._projections.published import Profile

__all__ = ["projector", "refusal", "schema"]


def projector(*, profile: Profile = "seed", extended: bool = False, vendor: str = "") -> InsightsProjector:
    return InsightsProjector(profile=profile, extended=extended, vendor=vendor)


def refusal(*, extended: bool = False, vendor: str = "") -> str:
    """Every agent can be shown: those of no provider of their own are ACP agents."""
    return ""
