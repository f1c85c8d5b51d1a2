"""Measurements taken in turns, so that what else the machine does meets all of them alike; the best round counts."""

import gc
import time
from collections.abc import Callable
from functools import partial

BUDGET = 4.0
"""Seconds by the clock for one comparison."""
FEWEST = 7

Work = Callable[[], object]
Measure = Callable[[], float]


def in_turns(*measures: Measure, rounds: int = FEWEST, budget: float = BUDGET) -> list[float]:
    """The least that each of them found, in so many rounds or more, as the budget has it."""
    gc.collect()
    gc.freeze()  # what the peers keep for good is no rubbish of ours to go through
    best = [float("inf")] * len(measures)
    begun, done = time.perf_counter(), 0
    while done < rounds or time.perf_counter() - begun < budget:
        for n, measure in enumerate(measures):
            gc.collect()
            best[n] = min(best[n], measure())
        done += 1
    gc.unfreeze()
    return best


def side_by_side(*prepared: Callable[[], Work], budget: float = BUDGET) -> list[float]:
    """The least seconds of processor time that each of them took. What is to be done is made anew for each round, off
    the clock."""
    return in_turns(*(partial(_processor_time, prepare) for prepare in prepared), budget=budget)


def _processor_time(prepare: Callable[[], Work]) -> float:
    work = prepare()
    start = time.process_time()
    work()
    return time.process_time() - start
