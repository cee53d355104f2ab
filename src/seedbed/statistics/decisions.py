"""Decisions: what an estimate says of a stated number, with at most 5 % of them wrong but for figures that hold.

A figure of a lecture is contradicted wrongly in at most 5 % of cases; that it holds says that it is compatible
with ours to within the margin, and nobody knows how often one that is somewhat off would be. A statement is
false or true, so that a decision can be wrong in one way only: each is made at the level at which chance alone
makes it in `ALPHA` of all cases. Where several things are stated together, the whole is reproduced when each of
them is, each at that level (an intersection-union test, Berger 1982), and contradicted when one of them is at
that level divided by their number: the first step of Holm's procedure, and the only one that can
change the outcome of the whole. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scipy.special import ndtri

from seedbed.statistics.estimates import Estimate, Predictor
from seedbed.statistics.intervals import Interval

#: The share of decisions that chance alone may get wrong.
ALPHA = 0.05
#: Up to this many seeds a verdict says how many it would need; one more stands for more.
MOST_SEEDS = 100

Outcome = Literal["reproduced", "contradicted", "differs", "undecided", "not run", "non-finite"]


@dataclass(frozen=True)
class Decision:
    """An outcome and the interval it was read from.

    Attributes:
        outcome: What the interval says.
        interval: The estimate with the interval that decided, or failed to.
        level: The level of that interval.
    """

    outcome: Outcome
    interval: Interval
    level: float


class Limits(NamedTuple):
    """Where a number must lie, both ends included."""

    low: float
    high: float

    @property
    def two_ended(self) -> bool:
        """Whether a number can leave on either side."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Figure:
    """A figure that a lecture states.

    Attributes:
        value: The figure.
        margin: The half-width beyond which a range that holds the figure says too little.
        rounding: Half a unit of the figure's last digit.
        runs: The number of the lecture's runs behind it.
        noise: The standard deviation of the figure itself where that is known, as that of a count in a sample.
    """

    value: float
    margin: float
    rounding: float = 0.0
    runs: int = 1
    noise: float = 0.0


def within(estimate: Estimate, limits: Limits, parts: int = 1, n: int | None = None) -> Decision:
    """Whether a number lies between limits.

    Reproduced where the 90 % interval lies inside (with two ends these are two one-sided tests); contradicted
    where an interval lies outside on one side, which is wider the more ``parts`` and ends there are.

    Args:
        estimate: The number.
        limits: The ends, infinite where there is none.
        parts: How many such questions the claim asks at once.
        n: Decide as with so many seeds of the same kind.
    """
    inside = 1 - 2 * ALPHA
    interval = estimate.interval(inside, n)
    if limits.low <= interval.low and interval.high <= limits.high:
        return Decision("reproduced", interval, inside)
    outside = 1 - 2 * ALPHA / parts / (2 if limits.two_ended else 1)
    wide = estimate.interval(outside, n)
    if wide.high < limits.low or wide.low > limits.high:
        return Decision("contradicted", wide, outside)
    return Decision("undecided", interval, inside)


def predicts(estimate: Predictor, figure: Figure, parts: int = 1, n: int | None = None) -> Decision:
    """Whether a lecture's figure is what its recipe gives: it lies where further runs are to be expected.

    Contradicted where it lies outside, however wide that range is; undecided where it lies inside a range that is
    wider than the margin, which almost any figure would do.
    """
    level = 1 - ALPHA / parts
    around = estimate.predicted(level, figure.runs, n)
    more = float(ndtri((1 + level) / 2)) * figure.noise + figure.rounding
    interval = Interval(around.mean, around.low - more, around.high + more, around.n)
    if not interval.defined:
        return Decision("undecided", interval, level)
    if not _at_most(interval.low, figure.value) or not _at_most(figure.value, interval.high):
        return Decision("contradicted", interval, level)
    narrow = _at_most((interval.high - interval.low) / 2, figure.margin)
    return Decision("reproduced" if narrow else "undecided", interval, level)


def _at_most(low: float, high: float) -> bool:
    """``low <= high`` but for what decimals lose in binary, so that 0.446 lies within 0.0005 of 0.4465."""
    return low <= high or math.isclose(low, high, rel_tol=1e-12)


def seeds_needed(decide: Callable[[int], Decision], n: int) -> int:
    """How many seeds would decide if the further ones were like the present ``n``; 101 stands for more than 100.

    One seed has no spread to plan with: the answer is two, the least that can decide anything.
    """
    if n < 2:
        return 2
    counts = range(n + 1, MOST_SEEDS + 1)
    return next((count for count in counts if decide(count).outcome != "undecided"), MOST_SEEDS + 1)
