"""`dragoman schema`: the JSON Schema of the canonical events."""

from typing import Any

import click
import msgspec
from msgspec import inspect as mi

from dragoman.model.events import EVENTS, SCHEMA, AnyEvent


@click.command
def command() -> None:
    """Print the JSON Schema (draft 2020-12) of one line of a canonical stream.

    Fields may be added within this schema, so it does not forbid those it does not name.
    """
    click.echo(msgspec.json.format(msgspec.json.encode(events_schema()), indent=2).decode())


def events_schema() -> dict[str, Any]:
    (union,), components = msgspec.json.schema_components([AnyEvent], ref_template="#/$defs/{name}")
    for cls in EVENTS.values():
        components[cls.__name__]["required"] = ["type", *_always_written(cls)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "A canonical event of Dragoman",
        **union,
        "$defs": components,
    }


def _always_written(cls: type) -> list[str]:
    """Fields with no default, or with one that is made anew (msgspec leaves out only the empty list and dict
    among those): every event has them, though reading does not insist."""
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    return [
        field.encode_name
        for field in info.fields
        if field.required or field.default_factory not in (msgspec.NODEFAULT, list, dict)
    ]
