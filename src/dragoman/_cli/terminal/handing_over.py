"""A session handed over to another agent: what it is told is shown before it is sent."""

import sys

import click

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.formatting import plural
from dragoman._cli.terminal.library_access import opened_library
from dragoman._cli.terminal.visible import prose, visible
from dragoman._model.errors import UsageError
from dragoman._reports.handover import handover


def handed_over(id: str, prompt: str, tokens: int, *, asks: bool) -> str:
    """The prompt with what was done in a session of the library before it. It is shown on stderr first; `asks`: and a person
    at a terminal may say no. Raises SessionNotFound."""
    with opened_library(None) as library:
        session = library.session(id)
        told = handover(library.events(session), tokens)
    click.echo(prose(told.text), err=True)
    left = f"; left out: {', '.join(told.left_out)}" if told.left_out else ""
    telling.tell(
        f"about {plural(told.tokens, 'token')} of {visible(session.id[:8])}, a session of {session.agent}{left}"
    )
    if asks and sys.stdin.isatty() and not click.confirm("Send this?", default=True, err=True):
        raise UsageError("nothing was sent; --from-tokens says how much may be told")
    return f"{told.text}\n\n## What is wanted now\n\n{prompt}"
