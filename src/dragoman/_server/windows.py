"""Windows: some events of a run that follow each other, newest first or from a place on."""

from collections.abc import Callable, Sequence
from typing import Final

from dragoman._library.digest import BLOCK
from dragoman._model.events import Event
from dragoman._server.answers import Window
from dragoman._server.page_events import leave_out, page_event

MOST: Final = 50 * BLOCK
"""Events that are looked through for a window, where most of them are left out of it."""

Read = Callable[[int, int], Sequence[Event]]
"""The events from one number to another, both with it."""


def window(
    run: str,
    total: int,
    read: Read,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int = 300,
    deltas: bool = False,
) -> Window:
    """The first `limit` events after a number, or else the last ones before one; without a number the last ones of all `total`.
    Pieces of texts are left out unless `deltas` are wanted: the texts are there, or told beside it while they grow. Events are
    read by blocks, as the library has them."""

    def told(first: int, last: int) -> list[Event]:
        events = read(first, last)
        left_out = set[int]() if deltas else leave_out(events, over=True)
        return [event for event in events if event.seq not in left_out]

    kept: list[Event] = []
    if after is not None:
        first, last = after + 1, after
        while last < total and len(kept) < limit and last - after < MOST:
            start, last = last + 1, min((last // BLOCK + 1) * BLOCK, total)
            kept += told(start, last)
        if len(kept) > limit:
            kept = kept[:limit]
            last = kept[-1].seq
    else:
        last = total if before is None else max(min(before - 1, total), 0)
        first = last + 1
        while first > 1 and len(kept) < limit and last - first < MOST:
            end, first = first - 1, (first - 2) // BLOCK * BLOCK + 1
            kept = [*told(first, end), *kept]
        if len(kept) > limit:
            kept = kept[-limit:]
            first = kept[0].seq
    return Window(
        run=run,
        events=[page_event(event) for event in kept],
        first=first,
        last=last,
        more_before=first > 1,
        more_after=last < total,
    )
