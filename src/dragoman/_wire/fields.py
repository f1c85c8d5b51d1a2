"""Fields of native JSON objects: a value at a key, if it is of the kind that is expected.

Every function takes any `native` and raises for none: what is not an object has no fields. With several keys the
first that holds a value of the kind counts; older and newer versions of an agent name one field differently.
"""

from datetime import UTC, datetime
from typing import Any


def value(native: Any, key: str) -> Any:
    """The value at `key`, of whatever kind; None if there is none."""
    return native.get(key) if isinstance(native, dict) else None


def text(native: Any, *keys: str) -> str | None:
    """The string, which may be empty; None if there is none."""
    if isinstance(native, dict):
        for key in keys:
            found = native.get(key)
            if isinstance(found, str):
                return found
    return None


def integer(native: Any, *keys: str) -> int | None:
    """The integer; None if there is none. True and false are no integers."""
    if isinstance(native, dict):
        for key in keys:
            found = native.get(key)
            if type(found) is int:
                return found
    return None


def number(native: Any, *keys: str) -> float | None:
    """The number, with or without a fraction; None if there is none. True and false are no numbers."""
    if isinstance(native, dict):
        for key in keys:
            found = native.get(key)
            if type(found) is int or type(found) is float:
                return found
    return None


def time(native: Any, *keys: str) -> datetime | None:
    """The moment that a string names, by ISO 8601; of one without a zone, in UTC. None if there is none."""
    try:
        found = datetime.fromisoformat(text(native, *keys) or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def flag(native: Any, *keys: str) -> bool:
    """Whether one of the keys holds true, and not merely something."""
    return isinstance(native, dict) and any(native.get(key) is True for key in keys)


def mapping(native: Any, *keys: str) -> dict[str, Any]:
    """The object; an empty one if there is none."""
    if isinstance(native, dict):
        for key in keys:
            found = native.get(key)
            if isinstance(found, dict):
                return found
    return {}


def items(native: Any, *keys: str) -> list[Any]:
    """The list; an empty one if there is none."""
    if isinstance(native, dict):
        for key in keys:
            found = native.get(key)
            if isinstance(found, list):
                return found
    return []


def mappings(native: Any, *keys: str) -> list[dict[str, Any]]:
    """The objects in the list; anything else in it is left out."""
    return [item for item in items(native, *keys) if isinstance(item, dict)]


def as_mapping(native: Any) -> dict[str, Any]:
    """`native` itself if it is an object, else an empty one."""
    return native if isinstance(native, dict) else {}
