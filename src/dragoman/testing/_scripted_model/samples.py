"""A value that a JSON Schema accepts: what the model says when an agent asks for nothing but the right form."""

from typing import Any

SCALARS: dict[str, Any] = {"string": "ok", "integer": 1, "number": 1, "boolean": False, "null": None}


def sample(schema: dict[str, Any]) -> Any:
    """The first of the choices, every property, no items. Types may be written in capitals, as Gemini does."""
    if schema.get("enum"):
        return schema["enum"][0]
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if choices:
            return sample(choices[0])
    kind = schema.get("type", "object")
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        return {name: sample(inner) for name, inner in (schema.get("properties") or {}).items()}
    return [] if kind == "array" else SCALARS.get(kind)
