"""The time of computations, for demonstrations of speed: in turn and in one process.

Only ratios of such times say something of the computations; seconds alone are the machine's.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@dataclass(frozen=True)
class Timer:
    """Takes the time of functions.

    Attributes:
        rounds: How often each function is timed, after one call that is not.
        clock: The time now, in seconds.
    """

    rounds: int = 3
    clock: Callable[[], float] = time.perf_counter

    def seconds(self, functions: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
        """The seconds of each function by round; in a round each runs once, so that all meet the same machine."""
        for function in functions.values():
            function()
        found: dict[str, list[float]] = {name: [] for name in functions}
        for _ in range(self.rounds):
            for name, function in functions.items():
                began = self.clock()
                function()
                found[name].append(self.clock() - began)
        return found


def ratio(seconds: Mapping[str, list[float]], of: str, to: str) -> float:
    """How many times as long one function takes as another: the median of the rounds."""
    return statistics.median(one / other for one, other in zip(seconds[of], seconds[to], strict=True))
