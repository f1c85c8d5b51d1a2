"""`dragoman delete`: a session is gone."""

from typing import Any

import click

from dragoman._cli.terminal.agent_options import WithExtraArgs, agent_options, chosen_options
from dragoman._cli.terminal.visible import visible


@click.command(cls=WithExtraArgs)
@click.argument("agent")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@agent_options
@click.pass_context
def command(ctx: click.Context, /, agent: str, session: str, yes: bool, **given: Any) -> None:
    """Delete SESSION of AGENT for good. SESSION is its id, or the beginning of it."""
    from dragoman import blocking

    if not yes:
        click.confirm(f"Delete session {visible(session)} of {visible(agent)} for good?", abort=True)
    blocking.delete_session(agent, session, **chosen_options(ctx, given))
