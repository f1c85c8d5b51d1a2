"""`dragoman web` as a process of its own, in a home where nothing else is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from tests.browser.serving import Served
from tests.browser.serving import served as serving

import dragoman

SOURCE = Path(dragoman.__file__).parents[1]


@contextmanager
def served(home: Path, *programs: Path) -> Iterator[Served]:
    """The server; `programs` are what it finds on PATH beside what the system has."""
    path = os.pathsep.join((*(str(program.parent) for program in programs), os.defpath))
    with serving(home, {"PATH": path, "PYTHONPATH": str(SOURCE)}) as server:
        yield server


def stored(server: Served) -> list[dict[str, Any]]:
    """The sessions of the library, once there are any."""
    for name, _ in server.client.feed():
        if name == "board" and (found := server.client.get("sessions")["sessions"]):
            return list(found)
    raise AssertionError


def processor_time(server: Served) -> float:
    """Seconds that it has used, with the processes by which it read for the library; not with those of its agents."""
    used = psutil.Process(server.process.pid).cpu_times()
    return used.user + used.system + used.children_user + used.children_system
