"""Frames: the traffic itself, one line each, its bytes as they were.

A frame is what a recording stores and what a machine receives. Everything else is derived from it.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

Direction = Literal["out", "in", "err", "note"]
"""out: the agent wrote it. in: the client wrote it. err: stderr. note: what no line says (see wire/notes)."""


class Frame(Struct, frozen=True, gc=False):
    """One line of traffic, without its newline."""

    n: int
    """1-based number in the run; in a bare file the physical line number."""
    dir: Direction
    line: bytes
    t: float | None = None
    """Seconds since the run started, where known."""
    eol: bool = True
    """False for a last line that lacks its newline."""


class Launch(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a run began: what a recording's header holds and `run.started` reports."""

    agent: str
    dialect: str
    argv: list[str] = field(default_factory=list)
    cwd: str | None = None
    pid: int | None = None
    started: datetime | None = None
    cli_version: str | None = None
    tested_versions: tuple[str, ...] = ()
    """Those that whoever started it had tested."""
    resume: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)


StopReason = Literal["closed", "cancelled", "limited", "timeout"]
"""Why *we* ended a run. Absent when the agent ended by itself."""


class Exit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a run's process ended. Every field may be unknown."""

    code: int | None = None
    signal: str | None = None
    """Name of the signal that ended it, such as SIGKILL."""
    reason: StopReason | None = None
    stderr_tail: str | None = None
    t: float | None = None

    @property
    def known(self) -> bool:
        """Whether it is known how the process ended: by a code or by a signal."""
        return self.code is not None or self.signal is not None
