"""`dragoman rename`: a session with another title."""

from typing import Any

import click

from dragoman._cli.terminal.agent_options import WithExtraArgs, agent_options, chosen_options


@click.command(cls=WithExtraArgs)
@click.argument("agent")
@click.argument("session")
@click.argument("title")
@agent_options
@click.pass_context
def command(ctx: click.Context, /, agent: str, session: str, title: str, **given: Any) -> None:
    """Give SESSION of AGENT a TITLE. SESSION is its id, or the beginning of it."""
    from dragoman import blocking

    blocking.rename_session(agent, session, title, **chosen_options(ctx, given))
