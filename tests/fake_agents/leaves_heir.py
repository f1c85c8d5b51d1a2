"""Exits at once, but leaves a child behind that holds its pipes open until it is told to go.

Argument: a path on which the child waits (a fifo)."""

import json
import subprocess
import sys

WAITS = "import sys; print('heir', flush=True); open(sys.argv[1]).read()"

child = subprocess.Popen([sys.executable, "-I", "-c", WAITS, sys.argv[1]], start_new_session=True)
print(json.dumps({"type": "text", "text": str(child.pid)}), flush=True)
