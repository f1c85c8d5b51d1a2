"""Which sessions of the library a command is about: --agent, --folder, --since, --until."""

import os
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Final

import click

from dragoman._library.sessions import Filter

_AGO: Final = re.compile(r"(\d{1,6})\s*(min|h|d|w)")
_UNITS: Final = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS: Final = {"today": 0, "yesterday": 1}


def session_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command these options; it is called with the `wanted` Filter."""

    @wraps(command)
    def call(
        *args: Any,
        agents: tuple[str, ...],
        folder: str | None,
        since: datetime | None,
        until: datetime | None,
        **rest: Any,
    ) -> Any:
        wanted = Filter(
            agents=agents,
            folder=os.path.abspath(os.path.expanduser(folder)) if folder is not None else None,
            since=since.timestamp() if since is not None else None,
            until=until.timestamp() if until is not None else None,
        )
        return command(*args, wanted=wanted, **rest)

    for option in (
        click.option("--until", type=Moment(end=True), help="Not after this; a day is meant to its end."),
        click.option(
            "--since", type=Moment(), help="Not before this: 30min, 12h, 7d, 2w, today, 2026-11-01."
        ),
        click.option("--folder", metavar="DIR", help="Only those that worked in this folder or below it."),
        click.option(
            "--agent", "agents", multiple=True, metavar="AGENT", help="Only this agent's. Repeatable."
        ),
    ):
        call = option(call)
    return call


class Moment(click.ParamType[datetime]):
    """A moment, by how long ago it is or by its date; without a zone it is in ours. `end`: of a day its end."""

    name = "time"

    def __init__(self, *, end: bool = False) -> None:
        self._end = end

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "WHEN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return self._moment(value.strip().lower(), datetime.now().astimezone())
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time; 30min, 12h, 7d, 2w, today, 2026-11-01 or 2026-11-01T12:30 are",
                param,
                ctx,
            )

    def _moment(self, text: str, now: datetime) -> datetime:
        if (ago := _AGO.fullmatch(text)) is not None:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        if text in _DAYS:
            text = f"{now - timedelta(days=_DAYS[text]):%Y-%m-%d}"
        said = datetime.fromisoformat(text)
        if self._end and len(text) <= len("2026-11-01"):
            said += timedelta(days=1)
        return said.astimezone()
