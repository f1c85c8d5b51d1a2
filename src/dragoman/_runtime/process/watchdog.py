"""The watchdog: a small process beside each agent that outlives us if we are killed, and then ends the agent with
all it started. SIGKILL leaves nobody else to do it; on Linux only, elsewhere there is none."""

import os
import subprocess
import sys
from contextlib import suppress

from dragoman._runtime.process import descendants
from dragoman._runtime.process.descendants import Descendants


class Watchdog:
    """Started before the agent, so that there is no moment without it. Sent away with `dismiss`."""

    def __init__(self, mark: str) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._written: list[descendants.Member] = []
        if descendants.SYSTEM_HAS_PROC and mark and not getattr(sys, "frozen", False):
            with suppress(OSError):  # a run without a watchdog is better than none
                self._popen = _start(mark)

    def tell(self, members: Descendants) -> None:
        """Whom to end: for those who do not carry the mark."""
        everyone = [members.root, *members.known]
        pipe = self._popen.stdin if self._popen is not None else None
        if pipe is not None and everyone != self._written:
            self._written = everyone
            with suppress(OSError):
                pipe.write(" ".join(f"{pid}:{start}" for pid, start in everyone).encode() + b"\n")

    def dismiss(self) -> None:
        """The agent is gone, and nobody has to be ended any more."""
        if self._popen is not None:
            self._popen.kill()
            self._popen.communicate()
            self._popen = None


def _start(mark: str) -> "subprocess.Popen[bytes]":
    """In a session of its own: what kills our group must not kill it too."""
    popen = subprocess.Popen(
        [sys.executable, "-I", "-S", descendants.__file__, mark, str(os.getpid())],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={name: value for name, value in os.environ.items() if name != descendants.MARK},
        start_new_session=True,
    )
    assert popen.stdin is not None
    os.set_blocking(popen.stdin.fileno(), False)
    return popen
