"""What is logged while a command runs, told in one line each: it may quote an agent or a file."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from dragoman._cli.terminal.streams import let_go
from dragoman._cli.terminal.visible import echo, visible


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
    try:
        echo(f"dragoman: {text}", err=True)
    except OSError:
        let_go(sys.stderr)


@contextmanager
def told(say: Callable[[str], None] = tell) -> Iterator[None]:
    """Whatever is logged as a warning or worse is told."""
    teller = _Teller(say)
    logging.getLogger().addHandler(teller)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(teller)


class _Log(logging.Handler):
    """Writes to stderr what is logged, but for what a teller tells."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        told = any(isinstance(other, _Teller) for other in logging.getLogger().handlers)
        if told and record.levelno >= logging.WARNING:
            return
        with suppress(OSError, ValueError):
            for line in self.format(record).split("\n"):
                sys.stderr.write(visible(line) + "\n")
            sys.stderr.flush()


@contextmanager
def logged(level: str) -> Iterator[None]:
    """What Dragoman logs from this level on goes to stderr, without secrets."""
    from dragoman._runtime.log import WithoutSecrets

    logger, handler = logging.getLogger("dragoman"), _Log()
    handler.addFilter(WithoutSecrets())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
