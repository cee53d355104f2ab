"""Decide from an estimate whether a statement about a number is true.

A statement about limits is true or false, so a decision about it can be wrong in one way only. Each decision is
made at the level at which chance alone makes a wrong one in at most `ALPHA` of all cases. A value that a lecture
states is contradicted wrongly in at most `ALPHA` of all cases, and only where it misses ours by more than its
margin. If it is reproduced, it is compatible with our value to within the margin; how often a value that is
slightly off would be reproduced is not known.

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

from seedbed.statistics.estimates import Estimate, PredictiveEstimate, Share
from seedbed.statistics.intervals import Interval, clopper_pearson_interval

#: The share of decisions that chance alone may get wrong.
ALPHA = 0.05
#: The most seeds that `seeds_needed` plans with.
MOST_SEEDS = 100
#: What `seeds_needed` returns if these are not enough, and if no number of seeds is.
MORE_SEEDS, NO_SEEDS = MOST_SEEDS + 1, MOST_SEEDS + 2
#: A number of seeds that leaves no noise of our own.
_UNLIMITED = 10**9

Outcome = Literal["reproduced", "contradicted", "differs", "undecided", "not run", "non-finite"]


@dataclass(frozen=True)
class Decision:
    """An outcome and the interval that it follows from.

    Attributes:
        outcome: The outcome.
        interval: The estimate with the interval that decided, or that was too wide to decide.
        level: The level of that interval.
        off: For a stated value that lies outside the interval and within its margin: how far from ours it is.
    """

    outcome: Outcome
    interval: Interval
    level: float
    off: float | None = None


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
        margin: The largest difference that does not matter. A prediction interval with a larger half-width says
            too little.
        rounding: Half a unit of the number's last digit.
        runs: How many runs of the lecture it is the mean, or the standard deviation, of.
        noise: The standard deviation of the number itself, where no observation has its error over items.
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
    """Decide whether a lecture's number is what its recipe gives.

    It is reproduced if it differs from ours by at most the margin, and our prediction interval is no wider: a
    wider one would hold almost any number. It is contradicted if it lies outside that interval and is further away
    than the margin. With several questions in a claim only the interval that contradicts is wider.

    Args:
        estimate: Our number.
        stated: The lecture's number.
        parts: How many such questions the claim asks at once.
        n: Decide as if there were ``n`` seeds like the present ones; None for the present number.
    """
    level = 1 - ALPHA
    interval = _predicted(estimate, stated, level, n)
    if not interval.defined:
        return Decision("undecided", interval, level)
    off = abs(stated.value - interval.mean)
    matters = not _at_most(off, stated.margin)
    wide = _predicted(estimate, stated, 1 - ALPHA / parts, n)
    if matters and not _holds(wide, stated.value):
        return Decision("contradicted", wide, 1 - ALPHA / parts)
    narrow = _at_most((interval.high - interval.low) / 2, stated.margin)
    if matters or not narrow:
        return Decision("undecided", interval, level)
    return Decision("reproduced", interval, level, None if _holds(interval, stated.value) else off)


def _predicted(estimate: PredictiveEstimate, stated: StatedValue, level: float, n: int | None) -> Interval:
    around = estimate.prediction_interval(level, stated.runs, n, stated.noise)
    return Interval(around.mean, around.low - stated.rounding, around.high + stated.rounding, around.n)


def _holds(interval: Interval, value: float) -> bool:
    return _at_most(interval.low, value) and _at_most(value, interval.high)


def decide_existence(passed: int, n: int, runs: int, parts: int = 1) -> Decision:
    """Decide whether at least one seed does what a lecture saw in at least one of its runs.

    One seed that does it is a proof. If none does, the seeds and the lecture's runs differ by chance with a
    probability of ``runs / (n + runs)``, that the one success is among the lecture's (Fisher's exact test).

    Args:
        passed: How many seeds do it.
        n: The number of seeds.
        runs: The number of the lecture's runs.
        parts: How many such questions the claim asks at once.
    """
    level = 1 - ALPHA
    if not n:
        return Decision("reproduced" if passed else "contradicted", Interval(passed, passed, passed, 0), level)
    interval = clopper_pearson_interval(passed, n, level)
    if passed:
        return Decision("reproduced", interval, level)
    return Decision("contradicted" if runs / (n + runs) <= ALPHA / parts else "undecided", interval, level)


def possible_outcomes(limits: Limits, n: int, parts: int = 1) -> frozenset[Outcome]:
    """What can be decided about a share of ``n`` seeds, whatever number of them passes."""
    decided = {decide_within_limits(Share(passed, n), limits, parts).outcome for passed in range(n + 1)}
    return frozenset(decided - {"undecided"})


def _at_most(low: float, high: float) -> bool:
    """``low <= high`` up to binary rounding, so that 0.446 lies within 0.0005 of 0.4465."""
    return low <= high or math.isclose(low, high, rel_tol=1e-12)


def seeds_needed(decide: Callable[[int], Decision], n: int) -> int:
    """From how many seeds on the answer is decided and stays so, if further seeds are like the present ``n``.

    `MORE_SEEDS` means more than `MOST_SEEDS`, `NO_SEEDS` that no number of seeds decides: what is left then is the
    noise of the shared items, of the lecture's own runs, or an estimate at the very limit. One seed has no spread
    to plan with; the answer is then two, the least that can decide anything.
    """
    if n == 0 or (n > 1 and decide(_UNLIMITED).outcome == "undecided"):
        return NO_SEEDS
    if n == 1:
        return 2
    last = next((count for count in range(MOST_SEEDS, n, -1) if decide(count).outcome == "undecided"), n)
    return last + 1
