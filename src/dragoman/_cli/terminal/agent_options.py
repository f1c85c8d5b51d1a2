"""How the command line says which program an agent is, and what it sees."""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

EXTRA: Final = "extra_args"

F = TypeVar("F", bound=Callable[..., Any])


class WithExtraArgs(click.Command):
    """What follows `--` is for the agent, word by word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            border = args.index("--")
            args, ctx.meta[EXTRA] = args[:border], args[border + 1 :]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- AGENT ARGS...]"]


def pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if not value.partition("=")[0] or "=" not in value:
            raise click.BadParameter(f"{value!r} is not KEY=VALUE")
    return dict(value.split("=", 1) for value in values)


def value_of(text: str) -> Any:
    """A value as JSON, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def agent_options(command: F) -> F:
    """The options of commands that only ask an agent something; `chosen_options` reads them."""
    for option in (
        click.option(
            "--option",
            "native",
            multiple=True,
            callback=pairs,
            metavar="KEY=VALUE",
            help="An option only this agent has; VALUE is JSON or text. Repeatable.",
        ),
        click.option("--clean-env", is_flag=True, help="The agent sees what --env sets and nothing else."),
        click.option(
            "--env", multiple=True, callback=pairs, metavar="KEY=VALUE", help="Set for the agent. Repeatable."
        ),
        click.option("--executable", metavar="PATH", help="The program, if not the agent's own on PATH."),
    ):
        command = option(command)
    return command


def chosen_options(ctx: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """What `agent_options` took, as options of `dragoman.open`."""
    return {
        "executable": given["executable"],
        "env": given["env"],
        "inherit_env": False if given["clean_env"] else "known",
        "native": {key: value_of(text) for key, text in given["native"].items()},
        "extra_args": ctx.meta.get(EXTRA, []),
    }
