"""A report of drift, for people."""

from collections.abc import Iterator
from typing import Final

from dragoman._cli.terminal.formatting import plural
from dragoman._drift.book import Finding
from dragoman._drift.report import Report
from dragoman._model.versions import IN_WORDS

_TITLES: Final = {
    "message": "message of an unknown type",
    "field": "field that no type names",
    "type": "field of another type",
    "request": "request that was not answered",
}


def lines(report: Report) -> Iterator[str]:
    """What a report says, line by line."""
    if report.error is not None:
        # What is wrong with a file is said with its name already.
        yield report.error if report.source else f"{report.agent}: {report.error}"
        return
    yield f"{report.source + ': ' if report.source else ''}{heading(report)}"
    for finding in report.new:
        yield f"  {_TITLES[finding.what]}: {_what(finding)}, {_often(finding)}"
    for kind, count in report.unknown.items():
        if not any(finding.what == "message" and finding.message == kind for finding in report.new):
            yield f"  not understood, as in tested versions: {kind or '(no type)'}, {plural(count, 'time')}"
    if not report.frames:
        yield "  none of the agent's own lines is in it, so there is nothing to say of their fields"
    elif not report.new:
        yield f"  nothing new in {plural(report.frames, 'line')}"
    for trial in report.trials:
        yield f"  {trial.step}: {'works' if trial.error is None else f'failed: {trial.error}'}"


def heading(report: Report) -> str:
    """Who spoke, in which version, and how that stands among the tested ones."""
    who = " ".join(part for part in (report.agent, report.cli_version) if part) or report.dialect
    tested = ", ".join(report.tested_versions)
    if report.cli_version is None:
        return f"{who}, of which it does not say the version" + (f" (tested: {tested})" if tested else "")
    if report.standing is None:
        return f"{who}, of which no version was tested"
    return f"{who}, {IN_WORDS[report.standing]}" + ("" if report.standing == "tested" else f" ({tested})")


def _what(finding: Finding) -> str:
    name = finding.message or "(no type)"
    if finding.what == "field":
        return f"{name}: {finding.field} ({finding.kind})"
    if finding.what == "type":
        return f"{name}: {finding.field} is {finding.kind}, not {' or '.join(finding.expected)}"
    return name


def _often(finding: Finding) -> str:
    times = plural(finding.count, "time")
    where = f" of {finding.source}" if finding.source else ""
    return f"{times}, first in frame {finding.frame}{where}" if finding.frame else times
