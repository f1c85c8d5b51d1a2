"""What is logged while a command runs, told in one line each: it may quote an agent or a file."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from dragoman._cli.terminal.visible import echo


class _Teller(logging.Handler):
    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        why = f": {type(error).__name__}: {error}" if error is not None else ""
        with suppress(OSError):
            self._say(f"{record.getMessage()}{why}")


def tell(text: str) -> None:
    """Say something that is not of the agent's. Where stderr takes nothing, that is all."""
    with suppress(OSError):
        echo(f"dragoman: {text}", err=True)


@contextmanager
def told(say: Callable[[str], None] = tell) -> Iterator[None]:
    """Whatever is logged as a warning or worse is told."""
    teller = _Teller(say)
    logging.getLogger().addHandler(teller)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(teller)
