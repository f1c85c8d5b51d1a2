"""The Untether model, for programs that show runs in a chat: its events, its projector, and resume lines.

See docs/views-untether.md. The other published models are reached with `dragoman.projector` and `session.view`.
"""

from dragoman._projections.untether import (
    Action,
    ActionEvent,
    CompletedEvent,
    ResumeToken,
    StartedEvent,
    UntetherEvent,
    find_resume,
    format_resume,
    parse_resume,
    projector,
)

__all__ = [
    "Action",
    "ActionEvent",
    "CompletedEvent",
    "ResumeToken",
    "StartedEvent",
    "UntetherEvent",
    "find_resume",
    "format_resume",
    "parse_resume",
    "projector",
]
