"""`dragoman web` as a process, in a home of its own; and a wire to it that can be cut."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import Any

from dragoman.server import Client

PATIENCE = 60.0
"""Seconds after which a test has failed; no test waits for them."""


class Served:
    """A server at work. `url` is where it is, without what lets anybody in."""

    def __init__(self, home: Path, env: dict[str, str], *options: str) -> None:
        self.home = home
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(home / "run"),
            **env,
        }
        (home / "run").mkdir(mode=0o700, exist_ok=True)
        command = [sys.executable, "-m", "dragoman", "web", "--port", "0", "--no-open", *options]
        self.process = subprocess.Popen(
            command, env=self.env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.first_link = self.process.stdout.readline().strip()
        assert self.first_link.startswith("http://127.0.0.1:"), self.first_link
        self.url = self.first_link.partition("/#")[0]
        self.port = int(self.url.rpartition(":")[2])
        self.client = Client(self.first_link)

    def link(self, *, read_only: bool = False, port: int | None = None) -> str:
        """One more link; through another port where one leads here."""
        made: str = self.client.post("links", read_only=read_only)["url"]
        return made.replace(f":{self.port}/", f":{port}/") if port is not None else made

    def read(self) -> None:
        """Until all that is in its home is in its library."""
        for name, _ in self.client.feed():
            found = self.client.get("sessions") if name == "board" else None
            if found is not None and found["total"] and not found.get("unread"):
                return

    def session(self, folder: str) -> dict[str, Any]:
        """The newest session that worked in just this folder."""
        rows: list[dict[str, Any]] = self.client.get("sessions", folder=folder)["sessions"]
        return next(row for row in rows if row["cwd"] == folder)

    def running(self) -> list[dict[str, Any]]:
        """What is live, row by row."""
        board = next(data for name, data in self.client.feed() if name == "board")
        return [row for row in board["rows"] if row["live"]["state"] != "ended"]

    def stop(self) -> int:
        """End it as Ctrl-C does; its exit status."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def served(home: Path, env: dict[str, str] | None = None, *options: str) -> Iterator[Served]:
    server = Served(home, env or {}, *options)
    try:
        yield server
    finally:
        with server.process:  # its pipe is closed too
            if server.process.poll() is None:
                server.stop()


class Wire:
    """A port that leads to another one, once it is said to which. `cut` ends all connections there are."""

    def __init__(self) -> None:
        self.to: int | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._left = 0
        """Pieces from the server until it is cut; 0: it is not to be."""
        self._halved: Queue[bool] = Queue()
        self._serving: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def cut(self) -> None:
        with self._lock:
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def cut_in_a_word(self, pieces: int = 4) -> None:
        """Cut it in the middle of the last of so many pieces that come from the server now; comes back when it is."""
        with self._lock:
            self._left = pieces
        self._halved.get(timeout=PATIENCE)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self.cut()
        for one in self._serving:
            one.join()

    def _accept(self) -> None:
        with self._listener, suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                one = threading.Thread(target=self._serve, args=(near,), daemon=True)
                self._serving.append(one)
                one.start()

    def _serve(self, near: socket.socket) -> None:
        """One connection, both ways, to its end."""
        with near, suppress(OSError), socket.create_connection(("127.0.0.1", self.to or 0)) as far:
            with self._lock:
                self._open |= {near, far}
            back = threading.Thread(target=self._carry, args=(far, near, True), daemon=True)
            back.start()
            self._carry(near, far, False)
            back.join()
            with self._lock:
                self._open -= {near, far}

    def _is_last(self) -> bool:
        with self._lock:
            left, self._left = self._left, max(0, self._left - 1)
        return left == 1

    def _carry(self, source: socket.socket, target: socket.socket, from_server: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                if from_server and self._is_last():
                    target.sendall(piece[: len(piece) // 2])
                    self.cut()
                    self._halved.put(True)
                    break
                target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
