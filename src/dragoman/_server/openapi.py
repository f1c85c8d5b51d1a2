"""The description of the API (OpenAPI 3.1), made of the table of calls and the types of what they take and give."""

from functools import cache
from inspect import getdoc
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._server import answers, given
from dragoman._server.calls import CALLS, Call
from dragoman._server.feed import MESSAGES
from dragoman._version import __version__

FAILURES: Final = {
    "400": "wrong input",
    "401": "no token, or a link that is used up",
    "403": "a link that only lets watch, or a foreign page",
    "404": "there is no such thing",
    "409": "not possible now",
    "413": "too large",
    "415": "no JSON, or it is not said that it is",
    "421": "the server is not called so",
}
"""Why there may be no answer, by status."""
_JSON: Final = "application/json"
_EXPORTS: Final = ("text/html", "text/markdown", "application/x-ndjson")
_SCHEMAS: Final = "#/components/schemas/{name}"
_CURSOR: Final = (
    "A header: the runs that are watched, each with the number of the last event that is known, r1:120,r2:0."
)

Json = dict[str, Any]


@cache
def written() -> bytes:
    """The document as a file."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2) + b"\n"


def document() -> Json:
    """The document."""
    kinds = dict.fromkeys([answers.Failed, *MESSAGES.values(), *(call.gives for call in CALLS)])
    _, schemas = msgspec.json.schema_components(list(kinds), ref_template=_SCHEMAS)
    paths: Json = {}
    for call in CALLS:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call)
    paths["/api/stream"] = {"get": _stream()}
    paths["/api/sessions/{id}/export"] = {"get": _export()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Dragoman", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(call: Call) -> Json:
    fields = _fields(call.takes)
    in_path = {name: field for name, field in fields.items() if f"{{{name}}}" in call.path}
    others = {name: field for name, field in fields.items() if name not in in_path}
    told: Json = {
        "operationId": call.does.__name__,
        "summary": getdoc(call.does),
        "parameters": [_parameter(name, field, "path") for name, field in in_path.items()],
        "responses": _responses({"schema": _ref(call.gives)}, _JSON),
    }
    if call.method == "GET":
        told["parameters"] += [_parameter(name, field, "query") for name, field in others.items()]
    else:
        body = {
            "type": "object",
            "properties": others,
            "required": [name for name, field in others.items() if "default" not in field],
            "additionalProperties": False,
        }
        told["requestBody"] = {"required": True, "content": {_JSON: {"schema": body}}}
    return told


def _stream() -> Json:
    """The feed. What its messages hold is told by their names."""
    events = {name: _ref(kind) for name, kind in MESSAGES.items()}
    cursor = {"type": "string", "description": _CURSOR, "default": ""}
    return {
        "operationId": "stream",
        "summary": "The feed: the state of live sessions, and each event of those that are watched.",
        "parameters": [_parameter("Last-Event-ID", cursor, "header")],
        "responses": _responses({"schema": {"type": "string"}, "x-events": events}, "text/event-stream"),
    }


def _export() -> Json:
    fields = _fields(given.Export)
    return {
        "operationId": "export",
        "summary": "A session as one file, without secrets.",
        "parameters": [
            _parameter("id", fields["id"], "path"),
            _parameter("format", fields["format"], "query"),
        ],
        "responses": _responses({"schema": {"type": "string"}}, *_EXPORTS),
    }


def _responses(content: Json, *kinds: str) -> Json:
    failed = {_JSON: {"schema": _ref(answers.Failed)}}
    return {"200": {"description": "done", "content": dict.fromkeys(kinds, content)}} | {
        status: {"description": why, "content": failed} for status, why in FAILURES.items()
    }


def _parameter(name: str, field: Json, place: str) -> Json:
    return {"name": name, "in": place, "required": "default" not in field, "schema": field}


def _fields(kind: type[Struct]) -> Json:
    """The schemas of the fields of what a call takes."""
    fields: Json = msgspec.json.schema_components([kind])[1][kind.__name__].get("properties", {})
    return fields


def _ref(kind: type[Struct]) -> Json:
    return {"$ref": _SCHEMAS.format(name=kind.__name__)}
