"""Play a script until interrupted: `python -m dragoman.testing --script s.json --port 0`."""

import argparse
import signal

from ._scripted_model.script import load
from ._scripted_model.server import ScriptedModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dragoman.testing", description=__doc__)
    parser.add_argument(
        "--script", required=True, help="JSON file: {turns, routes, compact, side, repeat_last}"
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    arguments = parser.parse_args()
    stopping = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    with ScriptedModel(load(arguments.script), port=arguments.port) as model:
        print(model.url, flush=True)
        signal.sigwait(stopping)


main()
