"""An agent that starts a program, says that it is there once that says so, and then works on without listening.

Arguments: the program."""

import json
import signal
import subprocess
import sys

program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
assert program.stdout is not None
print(json.dumps({"type": "text", "text": program.stdout.readline().decode().strip()}), flush=True)
signal.pause()
