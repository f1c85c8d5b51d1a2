"""`dragoman schema`: the JSON Schemas of the canonical events, of their published views, and of agents' own lines."""

from typing import Any

import click
import msgspec
from msgspec import inspect as mi

from dragoman._cli.terminal.view_options import extended_option
from dragoman._model.events import EVENTS, SCHEMA, AnyEvent
from dragoman._projections import published
from dragoman._projections.agent_event.schema import NATIVE, native_schema


@click.command
@click.option(
    "--view", type=click.Choice(list(published.VIEWS)), help="Of a view, not of the events themselves."
)
@extended_option
@click.option("--native", type=click.Choice(NATIVE), help="Of what this agent writes itself.")
def command(view: str | None, extended: bool, native: str | None) -> None:
    """Print the JSON Schema of one line: of a canonical stream, of a view, or of an agent's own output.

    Fields may be added within these schemas, so they do not forbid those that they do not name.
    """
    if view is not None and native is not None:
        raise click.UsageError("--view and --native exclude each other.")
    if native is not None:
        schema = native_schema(native)
    elif view is not None:
        schema = published.view(view).schema(extended=extended)
    else:
        schema = events_schema()
    click.echo(msgspec.json.format(msgspec.json.encode(schema), indent=2).decode())


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
