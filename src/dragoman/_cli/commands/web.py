"""`dragoman web`: a page for everything that runs and everything that ran on this machine."""

import os
import signal
import sys
from typing import TYPE_CHECKING

import anyio
import click

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.beside import opened, serving
from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.library_access import library_option

if TYPE_CHECKING:
    from dragoman._server.serving import Serving


@click.command
@click.option(
    "--port", type=click.IntRange(0, 65535), help="8765, or any that is free, if not given; 0 for any."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen at: others are not only of this machine.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME[:PORT]",
    help="One more name that browsers may call it by, such as that of a proxy. Repeatable.",
)
@click.option("--read-only", is_flag=True, help="Nobody can answer, prompt or change anything through it.")
@click.option(
    "--open/--no-open", "opens", default=None, help="Open a browser; it is, where there is a screen."
)
@library_option
def command(
    port: int | None,
    host: str,
    names: tuple[str, ...],
    read_only: bool,
    opens: bool | None,
    library: str | None,
) -> None:
    """Serve a page on this machine: watch every session, approve and steer those that run, look back at those that ran.

    It prints a link that works once; the tab that opens it keeps what it gets for it. Enter prints another one, for another
    browser. Sessions that are begun on the page end with this command; those of other programs go on.
    """
    server = serving(library, host=host, port=port, names=names, read_only=read_only)
    link = server.link()
    click.echo(link)
    telling.tell(_what_it_is(host, read_only))
    opened(link, opens)
    with telling.told(telling.tell):
        anyio.run(_serve, server)


def _what_it_is(host: str, read_only: bool) -> str:
    may = "watch" if read_only else "watch, answer and begin sessions"
    whose = "" if host in ("127.0.0.1", "::1", "localhost") else f"; all that reach {host} can try it"
    return f"whoever opens that link first may {may}{whose}. Enter: another link. Ctrl-C: the end"


async def _serve(serving: "Serving") -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen_to_signals, serving, tasks.cancel_scope)
        if sys.stdin.isatty():
            tasks.start_soon(_listen_to_keys, serving)
        await serving.run()
        tasks.cancel_scope.cancel()


async def _listen_to_keys(serving: "Serving") -> None:
    """Enter prints another link."""
    while True:
        await anyio.wait_readable(sys.stdin.fileno())
        if not os.read(sys.stdin.fileno(), 1 << 16):
            return
        click.echo(serving.link())


async def _listen_to_signals(serving: "Serving", everything: anyio.CancelScope) -> None:
    """The first one ends what is driven here in good order, the second one at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with anyio.create_task_group() as tasks:
            async for _ in signals:
                if serving.hub.stopping:
                    everything.cancel()
                    return
                if serving.hub.driven:
                    telling.tell(f"ending {plural(serving.hub.driven, 'session')}; Ctrl-C again ends at once")
                tasks.start_soon(serving.stop)
