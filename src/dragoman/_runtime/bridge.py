"""A program that an agent starts, and that only passes on: what the agent says to a socket of ours, and the answers back.

    python -I -S bridge.py SOCKET NAME          an MCP server: lines both ways, until one side closes
    python -I -S bridge.py SOCKET NAME STATUS   a hook: all of stdin there, one line back; without it, exit with STATUS

NAME is told first, in a line of its own. Nothing but the standard library is needed: it has to start quickly.
"""

import os
import socket
import sys
import threading

CHUNK = 65536


def _forward(connection: socket.socket) -> None:
    """stdin to the socket, to its end."""
    try:
        while chunk := os.read(0, CHUNK):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)
    except OSError:  # the other side is gone, and `_back` sees that too
        return


def _back(connection: socket.socket) -> None:
    """The socket to stdout, until it closes."""
    while chunk := connection.recv(CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(1, rest) :]


def _asked(connection: socket.socket) -> bytes:
    """The one line that answers all of stdin. Raises OSError if it is not whole."""
    _forward(connection)
    parts = []
    while chunk := connection.recv(CHUNK):
        parts.append(chunk)
    answer = b"".join(parts)
    if not answer.endswith(b"\n"):
        raise OSError("no answer came")
    return answer


def main(path: str, name: str, status: int | None) -> int:
    """The exit status."""
    try:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        connection.sendall(name.encode() + b"\n")
        if status is None:
            threading.Thread(target=_forward, args=(connection,), daemon=True).start()
            _back(connection)
        else:
            os.write(1, _asked(connection))
    except OSError as error:
        os.write(2, f"Dragoman cannot be asked: {error}\n".encode(errors="replace"))
        return status if status is not None else 1
    return 0


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None))
