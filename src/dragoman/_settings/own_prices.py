"""The prices that count: the user's own prices.toml, then the table that comes with Dragoman."""

from pathlib import Path

from msgspec import Struct

from dragoman._policy.config_files import config_file, text_of
from dragoman._prices.estimate import Prices
from dragoman._prices.table import prices_in


class OwnPrices(Struct, frozen=True):
    prices: Prices
    wrong: str | None = None
    """Why the user's file does not count, in one sentence."""


def user_file() -> Path:
    """Where the user's prices are, if there are any."""
    return config_file("prices.toml")


def load() -> OwnPrices:
    """As they are now. A file that is not right never stops anything: it is as if it were not there, and `wrong` says
    why."""
    path = user_file()
    try:
        return OwnPrices(Prices(prices_in(text_of(path))))
    except FileNotFoundError:
        return OwnPrices(Prices())
    except (OSError, ValueError) as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())
        return OwnPrices(Prices(), f"the prices in {path} do not count: {why}")
