"""A PostgreSQL server of our own: Debian's binaries, a folder of its own, a Unix socket and no port."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg

ELSEWHERE: Final = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs of each version."""
PATIENCE: Final = 60.0


def programs() -> Path | None:
    """The folder of the newest server's programs; None if there is none on this machine."""
    found = [path for path in ELSEWHERE.glob("*/bin") if (path / "initdb").exists()]
    return max(found, key=lambda path: float(path.parent.name), default=None)


class Server:
    """A server that is up."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self.address = f"postgresql:///postgres?host={folder}&user=library"

    def fresh(self) -> str:
        """The address of a library that has no tables yet: each has a schema of its own."""
        name = f"library_{next(self._numbers)}"
        with psycopg.connect(self.address, autocommit=True) as db:
            db.execute(f"CREATE SCHEMA {name}")  # type: ignore[call-overload]
        return f"{self.address}&options=-csearch_path%3D{name}"


@contextmanager
def running() -> Iterator[Server]:
    """A server, for as long as it is needed. The programs refuse root, so that root runs them as `nobody`."""
    found = programs()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    options = _as_nobody(folder) if os.geteuid() == 0 else {}
    try:
        subprocess.run(
            [found / "initdb", "--pgdata", folder / "data", "--username=library", "--auth=trust", "--no-sync",
             "--encoding=UTF8", "--locale=C"],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, **options,
        )  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [found / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses=",
                 "-c", "fsync=off", "-c", "full_page_writes=off"],
                stdout=log, stderr=log, cwd=folder, start_new_session=True, **options,
            )  # fmt: skip
        try:
            it = Server(folder)
            _await(it, server, folder / "log")
            yield it
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing in it is kept
            server.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)


def _as_nobody(folder: Path) -> dict[str, Any]:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _await(it: Server, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < until:
        try:
            psycopg.connect(it.address).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")
