"""What the settings come to for the command that runs: with the options of the group before it."""

from typing import Any, Final

import click

from dragoman._settings.settings import Settings, load

OPTIONS: Final = "dragoman.options"


def choose(ctx: click.Context, key: str, value: Any, option: str) -> None:
    """An option of the group says a setting."""
    ctx.meta.setdefault(OPTIONS, {})[key] = (value, option)


def settings() -> Settings:
    """Raises UsageError where a file or a variable is not right."""
    ctx = click.get_current_context(silent=True)
    return load(ctx.meta.get(OPTIONS) if ctx is not None else None)
