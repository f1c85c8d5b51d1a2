"""Asks twice in one write for what its client owes at once, then says so and exits."""

import sys

sys.stdout.write('{"type":"ping"}\n{"type":"ping"}\n')
sys.stdout.flush()
assert sys.stdin.readline() == '{"type":"pong"}\n'
assert sys.stdin.readline() == '{"type":"pong"}\n'
print('{"type":"text","text":"got both"}', flush=True)
