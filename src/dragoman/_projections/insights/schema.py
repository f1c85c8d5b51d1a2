"""The JSON Schema of one line of the Insights view, made from its types."""

from typing import Any

import msgspec
from msgspec import inspect as mi

from dragoman._dialects.insights.messages import TYPES, AnyInsightsEvent


def schema(*, extended: bool = False) -> dict[str, Any]:
    """The model has one form only: `extended` changes nothing."""
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
