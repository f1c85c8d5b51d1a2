"""What waits for an answer: as a page shows it, and what of it becomes an answer."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import structs

from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.errors import UsageError
from dragoman._model.events import PermissionRequested, QuestionAsked
from dragoman._policy import policy, rulebook
from dragoman._policy.choices import EDIT, chosen, menu
from dragoman._policy.choices import Choice as Answerable
from dragoman._policy.permission import PermissionRequest
from dragoman._reports.diffs import diff_of_edit, diff_rows
from dragoman._server.answers import Ask, Choice, Option, PermissionAsk, Proposed, Question, QuestionAsk
from dragoman._server.live import AskEvent, LiveRun
from dragoman._server.page_events import whole_event
from dragoman._wire import fields


def asks(run: LiveRun) -> list[Ask]:
    """All that waits in a run."""
    return [_ask(run, event) for event in run.asks]


def _ask(run: LiveRun, event: AskEvent) -> Ask:
    found = _permission(run, event) if isinstance(event, PermissionRequested) else _question(run, event)
    return structs.replace(found, mark=sha256(msgspec.json.encode(found)).hexdigest())


def answer(
    run: LiveRun,
    request: str,
    *,
    mark: str | None = None,
    choice: str | None = None,
    message: str = "",
    input: dict[str, Any] | None = None,
    answers: dict[str, Any] | None = None,
    declined: bool = False,
) -> Answer | AnswerQuestion | None:
    """What is sent for what a person answered; None if it is not asked any more. Raises UsageError for what is no answer
    to it, or was one to something else."""
    event = next((event for event in run.asks if event.request_id == request), None)
    if event is None:
        return None
    if mark is not None and mark != _ask(run, event).mark:
        raise UsageError("what is asked has changed since it was shown; look at it again, then answer")
    if isinstance(event, QuestionAsked):
        if not declined and answers is None:
            raise UsageError("a question is answered with `answers` or `declined`; send one of them")
        return AnswerQuestion(
            request=request,
            asked=event.seq,
            session=event.session,
            action="declined" if declined else "accepted",
            answers=answers or {},
        )
    choices = _choices(run, event)
    given = chosen(choices, choice or "", reason=message.strip(), input=input)
    if given is None:
        raise UsageError(
            f"{choice!r:.40}, with what was sent beside it, is no answer to this; choose one of {', '.join(choices)}:"
            f" a `message` goes with a no, an `input` with {EDIT}"
        )
    return structs.replace(given, session=event.session, asked=event.seq)


def _choices(run: LiveRun, event: PermissionRequested) -> Mapping[str, Answerable]:
    request = run.permission(event)
    return menu(request, run.capabilities, policy.lasting(request), str(rulebook.user_file()))


def _permission(run: LiveRun, event: PermissionRequested) -> PermissionAsk:
    request = run.permission(event)
    return PermissionAsk(
        run=run.id,
        request=event.request_id,
        session=run.session,
        at=_at(event),
        agent=run.agent,
        event=whole_event(event),
        choices=[
            Choice(
                key=key,
                label=choice.label,
                said=choice.said,
                allows=choice.allows,
                lasts=choice.lasts,
                edits=key == EDIT,
                reasons=not choice.allows and not event.options,  # an option is chosen without a word
            )
            for key, choice in _choices(run, event).items()
        ],
        covers=policy.lasting(request),
        rule_file=str(rulebook.user_file()),
        line=request.command,
        commands=request.commands,
        paths=request.paths,
        hosts=request.hosts,
        cwd=request.runs_in,
        proposed=_proposed(run, request),
        unasked=event.unasked,
    )


def _proposed(run: LiveRun, request: PermissionRequest) -> list[Proposed]:
    """The changes that the agent has proposed for the call, else what its input says."""
    event, ledger = request.event, run.ledger
    changes = ledger.asked_changes(event) if ledger is not None else ()
    if changes:
        return [Proposed(each.path, each.change, diff_rows(each.diff or "")) for each in changes]
    diff = diff_of_edit(request.input)
    if diff is None:
        return []
    change = "modified" if "old_string" in request.input else "written"
    return [Proposed(next(iter(request.written_paths), ""), change, diff_rows(diff))]


def _question(run: LiveRun, event: QuestionAsked) -> QuestionAsk:
    return QuestionAsk(
        run=run.id,
        request=event.request_id,
        session=run.session,
        at=_at(event),
        agent=run.agent,
        event=whole_event(event),
        questions=[_asked(item) for item in event.questions],
        schema=event.schema,
        url=event.url,
        mode="url" if event.mode == "url" else "form",
    )


def _asked(native: Any) -> Question:
    """A question in its agent's own words."""
    options = fields.items(native, "options")
    return Question(
        id=fields.text(native, "id"),
        question=fields.text(native, "question", "message") or (native if isinstance(native, str) else ""),
        header=fields.text(native, "header"),
        options=[
            Option(
                label=each if isinstance(each, str) else fields.text(each, "label", "name", "value") or "",
                description=fields.text(each, "description"),
            )
            for each in options
        ],
        multi=fields.flag(native, "multiSelect", "multi"),
    )


def _at(event: AskEvent) -> float | None:
    return event.time.timestamp() if event.time is not None else None
