"""`dragoman config`: what is set, and where."""

from typing import Any

import click
import msgspec

from dragoman._cli.terminal.chosen import settings
from dragoman._cli.terminal.visible import echo
from dragoman._settings import own_prices
from dragoman._settings.settings import Setting, user_file


@click.command
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def command(key: str | None, as_json: bool) -> None:
    """Say what is set and where that comes from; with KEY the value of that one alone.

    What an option says counts, then the environment (DRAGOMAN_AGENT, DRAGOMAN_APPROVE …), then config.toml, then the
    default.
    """
    found = settings()
    if as_json:
        shown: Any = found.find(key) if key is not None else found.all
        click.echo(msgspec.json.encode(shown).decode())
    elif key is not None:
        echo(_text(found.find(key).value))
    else:
        _show(found.all)


def _show(found: dict[str, Setting]) -> None:
    names, values = [
        max(map(len, column)) for column in (found, [_text(each.value) for each in found.values()])
    ]
    for name, setting in found.items():
        source = setting.source if setting.where is None else f"{setting.source}: {setting.where}"
        echo(f"{name:{names}}  {_text(setting.value) or '-':{values}}  {source}")
    path = user_file()
    click.echo()
    echo(f"config.toml  {path}{'' if path.exists() else ' (there is none)'}")
    prices, own = own_prices.user_file(), own_prices.load()
    echo(f"prices.toml  {prices}{'' if prices.exists() else ' (there is none)'}")
    if own.wrong is not None:
        echo(f"dragoman: {own.wrong}", err=True)


def _text(value: Any) -> str:
    """As config.toml has it, without quotes; nothing for what is not set."""
    return {True: "true", False: "false", None: ""}.get(value, str(value))
