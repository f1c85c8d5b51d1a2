"""JSON values of which a JSON Schema says that they are right: a strategy made of the schema itself."""

from typing import Any, Final

from hypothesis import strategies as st

TEXT: Final = st.text(max_size=8)
"""Any characters; never half a one, which no UTF-8 holds."""
ANYTHING: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
_TIMES: Final = st.sampled_from(
    ["2025-01-15T10:30:00Z", "2025-01-15T10:30:00.125+01:00", "1970-01-01T00:00:00Z"]
)
_MORE: Final = st.dictionaries(TEXT.map("x-{}".format), ANYTHING, max_size=2)
"""Properties that no schema names, and none forbids."""


def instances(schema: dict[str, Any], root: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """All that `schema` allows; `root` is the schema that its references are in. Raises NotImplementedError for a word
    of JSON Schema that is not known here, since what it says would be overlooked."""
    root = schema if root is None else root
    unknown = schema.keys() - _KNOWN
    if unknown:
        raise NotImplementedError(f"not known here: {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        return st.deferred(lambda: instances(_at(root, schema["$ref"]), root))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return st.one_of(*(instances(each, root) for each in schema[choice]))
    if "allOf" in schema:
        return _objects(_merged(schema, root), root)
    kind = schema.get("type", "object" if "properties" in schema else None)
    if kind == "object":
        return _objects(schema, root)
    if kind == "array":
        return st.lists(instances(schema.get("items", {}), root), max_size=3)
    return _scalars(kind, schema) if kind is not None else ANYTHING


def _scalars(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum"), schema.get("maximum")
    match kind:
        case "string":
            return _TIMES if schema.get("format") == "date-time" else TEXT
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "integer":  # 5.0 is one, too
            whole = st.integers(low, high)
            return whole | whole.filter(lambda n: abs(n) < 2**53).map(float)
        case "number":
            return st.floats(low, high, allow_nan=False, allow_infinity=False) | st.integers(low, high)
    raise NotImplementedError(f"not known here: the type {kind}")


def _objects(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: instances(each, root) for name, each in schema.get("properties", {}).items()}
    required = set(schema.get("required", ()))
    named = st.fixed_dictionaries(
        {name: value for name, value in fields.items() if name in required},
        optional={name: value for name, value in fields.items() if name not in required},
    )
    other = schema.get("additionalProperties")
    more = _MORE if other is None else st.dictionaries(TEXT, instances(other, root), max_size=2)
    return st.builds(lambda more, named: {**more, **named}, more, named)


def _merged(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """An `allOf` of objects as one: of a property that several name, the last one's word counts, which is the
    narrower in the schemas here."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for part in schema["allOf"]:
        each = _at(root, part["$ref"]) if "$ref" in part else part
        each = _merged(each, root) if "allOf" in each else each
        properties |= each.get("properties", {})
        required |= set(each.get("required", ()))
    return {"properties": properties, "required": sorted(required)}


def _at(root: dict[str, Any], reference: str) -> dict[str, Any]:
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    assert isinstance(found, dict)
    return found


_SAYS: Final = {"$ref", "type", "const", "enum", "oneOf", "anyOf", "allOf", "items", "properties", "required"}
_LIMITS: Final = {"format", "minimum", "maximum", "additionalProperties"}
_REMARKS: Final = {"discriminator", "$defs", "$schema", "$id", "title", "description", "default"}
_KNOWN: Final = _SAYS | _LIMITS | _REMARKS
