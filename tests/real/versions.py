"""The tests of tests/real on one version of an agent after another: `python -m tests.real.versions`, with all pinned
versions of the agents that have several, or with those that are named (`claude=2.1.300 codex=0.150.0`)."""

import os
import subprocess
import sys
import time

from tests.real.pins import CHECKOUT, VERSIONS, spread


def main(words: list[str]) -> int:
    every = [
        f"{pin.agent}={pin.version}" for several in spread().values() if len(several) > 1 for pin in several
    ]
    outcomes = {word: _run(word) for word in words or every}
    print(*(f"{word:<20} {outcome}" for word, outcome in outcomes.items()), sep="\n")
    return any(not outcome.startswith("passed") for outcome in outcomes.values())


def _run(word: str) -> str:
    """`passed` or `failed`, and the seconds that it took."""
    print(f"--- {word}", flush=True)
    env, began = {**os.environ, VERSIONS: word}, time.monotonic()
    python = [sys.executable, "-m"]
    tests = ["pytest", "tests/real", "--override-ini", "addopts=-q --strict-markers --strict-config"]
    failed = any(
        subprocess.run([*python, *words], env=env, cwd=CHECKOUT).returncode
        for words in (["tests.real.install"], tests)
    )
    return f"{'failed' if failed else 'passed'} in {time.monotonic() - began:.0f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
