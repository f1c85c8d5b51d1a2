"""InsightsEvent: the model of specifications 000 and 002, as a view.

What the view loses is listed in `project`.
"""

from typing import Any

import msgspec
from msgspec import inspect as mi

from dragoman._dialects.insights.messages import TYPES, AnyInsightsEvent
from dragoman._projections.insights.project import InsightsProjector
from dragoman._projections.published import Profile

__all__ = ["projector", "refusal", "schema"]


def projector(*, profile: Profile = "seed", extended: bool = False, vendor: str = "") -> InsightsProjector:
    return InsightsProjector(profile=profile, extended=extended, vendor=vendor)


def refusal(*, extended: bool = False, vendor: str = "") -> str:
    """Every agent can be shown: those of no provider of their own are ACP agents."""
    return ""


def schema(*, extended: bool = False) -> dict[str, Any]:
    """The JSON Schema of one line, made from its types. The model has one form only: `extended` changes nothing."""
    (union,), components = msgspec.json.schema_components([AnyInsightsEvent], ref_template="#/$defs/{name}")
    for cls in TYPES.values():
        info = mi.type_info(cls)
        assert isinstance(info, mi.StructType)
        written = [field.encode_name for field in info.fields if field.required]
        components[cls.__name__]["required"] = ["event", "id", "timestamp", "provider", "sessionId", *written]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "InsightsEvent",
        **union,
        "$defs": components,
    }
