"""Processes that own a beacon, for test_beacons.

hold     one that has it lit, says its run, and keeps it until its stdin ends
begin    one that has made it and says nothing in it yet
fork     one that has it and a child that lives on without it; says the child's process id
"""

import os
import sys
from pathlib import Path

from dragoman._runtime.beacons import OwnBeacon


def main(what: str) -> None:
    beacon = OwnBeacon()
    Path(beacon.socket).touch()
    if what != "begin":
        beacon.light(agent="toy", cwd="/here", recording="/here/run.jsonl")
    child = os.fork() if what == "fork" else None
    if child != 0:
        print(child or beacon.run, flush=True)
    sys.stdin.read()
    beacon.leave()


if __name__ == "__main__":
    main(sys.argv[1])
