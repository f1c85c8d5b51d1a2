"""What a survey comes to: the version against those that were tested, and what is new."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from dragoman._drift.book import Finding, known, news
from dragoman._drift.survey import UNKNOWN, Survey
from dragoman._model.versions import Standing, standing


class Trial(Struct, omit_defaults=True):
    """A step of a script that an agent was run with, and what came of it."""

    step: str
    needs: str
    """The capability that it is there for."""
    error: str | None = None
    """Why it failed."""


class Report(Struct, omit_defaults=True, kw_only=True):
    """Of one file, or of all that an agent was seen to write."""

    source: str = ""
    """The file; "" for an agent that was run."""
    agent: str = ""
    dialect: str = ""
    cli_version: str | None = None
    standing: Standing | None = None
    """Where the version stands among the tested ones; None if it is not known, or none was tested."""
    tested_versions: tuple[str, ...] = ()
    frames: int = 0
    """How many lines were looked at."""
    unknown: dict[str, int] = {}
    """Messages that are not understood, by type, with how many there were; also those that tested versions send."""
    new: list[Finding] = []
    trials: list[Trial] = []
    """What was tried, if it was run."""
    error: str | None = None
    """Why there is nothing to tell: it cannot be read, or is not here."""
    status: int = 0
    """What the command exits with then."""


def report(survey: Survey, source: str, tested: Iterable[str]) -> Report:
    """What is new in a run, and how its version stands among the `tested` ones of its agent."""
    tested = tuple(tested)
    version = survey.versions[0] if survey.versions else None
    return Report(
        source=source,
        agent=survey.agent,
        dialect=survey.dialect,
        cli_version=version,
        standing=standing(version, tested) if version is not None else None,
        tested_versions=tested,
        frames=survey.frames,
        unknown={spot.name: sight.count for spot, sight in survey.sights.items() if spot.path == UNKNOWN},
        new=news(survey, known(survey.dialect)),
    )


def together(reports: Sequence[Report], agent: str, tested: Iterable[str]) -> Report:
    """The reports of several runs of one agent as one: what is new once, with how often it was seen in all."""
    found: dict[tuple[str, ...], Finding] = {}
    unknown: dict[str, int] = {}
    for item in reports:
        for kind, count in item.unknown.items():
            unknown[kind] = unknown.get(kind, 0) + count
        for new in item.new:
            key = (new.what, new.message, new.field, new.kind)
            first = found.get(key) or structs.replace(new, source=item.source, count=0)
            found[key] = structs.replace(first, count=first.count + new.count)
    last = next((item for item in reversed(reports) if item.cli_version is not None), Report())
    return Report(
        agent=agent,
        cli_version=last.cli_version,
        standing=last.standing,
        tested_versions=tuple(tested),
        frames=sum(item.frames for item in reports),
        unknown=unknown,
        new=list(found.values()),
    )
