"""Decide from an estimate whether a statement about a number is true.

A statement about limits is true or false, so a decision about it can be wrong in one way only. Each decision is
made at the level at which chance alone makes a wrong one in at most `ALPHA` of all cases. A value that a lecture
states is contradicted wrongly in at most `ALPHA` of all cases. If it is reproduced, it is compatible with our
value to within the margin; how often a value that is slightly off would be reproduced is not known.

A claim may make several statements. It is reproduced if each of them is, each at that level (an
intersection-union test, Berger 1982). It is contradicted if one of them is, at that level divided by their number:
the first step of Holm's procedure, and the only one that can change the outcome of the whole.

This module knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scipy.special import ndtri

from seedbed.statistics.estimates import Estimate, PredictiveEstimate
from seedbed.statistics.intervals import Interval

#: The share of decisions that chance alone may get wrong.
ALPHA = 0.05
#: The most seeds that `seeds_needed` plans with; it returns one more if they are not enough.
MOST_SEEDS = 100

Outcome = Literal["reproduced", "contradicted", "differs", "undecided", "not run", "non-finite"]


@dataclass(frozen=True)
class Decision:
    """An outcome and the interval that it follows from.

    Attributes:
        outcome: The outcome.
        interval: The estimate with the interval that decided, or that was too wide to decide.
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
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class StatedValue:
    """A number that a lecture states.

    Attributes:
        value: The number.
        margin: The largest half-width of a prediction interval that can reproduce it; a wider one says too little.
        rounding: Half a unit of the number's last digit.
        runs: How many runs of the lecture it is the mean, or the standard deviation, of.
        noise: The standard deviation of the number itself if known, for example of a count in a sample.
    """

    value: float
    margin: float
    rounding: float = 0.0
    runs: int = 1
    noise: float = 0.0


def decide_within_limits(estimate: Estimate, limits: Limits, parts: int = 1, n: int | None = None) -> Decision:
    """Decide whether a number lies between limits.

    It is reproduced if its 90 % interval lies inside (with two limits these are two one-sided tests). It is
    contradicted if an interval lies outside on one side. More ``parts`` and more limits make that interval wider.

    Args:
        estimate: The number.
        limits: The limits; infinite for a side without one.
        parts: How many such questions the claim asks at once.
        n: Decide as if there were ``n`` seeds like the present ones; None for the present number.
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


def decide_stated_value(
    estimate: PredictiveEstimate, stated: StatedValue, parts: int = 1, n: int | None = None
) -> Decision:
    """Decide whether a lecture's number is what its recipe gives: whether it lies in our prediction interval.

    It is contradicted if it lies outside, however wide the interval is. It is undecided if it lies inside an
    interval that is wider than the margin, since almost any number would.

    Args:
        estimate: Our number.
        stated: The lecture's number.
        parts: How many such questions the claim asks at once.
        n: Decide as if there were ``n`` seeds like the present ones; None for the present number.
    """
    level = 1 - ALPHA / parts
    around = estimate.prediction_interval(level, stated.runs, n)
    more = float(ndtri((1 + level) / 2)) * stated.noise + stated.rounding
    interval = Interval(around.mean, around.low - more, around.high + more, around.n)
    if not interval.defined:
        return Decision("undecided", interval, level)
    if not _at_most(interval.low, stated.value) or not _at_most(stated.value, interval.high):
        return Decision("contradicted", interval, level)
    narrow = _at_most((interval.high - interval.low) / 2, stated.margin)
    return Decision("reproduced" if narrow else "undecided", interval, level)


def _at_most(low: float, high: float) -> bool:
    """``low <= high`` up to binary rounding, so that 0.446 lies within 0.0005 of 0.4465."""
    return low <= high or math.isclose(low, high, rel_tol=1e-12)


def seeds_needed(decide: Callable[[int], Decision], n: int) -> int:
    """How many seeds would decide if further seeds were like the present ``n``; 101 means more than 100.

    One seed has no spread to plan with. The answer is then two, the least that can decide anything.
    """
    if n < 2:
        return 2
    counts = range(n + 1, MOST_SEEDS + 1)
    return next((count for count in counts if decide(count).outcome != "undecided"), MOST_SEEDS + 1)
