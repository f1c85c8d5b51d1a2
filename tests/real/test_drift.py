"""`dragoman drift --live`, on the pinned agents: every step works, and nothing is new."""

import json
import os
import subprocess
import sys

from dragoman._files.convert import convert
from dragoman.testing._live_script import KINDS, STEPS
from tests.real.capability_marks import by
from tests.real.driving import Pinned, check


@by(*KINDS)
def test_nothing_is_new_in_a_pinned_version(agent: Pinned) -> None:
    kept = agent.cwd / "kept"
    place = ["--executable", str(agent.executable), "--keep", str(kept)]
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "drift", "--live", agent.name, "--json", *place],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(agent.home), "LANG": "C.UTF-8"},
        cwd=agent.cwd,
    )
    told = json.loads(done.stdout)
    failed = ["resume"] if agent.differs("sessions_come_back_empty_over_acp") else []
    assert [trial["step"] for trial in told["trials"] if "error" in trial] == failed, told["trials"]
    assert told.get("new", []) == []
    assert done.returncode == bool(failed)
    slow = f"dragoman: {agent.name} does not answer; it is given up after 60 s"  # on a busy machine
    assert set(done.stderr.decode().splitlines()) <= {slow}
    assert told["cli_version"] == agent.version
    assert told["standing"] == "tested"
    steps = {trial["step"] for trial in told["trials"]}
    assert {"text", "tool-allowed", "tool-denied", "two-turns", "interrupt", "resume"} <= steps <= set(STEPS)
    assert sorted(path.name for path in agent.home.iterdir()) == []  # nothing of the user's was touched
    for path in kept.rglob("*.jsonl"):
        check(list(convert(path)), path)
