"""Estimates over seeds: means, standard deviations and shares, each with its interval at any level.

An estimate also gives its interval for another number of seeds, as if further seeds were like the present ones.
A verdict uses this to say how many seeds it needs. This module knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from seedbed.observations import GROUPS
from seedbed.statistics.intervals import (
    Interval,
    Scale,
    clopper_pearson_interval,
    interval_around,
    sd_interval,
    sd_prediction_interval,
    standard_deviation,
    welch_degrees,
    wilson_interval,
)

_UNDEFINED = (math.nan, math.nan)


class Estimate(Protocol):
    """A number over seeds."""

    @property
    def value(self) -> float:
        """The estimated number."""
        ...

    @property
    def n(self) -> int:
        """The number of seeds; 0 if the number depends on no seed and is certain."""
        ...

    def interval(self, level: float, n: int | None = None) -> Interval:
        """The interval with ``n`` seeds, by default the present ones; its ends are NaN if one seed is too few."""
        ...


class PredictiveEstimate(Estimate, Protocol):
    """An estimate that predicts the results of further runs, to compare a lecture's number with."""

    def prediction_interval(self, level: float, runs: int, n: int | None = None, noise: float = 0.0) -> Interval:
        """The interval in which the same number of ``runs`` further seeds on a test set of their own is expected.

        Args:
            level: The level.
            runs: The number of further seeds.
            n: As if there were ``n`` seeds like the present ones; None for the present number.
            noise: A standard deviation of that number that the estimate does not know.
        """
        ...


@dataclass(frozen=True)
class Mean:
    """A mean over seeds, with the two sources of its noise: the seeds, and the items that all seeds share.

    Attributes:
        mean: The mean of the values; of nats, if the scale is ``perplexity``.
        sd: Their standard deviation; 0 without seeds, NaN with one seed.
        n: The number of seeds.
        scale: The range that its intervals stay in.
        item_error: The standard error of the mean over the items that all seeds share; 0 if every seed draws its
            own items, whose error is in ``sd`` already.
        run_error: The same for the value of one seed.
        independent: The number of independent items of a share; 0 if it is unknown.
    """

    mean: float
    sd: float
    n: int
    scale: Scale = "plain"
    item_error: float = 0.0
    run_error: float = 0.0
    independent: int = 0

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        seeded: bool = True,
        scale: Scale = "plain",
        groups: Sequence[ArrayLike] = (),
        independent: int = 0,
    ) -> Mean:
        """The mean of at least one finite value; without seeds it is a single value.

        Args:
            values: One value for each seed, or the one value without seeds.
            seeded: Whether they belong to seeds.
            scale: The range of the number.
            groups: [values][groups], how far the groups of shared items move each value, see `observations.mean`.
            independent: The number of independent items of a share.
        """
        n = len(values) if seeded else 0
        sd = standard_deviation(values) if n else 0.0
        mean = float(np.mean(values)) if sd or not n else float(values[0])
        if not len(groups):
            return cls(mean, sd, n, scale, independent=independent)
        array = np.asarray(groups, dtype=np.float64)
        run_error = math.sqrt(float((_item_errors(array) ** 2).mean()))
        return cls(mean, sd, n, scale, float(_item_errors(array.mean(0))), run_error, independent)

    @property
    def value(self) -> float:
        """The mean, or exp of it if the scale is ``perplexity``."""
        return interval_around(self.mean, 0.0, 0.0, self.n, self.scale).mean

    def interval(self, level: float, n: int | None = None) -> Interval:
        """Student's t interval, with the error of the shared items; it keeps to the scale."""
        n = self.n if n is None else n
        return self._interval(level, n, self.sd**2 / n if n else 0.0, self.item_error**2, 1)

    def prediction_interval(self, level: float, runs: int, n: int | None = None, noise: float = 0.0) -> Interval:
        """The prediction interval of the mean of ``runs`` further seeds, which share a test set of their own."""
        n = self.n if n is None else n
        seeds = self.sd**2 * (1 / n + 1 / runs) if n else 0.0
        return self._interval(level, n, seeds, self.item_error**2 + self.run_error**2, 2, noise**2)

    def _interval(
        self, level: float, n: int, seeds: float, items: float, test_sets: int, known: float = 0.0
    ) -> Interval:
        """The interval from the variance due to seeds, that due to items, and one that is known exactly."""
        tail = (1 + level) / 2
        if self.scale == "share" and self.mean in (0.0, 1.0) and not seeds + items + known and self.independent:
            return wilson_interval(self.mean, max(1, self.independent // test_sets), n, level)
        if n == 1:
            return replace(interval_around(self.mean, 0.0, 0.0, n, self.scale), low=math.nan, high=math.nan)
        parts = [(seeds, max(n - 1, 1)), (items, GROUPS - 1), (known, math.inf)]
        degrees = welch_degrees(parts)
        factor = float(stdtrit(degrees, tail) if math.isfinite(degrees) else ndtri(tail))
        return interval_around(self.mean, math.sqrt(seeds + items + known), factor, n, self.scale)


def _item_errors(groups: NDArray[np.float64]) -> NDArray[np.float64]:
    """[...], the standard errors over items of values that their groups of items move by [..., groups]."""
    return np.asarray(np.sqrt((groups**2).sum(-1) * GROUPS / (GROUPS - 1)), dtype=np.float64)


@dataclass(frozen=True)
class Spread:
    """The standard deviation between seeds: the seed noise.

    Attributes:
        sd: The standard deviation; NaN with one seed.
        n: The number of seeds.
    """

    sd: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The standard deviation of finite values, one for each seed."""
        return cls(standard_deviation(values), len(values))

    @property
    def value(self) -> float:
        """The standard deviation."""
        return self.sd

    def interval(self, level: float, n: int | None = None) -> Interval:
        """The interval from the chi-squared distribution, for normal values."""
        n = n or self.n
        return sd_interval(self.sd, n, level) if n > 1 else Interval(self.sd, *_UNDEFINED, n)

    def prediction_interval(self, level: float, runs: int, n: int | None = None, noise: float = 0.0) -> Interval:
        """The prediction interval of the standard deviation of ``runs`` > 1 further seeds; it knows no noise."""
        n = n or self.n
        return sd_prediction_interval(self.sd, n, runs, level) if n > 1 else Interval(self.sd, *_UNDEFINED, n)


@dataclass(frozen=True)
class RelativeMean:
    """A mean difference, divided by the standard deviation between seeds: how it compares with seed noise.

    The interval of the ratio follows from those of both (MOVER, Donner and Zou 2012). It contains the ratios r for
    which that of difference − r·spread contains 0.

    Attributes:
        difference: The difference.
        spread: The standard deviation between the seeds of a run.
    """

    difference: Mean
    spread: Spread

    @property
    def value(self) -> float:
        """The ratio; infinite if all seeds are equal and the difference is not 0, NaN if it is 0 too."""
        return _ratio(self.difference.value, self.spread.sd)

    @property
    def n(self) -> int:
        """The smaller number of seeds."""
        return min(self.difference.n, self.spread.n)

    def interval(self, level: float, n: int | None = None) -> Interval:
        """The interval of the ratio."""
        mean, spread = self.difference.interval(level, n), self.spread.interval(level, n)
        if not (mean.defined and spread.defined) or not self.spread.sd:
            return Interval(self.value, *_UNDEFINED, mean.n)
        high = _upper_ratio(mean.mean, mean.high - mean.mean, spread)
        low = -_upper_ratio(-mean.mean, mean.mean - mean.low, spread)
        return Interval(self.value, low, high, mean.n)


def _ratio(difference: float, spread: float) -> float:
    if spread:
        return difference / spread
    return math.copysign(math.inf, difference) if difference else math.nan


def _upper_ratio(mean: float, reach: float, spread: Interval) -> float:
    """The ratio r at which the interval of mean − r·spread ends at 0; that of the mean ends at mean + reach."""
    sd = spread.mean
    if mean + reach >= 0:
        rest = sd**2 - (sd - spread.low) ** 2
        root = math.sqrt(mean**2 * sd**2 + rest * (reach**2 - mean**2))
        return (mean * sd + root) / rest
    rest = sd**2 - (spread.high - sd) ** 2
    root = math.sqrt(mean**2 * sd**2 - rest * (mean**2 - reach**2))
    return -(mean**2 - reach**2) / (-mean * sd + root)


@dataclass(frozen=True)
class Share:
    """The share of seeds that succeed; a t interval of 0s and 1s would be wrong.

    Attributes:
        passed: How many seeds succeed; without seeds, 1 if the one certain value succeeds and 0 if not.
        n: The number of seeds.
    """

    passed: int
    n: int

    @property
    def value(self) -> float:
        """The share."""
        return self.passed / (self.n or 1)

    def interval(self, level: float, n: int | None = None) -> Interval:
        """Clopper and Pearson's exact interval."""
        n = n or self.n
        if n == 0:
            return Interval(self.value, self.value, self.value, 0)
        return clopper_pearson_interval(round(self.value * n), n, level)
