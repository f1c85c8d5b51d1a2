"""What goes wrong and stops nobody is logged as `dragoman`, what is done under names below it (docs/settings.md). Logs are
kept and passed on, so secrets stay out."""

import logging
import traceback
from typing import Final

from dragoman._wire.redaction import Redactor


class WithoutSecrets(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._redactor = Redactor()

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redactor.text(record.getMessage()), None
        if record.exc_info and record.exc_info[0] is not None and not record.exc_text:
            # A formatter writes this text, where there is one.
            record.exc_text = self._redactor.text(
                "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            )
        return True


def logger(name: str) -> logging.Logger:
    """The logger of that name. A filter holds for one logger alone, not for those below it."""
    found = logging.getLogger(name)
    found.addFilter(_WITHOUT_SECRETS)
    return found


_WITHOUT_SECRETS: Final = WithoutSecrets()
log: Final = logger("dragoman")
