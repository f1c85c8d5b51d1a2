"""`dragoman usage`: what model calls came to, in tokens and dollars."""

import csv
import sys
from pathlib import Path
from typing import Any, Final, get_args

import click
import msgspec

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.amounts import cost_of, counted, share
from dragoman._cli.terminal.columns import Column, table
from dragoman._cli.terminal.formatting import plural, short_path
from dragoman._cli.terminal.library_access import library_option, opened_library
from dragoman._cli.terminal.session_filters import session_filters
from dragoman._exports.bars import bars_svg
from dragoman._library.sessions import SHORT, Filter
from dragoman._library.usage import By, Sums, UsageReport, UsageRow, usage
from dragoman._settings import own_prices

BARS: Final = 16
"""Columns of the longest bar."""


@click.command
@click.option(
    "--by", type=click.Choice(get_args(By)), default="day", show_default=True, help="What a row is."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Rows of comma-separated values.")
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Write the rows as a plot.")
@session_filters
@library_option
def command(
    by: By, as_json: bool, as_csv: bool, svg: str | None, wanted: Filter, library: str | None
) -> None:
    """Count what the sessions of the library took: every call of a model once, whoever wrote it down how often.

    COST is what the agents themselves say; ~ marks what is estimated by a table of prices, ≥ that some calls have no
    known price.
    """
    own = own_prices.load()
    if own.wrong is not None:
        telling.tell(own.wrong)
    with opened_library(library) as kept:
        report = usage(kept.db, wanted, by, own.prices)
    if svg is not None:
        Path(svg).write_text(
            bars_svg([(_name(by, row), row.input_tokens + row.output_tokens) for row in report.rows])
        )
    if as_json:
        click.echo(msgspec.json.encode(report))
    elif as_csv:
        _write_csv(report)
    elif svg is None:
        _show(report, by)


def _write_csv(report: UsageReport) -> None:
    out = csv.writer(sys.stdout)
    names = ("key", *Sums.__struct_fields__)
    out.writerow(names)
    out.writerows([[getattr(row, name) for name in names] for row in report.rows])


def _show(report: UsageReport, by: By) -> None:
    from dragoman._cli.terminal.console import Pen, console

    pen = Pen(console())
    if not report.rows:
        pen.line("no calls of a model are known")
        return
    most = max(row.input_tokens + row.output_tokens for row in report.rows) or 1
    totals = report.totals
    shown: list[tuple[Any, ...]] = [(_name(by, row), *_cells(row), _bar(row, most)) for row in report.rows]
    table(pen, _columns(by), [*shown, ("total", *_cells(totals), "")])
    told = [plural(totals.calls, "call")]
    if totals.unpriced_calls:
        names = ", ".join(
            f"{model.model or 'no model named'} ({model.calls})" for model in report.unpriced[:5]
        )
        told.append(f"unpriced: {names}")
    if report.prices_of is not None and totals.cost_estimated_usd is not None:
        told.append(f"~ by the prices of {report.prices_of}")
    pen.line((" · ".join(told), "dim"))
    if report.incomplete:
        pen.line(("at least: agents do not write everything down; --json says what", "dim"))


def _columns(by: By) -> list[Column]:
    return [
        Column(by.upper()),
        Column("SESSIONS", goes=2, right=True),
        Column("INPUT", right=True),
        Column("CACHED", goes=3, right=True),
        Column("OUTPUT", right=True),
        Column("COST", right=True),
        Column("", goes=1),
    ]


def _cells(sums: Sums) -> tuple[str, ...]:
    return (
        f"{sums.sessions:,}",
        counted(sums.input_tokens),
        share(sums.cache_read_tokens, sums.input_tokens),
        counted(sums.output_tokens),
        cost_of(sums.cost_usd, sums.cost_estimated_usd, sums.unpriced_calls, sums.calls),
    )


def _bar(row: UsageRow, most: int) -> str:
    part = (row.input_tokens + row.output_tokens) / most * BARS
    return "█" * int(part) + ("▌" if part % 1 >= 0.5 else "" if part >= 1 else "▏")


def _name(by: By, row: UsageRow) -> str:
    if by == "session":
        return row.key[:SHORT]
    return short_path(row.key) if by == "project" else row.key
