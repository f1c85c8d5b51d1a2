"""Processes that own a beacon, for test_beacons.

hold     one that has it lit, says its run, and keeps it until its stdin ends
begin    one that has made it and says nothing in it yet
fork     one that has it and a child that lives on without it: that says its process id, once it has let go of it
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
    if what != "fork":
        print(beacon.run, flush=True)
    elif os.fork() == 0:
        print(os.getpid(), flush=True)
    sys.stdin.read()
    beacon.leave()


if __name__ == "__main__":
    main(sys.argv[1])
