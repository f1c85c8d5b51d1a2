"""Identity and time of what a published view says: every item has an id, a session and a timestamp.

An id is `<session>-<seq>`, with `.2`, `.3` … for further items of the same event. The time is the event's own, else
what the agent said, else the last one known.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from dragoman._model.events import Event

EPOCH: Final = "1970-01-01T00:00:00Z"


class Stamps:
    """The stamps of one run."""

    def __init__(self) -> None:
        self._time = EPOCH
        self._said: datetime | str | None = None
        """What that was made of."""
        self.session = ""
        """The session of the event at hand, else the last one known, else ""."""
        self._seq = 0
        self._count = 0

    def enter(self, event: Event) -> None:
        """What is stamped from now on is said by `event`."""
        self.session = event.session or self.session
        said = event.time or event.agent_time
        if said is not None and said != self._said:  # to write a time takes longer than the rest of a stamp
            self._said = said
            self._time = time_of(event) or self._time
        self._seq, self._count = event.seq, 0

    def next(self, session: str) -> tuple[str, str]:
        """The id and timestamp of the next item."""
        self._count += 1
        if self._count == 1:
            return f"{session}-{self._seq}", self._time
        return f"{session}-{self._seq}.{self._count}", self._time


def time_of(event: Event) -> str | None:
    """The time of an event, as far as it is known and is one."""
    if event.time is not None:
        return event.time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return event.agent_time if event.agent_time is not None and is_time(event.agent_time) else None


def is_time(text: str) -> bool:
    """Whether `text` is a time as RFC 3339 writes it."""
    try:
        return msgspec.convert(text, datetime).tzinfo is not None
    except (msgspec.ValidationError, UnicodeError):
        return False
