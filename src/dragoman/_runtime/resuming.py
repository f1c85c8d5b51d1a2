"""The session that a run goes on with: found before it begins, and watched for when it does."""

import re
from collections.abc import Awaitable, Callable, Sequence

import anyio

from dragoman._model.errors import Unsupported
from dragoman._model.events import AnyEvent, Error
from dragoman._model.frames import StopReason
from dragoman._model.sessions import LATEST, SessionInfo, chosen
from dragoman._runtime.streams import EventStream

Candidates = Callable[[str, str], Awaitable[Sequence[SessionInfo]]]
"""The sessions that may be meant by a name that is not a whole id, in a folder. Raises Unsupported if they cannot be listed."""


class SessionFinder:
    """Finds which session of an agent is meant: `whole` is what its ids look like, as a regular expression."""

    def __init__(self, agent: str, whole: str, candidates: Candidates) -> None:
        self._agent = agent
        self._whole = re.compile(whole)
        self._candidates = candidates

    async def find(self, wanted: str, cwd: str, candidates: Candidates | None = None) -> str:
        """The id of the session that is called `wanted`: that of a folder that changed last (LATEST), or an id, the
        beginning of one, or a title. Raises SessionNotFound, and Unsupported for LATEST of an agent that does not list
        its sessions; any other name is taken for a whole id there."""
        if self._whole.fullmatch(wanted):
            return wanted
        try:
            sessions = await (candidates or self._candidates)(wanted, cwd)
        except Unsupported:
            if wanted == LATEST:
                raise
            return wanted
        return chosen(self._agent, wanted, sessions, cwd)


class ResumeWatch(EventStream):
    """Listens to a run for the error that its session is not the one that was asked for (`sessionNotFound`), and stops it
    then: it would work for nobody."""

    def __init__(self) -> None:
        super().__init__()
        self._why = ""
        self._astray = anyio.Event()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if type(event) is Error and event.kind == "sessionNotFound" and not self._why:
                self._why = event.message
                self._astray.set()

    async def watch(self, stop: Callable[[StopReason, str], Awaitable[None]]) -> None:
        await self._astray.wait()
        await stop("cancelled", self._why)
