"""RESULTS.md: the table, and on what it was measured."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent
OURS = ("msgspec", "anyio")


def write(table: str) -> None:
    (FOLDER / "RESULTS.md").write_text(f"{_HEAD}\n{_machine()}\n\n## What\n\n{table}\n")


_HEAD = """# Measured

Written by `make bench`. Both sides of a row run in turns in one process of one interpreter; the best round counts. Rows
of many agents and many sessions run once, one side after the other.
`ratio` is the peer's cost over ours: above 1 we are faster. Absolute times say nothing on another machine.

- Lines: processor time. Both sides get the same ones, but for the few that the peer cannot read. The floor is a plain
  dict by msgspec, and for a child's stdout nothing but `read` and `split`.
- agent-client-protocol has no reader apart from its connection: what is measured is all that it does for a line.
- The library's sync: whole commands, one side after the other, once; memory is that of all their processes together.
- Permissions and what 200 agents say: by the clock, from the agent's own to whoever reads or answers.
- The page: in Chromium, on a server of its own, once; the server's time is that of its process and of those by which it
  reads for the library.

## On what
"""


def _machine() -> str:
    peers = [line.partition("==")[0] for line in (FOLDER / "peers.txt").read_text().split() if "==" in line]
    packages = ", ".join(f"{name} {version(name)}" for name in (*peers, *OURS))
    return "\n".join(
        (
            f"- {os.cpu_count()} cores, {_processor()}, {platform.system()}; load {os.getloadavg()[1]:.1f} in the last five minutes",
            f"- Python {platform.python_version()}, {packages}",
            f"- {datetime.now(UTC):%Y-%m-%d}",
        )
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
