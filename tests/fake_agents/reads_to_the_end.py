"""Works only once its stdin is closed, as one-shot agents do, then exits."""

import sys

sys.stdin.read()
print('{"type":"text","text":"it was closed"}')
print('{"type":"done"}')
