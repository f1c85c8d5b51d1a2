"""An agent that stops its turn when it is told to, and only then answers that it does: both in one write."""

import json
import sys

print('{"type":"hello","session":"s-1"}', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "prompt":
        print('{"type":"text","text":"working"}', flush=True)
    if message["type"] == "interrupt":
        answer = {"type": "ack", "id": message["id"], "command": "interrupt"}
        sys.stdout.write('{"type":"stopped"}\n' + json.dumps(answer) + "\n")
        sys.stdout.flush()
