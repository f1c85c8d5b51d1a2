"""Runs that other programs drive: found by their beacons, watched by following their recordings, told something at their
owners' desks."""

from time import monotonic
from typing import TYPE_CHECKING, Final

import anyio
import msgspec
from anyio import to_thread

from dragoman._files.following import Follower
from dragoman._model.errors import DragomanError, UsageError
from dragoman._model.events import PermissionRequested
from dragoman._runtime.beacons import Beacon, beacons
from dragoman._runtime.desk_client import DeskClient
from dragoman._runtime.desk_lines import Asked
from dragoman._runtime.log import log
from dragoman._server.live import capabilities_of

if TYPE_CHECKING:
    from dragoman._server.hub import Hub

LOOK: Final = 0.5
"""Seconds between two looks for beacons."""
READ: Final = 0.05
"""Seconds between two looks at what was recorded."""


async def watch(hub: "Hub") -> None:
    """Have a hub know of all runs that are shared on this machine, until it is cancelled."""
    watched: dict[str, _Watched] = {}
    lit: dict[str, Beacon] = {}
    looked = -LOOK
    async with anyio.create_task_group() as tasks:
        while True:
            if monotonic() - looked >= LOOK:
                looked, lit = monotonic(), await to_thread.run_sync(_lit)
                for run, beacon in lit.items():
                    if run not in hub.runs:
                        watched[run] = _Watched(hub, beacon)
                        tasks.start_soon(watched[run].keep_in_touch)
            for run, one in list(watched.items()):
                if one.is_over(is_alive=run in lit):
                    del watched[run]
                    one.leave()
                    tasks.start_soon(hub.over, one.run)
            hub.looked.ring()
            await anyio.sleep(READ)


def _lit() -> dict[str, Beacon]:
    try:
        return {beacon.run: beacon for beacon in beacons()}
    except UsageError as error:
        log.debug("runs of others are not found: %s", error)
        return {}


class _Watched:
    """A run of another program's, and the way to it: its owner."""

    def __init__(self, hub: "Hub", beacon: Beacon) -> None:
        self._beacon = beacon
        self._follower = Follower(beacon.recording)
        self._desk: DeskClient | None = None
        self._touch = anyio.CancelScope()
        self.run = hub.made(
            beacon.agent,
            id=beacon.run,
            hosted=False,
            pid=beacon.pid,
            cwd=beacon.cwd,
            recording=beacon.recording,
        )
        hub.add(self.run)

    def is_over(self, *, is_alive: bool) -> bool:
        """Take in what has been recorded since, to its end if nobody is there to go on; whether that was all of it."""
        try:
            self._read(is_alive=is_alive)
        except Exception:  # the others are watched all the same
            log.exception("run %s cannot be watched any longer", self.run.id)
            return True
        return self.run.ended is not None or (not is_alive and not self._follower.more)

    def _read(self, *, is_alive: bool) -> None:
        run, follower = self.run, self._follower
        events = follower.read() if is_alive or follower.more else follower.end()
        if run.ledger is None and follower.machine is not None:
            run.ledger = follower.machine.ledger
            run.capabilities = capabilities_of(run.agent, follower.machine.capabilities)
        run.take(events)

    def leave(self) -> None:
        self._follower.close()
        self._touch.cancel()

    # --- its owner ----------------------------------------------------------------------------------------

    async def keep_in_touch(self) -> None:
        """Hear what only its owner tells, for as long as it is there."""
        run = self.run
        with self._touch:
            try:
                async with DeskClient(self._beacon.socket) as self._desk:
                    run.owner = self
                    run.touch()
                    async for said in self._desk:
                        if said.policy is not None:
                            run.approve = said.policy
                        if said.settled is not None:
                            run.aside.pop(said.settled, None)
                        if said.asked:
                            event = msgspec.json.decode(said.asked, type=PermissionRequested)
                            run.aside[event.request_id] = event
                        run.touch()
            except (OSError, DragomanError, msgspec.MsgspecError) as error:
                log.debug("run %s takes no commands: %s", run.id, error)
        run.owner = None
        run.aside.clear()
        run.touch()

    async def send(self, command: Asked, who: str) -> None:
        assert self._desk is not None
        await self._desk.send(command, who)
