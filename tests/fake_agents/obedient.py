"""An agent that speaks the toy dialect and does what a prompt says: one order per line.

say TEXT      answer with a text                   ask TOOL     ask for permission, then say what was decided
big N         answer with N characters             question     ask a question, then say what was answered
complain TEXT write to stderr                      call METHOD  call the host, then say what it answered
child         start a process in its own session   withdraw     ask and withdraw at once
wait          work until interrupted               take MODE    wait for that word on stdin before going on
exit CODE     exit at once                         garble       a line that is no JSON
tools N       call N tools                         spend N      use N tokens of a model whose price is known
end N         end the turn, and say that it used N tokens
spawn ID      a subagent sets to work              return ID STATUS    it is back
begin         begin a turn of its own              finish       end that
after ORDER   do so when the turn has ended
"""

import json
import subprocess
import sys
from typing import Any

SLEEPER = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
)


class Interrupted(Exception):
    """The turn is to be stopped."""


class Ended(Exception):
    """The turn is over, and so many tokens were used."""


def put(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def get() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    if message["type"] in ("set_mode", "interrupt"):
        put(type="ack", id=message["id"], command=message["type"])
    if message["type"] == "steer":
        put(type="text", text="steered: " + message["text"])
    if message["type"] == "interrupt":
        raise Interrupted
    return message


def get_until(kind: str) -> dict[str, Any]:
    while (message := get())["type"] != kind:
        pass
    return message


def start_child() -> int:
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    return child.pid


def obey(verb: str, rest: str) -> None:
    if verb == "say":
        put(type="text", text=rest)
    elif verb == "big":
        put(type="text", text="x" * int(rest))
    elif verb == "complain":
        print(rest, file=sys.stderr, flush=True)
    elif verb == "child":
        put(type="text", text=str(start_child()))
    elif verb == "ask":
        tool, _, given = rest.partition(" ")
        put(type="ask", id="r1", tool=tool, input=json.loads(given or "null"))
        put(type="text", text=json.dumps(get_until("answer")))
    elif verb == "question":
        put(type="question", id="q1", message=rest)
        put(type="text", text=json.dumps(get_until("answer_question")))
    elif verb == "call":
        put(type="call", id="h1", method=rest)
        put(type="text", text=json.dumps(get_until("reply")))
    elif verb == "withdraw":
        sys.stdout.write('{"type":"ask","id":"r2","tool":"Bash"}\n{"type":"withdraw","id":"r2"}\n')
        sys.stdout.flush()
    elif verb == "regret":
        put(type="ask", id="r3", tool=rest)
        get_until("steer")
        put(type="withdraw", id="r3")
    elif verb == "tools":
        for n in range(int(rest)):
            put(type="tool", id=f"t{n}", name="Bash")
    elif verb == "spend":
        put(type="usage", model="claude-opus-5", tokens=int(rest))
    elif verb == "spawn":
        put(type="subagent", id=rest)
    elif verb == "return":
        id, _, status = rest.partition(" ")
        put(type="returned", id=id, status=status)
    elif verb == "begin":
        put(type="begin")
    elif verb == "finish":
        put(type="done")
    elif verb == "end":
        raise Ended(int(rest))
    elif verb == "take":
        get_until(rest)
    elif verb == "wait":
        get_until("doomsday")
    elif verb == "garble":
        print("{not json", flush=True)
    elif verb == "exit":
        sys.exit(int(rest))


def main() -> None:
    put(type="hello", session="s-1")
    while True:
        try:
            later = []
            for order in get_until("prompt")["text"].splitlines():
                verb, _, rest = order.partition(" ")
                if verb == "after":
                    later.append(rest)
                else:
                    obey(verb, rest)
            put(type="done")
            for order in later:
                verb, _, rest = order.partition(" ")
                obey(verb, rest)
        except Interrupted:
            put(type="stopped")
        except Ended as end:
            put(type="done", tokens=end.args[0])


main()
