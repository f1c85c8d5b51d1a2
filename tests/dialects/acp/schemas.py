"""The published schemas of the protocol: whether a line of ours is one that they know."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent / "schema"
UNPUBLISHED = ("session/set_model", "session/fork")
"""Spoken by real agents, in no published schema."""


@cache
def schema(version: int) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / f"acp-v{version}.json").read_text())
    return read


@cache
def _validator(version: int, method: str, ending: str) -> Draft202012Validator:
    definitions = schema(version)["$defs"]
    names = [
        name
        for name, definition in definitions.items()
        if definition.get("x-method") == method and name.endswith(ending)
    ]
    assert len(names) == 1, f"{method} has {names} in version {version}"
    return Draft202012Validator({"$ref": f"#/$defs/{names[0]}", "$defs": definitions})


def check(version: int, message: dict[str, Any], answers: str | None = None) -> None:
    """Raises where `message` is not as the schema has it; `answers` is the method that it is the answer to."""
    assert message["jsonrpc"] == "2.0"
    method = message.get("method")
    if method in UNPUBLISHED:
        return
    if method is not None:
        ending = "Request" if "id" in message else "Notification"
        _validator(version, method, ending).validate(message["params"])
    elif "error" in message:
        error = {"$ref": "#/$defs/Error", "$defs": schema(version)["$defs"]}
        Draft202012Validator(error).validate(message["error"])
    elif answers is not None:
        _validator(version, answers, "Response").validate(message["result"])
