"""The Untether model: a run as a chat sees it: it started, it did these things, it answered.

A stream has one StartedEvent per session, ActionEvents, and exactly one CompletedEvent, its last. A run of several
turns answers with its last one; a program that shows turns one by one makes a projector for each.

Profiles: `seed` keeps to the published table for Gemini and to the program's own runners for others (Gemini's error
ends the stream at once; a tool's start that the agent did not tell is not shown; each word of Claude about rate limits
is a note). `live` holds an error until the result that follows, knows the tool names that Gemini CLI really uses,
shows calls of which only the result was told, tells only limits that are reached, and adds what the tables lack (a
tool's error, cached tokens, duration). `compat="untether-0.35"` titles Gemini's tools as that version's code does.

What is lost: times, seqs, frames and raw lines; deltas, and all text but the answer; a tool's output beyond 500
characters (Codex: all of it), its structure, locations and duration; diffs; who spoke to whom inside subagents,
but for the parent of a call; the choices of a permission, who settled it and by which rule; answers to questions;
modes, commands, options, hooks, host calls, sign-in and notices; what changes in a session after its start;
turns but the last; usage per model and per call; everything after CompletedEvent. It cannot be read back.
"""

from typing import Any

import msgspec

from dragoman._projections.published import Profile
from dragoman._projections.untether.model import (
    Action,
    ActionEvent,
    CompletedEvent,
    ResumeToken,
    StartedEvent,
    UntetherEvent,
)
from dragoman._projections.untether.project import Projector
from dragoman._projections.untether.resume import find_resume, format_resume, parse_resume
from dragoman._projections.untether.titles import Compat

__all__ = [
    "Action",
    "ActionEvent",
    "CompletedEvent",
    "Projector",
    "ResumeToken",
    "StartedEvent",
    "UntetherEvent",
    "find_resume",
    "format_resume",
    "parse_resume",
    "projector",
    "refusal",
    "schema",
]


def projector(
    *,
    profile: Profile = "seed",
    extended: bool = False,
    vendor: str = "",
    compat: Compat | None = None,
) -> Projector:
    """A new view of one run. `extended` changes nothing: the model is open as it is."""
    return Projector(profile, vendor, compat)


def schema(*, extended: bool = False) -> dict[str, Any]:
    """The JSON Schema of one line."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(UntetherEvent)}


def refusal(*, extended: bool = False, vendor: str = "") -> str:
    """No agent is refused: an engine is any name."""
    return ""
