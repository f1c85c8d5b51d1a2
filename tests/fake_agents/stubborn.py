"""Says hello, then ignores everything: its stdin and every signal that can be ignored."""

import signal

for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(ignored, signal.SIG_IGN)
print('{"type":"hello","session":"s-1"}', flush=True)
while True:
    signal.pause()
