"""docs/http-api.md, made from the description of the API (`openapi`) and what its types say of themselves."""

from importlib import import_module
from typing import Any, NamedTuple

from msgspec import Struct
from source_words import Field, cell, fields_of, own_words, paragraphs, table

from dragoman._library.usage import UsageReport
from dragoman._reports.deed_entries import DeedsSummary
from dragoman._server import given, openapi
from dragoman._server.answers import Answer
from dragoman._server.calls import CALLS
from dragoman._server.feed import MESSAGES

HTTP_HEAD = """\
# The HTTP API

What the page of `dragoman web` works with ([web.md](web.md)), for other programs too. `/api/openapi.json` is the same for them to read. This
page is made from the code (`python docs/generate.py`).

A link that `dragoman web` prints is `http://HOST:PORT/#t=LINK`; `POST /api/enter` gives a token for LINK, once. All other calls are sent with
`Authorization: Bearer TOKEN`. A GET takes its fields as a query, a POST as a JSON object with `Content-Type: application/json`; what stands in
the path is named there. A field with `?` need not be there. Times are seconds since 1970. Without an answer there is [Failed](#failed) and a
status that says why:"""
GIVES_HEAD = """\
# What they give

An event is one of [events.md](events.md) as the page shows it: without `ext` and `line`; texts of more than 20,000 characters are cut, and
`cut` has the whole length of each, by its place; `nodes` is what an assistant says, its Markdown read: texts, and `[tag, attributes, nodes]`;
`file.changed` has the `rows` of its diff in place of texts."""
FEED_HEAD = """\
# The feed

What `GET /api/stream` says, as server-sent events without end. The `id` of a message says how far each watched run has been told; as
`Last-Event-ID` it goes on from there: after a cut, and to watch others."""

JSON = "application/json"
TAKEN: dict[tuple[str, str], type[Struct]] = {
    **{(call.method, call.path): call.takes for call in CALLS},
    ("GET", "/api/sessions/{id}/export"): given.Export,
}
"""The types of what calls take."""
GIVEN = {
    name: value
    for kind in (Answer, DeedsSummary, UsageReport)
    for name, value in vars(import_module(kind.__module__)).items()
    if isinstance(value, type) and issubclass(value, Struct)
}
"""Those of what they give, by name."""


class Operation(NamedTuple):
    """A call, as the description of the API has it."""

    method: str
    path: str
    described: dict[str, Any]

    @property
    def title(self) -> str:
        return f"`{self.method} {self.path}`"

    @property
    def takes(self) -> list[Field]:
        """Its fields, those in the path first."""
        words = words_of(TAKEN.get((self.method, self.path), given.Nothing))
        sent = self.described.get("requestBody", {}).get("content", {JSON: {"schema": {}}})
        fields = {each["name"]: each["schema"] for each in self.described["parameters"]}
        fields |= sent[JSON]["schema"].get("properties", {})
        return [json_field(name, schema, words, "default" in schema) for name, schema in fields.items()]

    @property
    def gives(self) -> str:
        content = self.described["responses"]["200"]["content"]
        return ", ".join(
            json_kind(each["schema"]) if kind == JSON else f"`{kind}`" for kind, each in content.items()
        )


def http_page() -> str:
    document = openapi.document()
    calls = [
        Operation(method.upper(), path, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    messages = {kind.__name__: name for name, kind in MESSAGES.items()}
    schemas = document["components"]["schemas"]
    answers = [json_section(name, schema) for name, schema in schemas.items() if name not in messages]
    feed = [json_section(name, schemas[name], f"`{said}`") for name, said in messages.items()]
    failures = [
        "| status | |",
        "|---|---|",
        *(f"| {status} | {why} |" for status, why in openapi.FAILURES.items()),
    ]
    parts = [HTTP_HEAD, "\n".join(failures), "# Calls", calls_table(calls), "# What they take"]
    for call in calls:
        if any(field.name != "id" for field in call.takes):
            kind = TAKEN.get((call.method, call.path))
            parts += [
                f"## {call.title}",
                own_words(kind) if kind is not None else "",
                table(call.takes, mark=""),
            ]
    return paragraphs(*parts, GIVES_HEAD, *answers, FEED_HEAD, *feed) + "\n"


def calls_table(calls: list[Operation]) -> str:
    rows = ["| call | takes | gives | |", "|---|---|---|---|"]
    for call in calls:
        takes = ", ".join(f"`{field.name}`" for field in call.takes)
        rows.append(
            f"| {call.title} | {takes} | {call.gives} | {cell(' '.join(call.described['summary'].split()))} |"
        )
    return "\n".join(rows)


def json_section(name: str, schema: dict[str, Any], title: str = "") -> str:
    """A type of what calls give. A field that has a default is left out then, if any are."""
    kind = GIVEN[name]
    words, leaves_out = words_of(kind), kind.__struct_config__.omit_defaults
    fields = [
        json_field(field, each, words, leaves_out and "default" in each)
        for field, each in schema.get("properties", {}).items()
    ]
    return paragraphs(f"## {title or name}", own_words(kind), table(fields, mark=""))


def words_of(kind: type[Struct]) -> dict[str, str]:
    """What is said of the fields of a type, its own and inherited ones."""
    ours = [each for each in reversed(kind.__mro__) if each.__module__.startswith("dragoman.")]
    return {field.name: field.words for each in ours for field in fields_of(each)}


def json_field(name: str, schema: dict[str, Any], words: dict[str, str], is_optional: bool) -> Field:
    said = [
        words.get(name) or schema.get("description"),
        schema.get("default") and f"{schema['default']}, if absent.",
    ]
    return Field(f"{name}?" if is_optional else name, json_kind(schema), " ".join(filter(None, said)))


def json_kind(schema: dict[str, Any]) -> str:
    """A type as JSON has it, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        absent = [{"type": "null"}] if "default" in schema else []
        return " or ".join(json_kind(each) for each in schema["anyOf"] if each not in absent)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "prefixItems" in schema:
        return f"[{'; '.join(map(json_kind, schema['prefixItems']))}]"
    if "items" in schema:
        return f"list of {json_kind(schema['items'])}"
    if "maximum" in schema:
        return f"{schema['type']}, {schema['minimum']} to {schema['maximum']}"
    return str(schema.get("type", "anything"))
