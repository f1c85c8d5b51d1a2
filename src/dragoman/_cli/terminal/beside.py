"""The page of a run, served beside it for as long as it lasts, and while somebody still looks at it."""

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dragoman._cli.terminal import telling
from dragoman._model.config import SessionConfig
from dragoman._model.errors import UsageError
from dragoman._model.events import Event

if TYPE_CHECKING:
    from dragoman._server.serving import Serving

LINGER: Final = 3.0
"""Seconds in which a page can still read what came of the run, where nobody is at a terminal to say that it shall stay."""
MISSING: Final = "the page needs starlette and uvicorn, which are not installed: pip install 'dragoman[web]'"


def serving(library: str | None = None, **options: object) -> "Serving":
    """A server, not at work yet. Raises UsageError, also where what it needs is not installed."""
    try:
        from dragoman._server.hub import Hub
        from dragoman._server.serving import Serving
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise UsageError(MISSING) from error
    return Serving(Hub(library), **options)  # type: ignore[arg-type]


def opened(link: str, wanted: bool | None = None) -> None:
    """Show a link in a browser: if that is wanted, or nothing is said and there is a screen."""
    has_screen = sys.platform == "darwin" or any(
        name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if wanted or (wanted is None and sys.stdout.isatty() and has_screen):
        webbrowser.open(link)


class Beside:
    """The page of one run. `tell` says where it is, once that is known."""

    def __init__(self, serving: "Serving") -> None:
        self._serving = serving
        self._told = False

    def see(self, event: Event, tell: Callable[[str], None]) -> None:
        """The run has said something: it can be found now."""
        if self._told:
            return
        self._told = True
        from dragoman._runtime.beacons import beacons

        run = next((beacon.run for beacon in beacons() if beacon.pid == os.getpid()), None)
        link = self._serving.link(place=f"/session/{run}" if run is not None else "/")
        tell(link)
        opened(link)


@contextmanager
def beside(config: SessionConfig, wanted: bool) -> Iterator[Beside | None]:
    """A server for the run, if that is `wanted`. When the run is over it stays while a browser has the page open and somebody is
    at the terminal, until Ctrl-C."""
    if not wanted:
        yield None
        return
    if not config.share:
        raise UsageError("--web shows what is recorded; leave out --no-record, or the setting `record`")
    from anyio.from_thread import start_blocking_portal

    page = serving()
    with start_blocking_portal() as portal:
        portal.start_task_soon(page.run)
        try:
            yield Beside(page)
            stays = sys.stdin.isatty()
            if stays and page.hub.watchers:
                telling.tell("the page stays while it is open; Ctrl-C ends it")
            portal.call(page.hub.unwatched, None if stays else LINGER)
        except KeyboardInterrupt:
            pass
        finally:
            portal.call(page.stop)
