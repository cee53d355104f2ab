"""Estimates over seeds: means, standard deviations and shares, each with its interval at any level.

An estimate also gives its interval for another number of seeds, as if further seeds were like the present ones.
A verdict uses this to say how many seeds it needs. This module knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from seedbed.statistics.intervals import (
    Interval,
    clopper_pearson_interval,
    sd_interval,
    sd_prediction_interval,
    standard_deviation,
    t_half_width,
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

    def prediction_interval(self, level: float, runs: int, n: int | None = None) -> Interval:
        """The interval in which the same number, computed from ``runs`` further seeds, is expected."""
        ...


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        mean: The mean of the values.
        sd: Their standard deviation; 0 without seeds, NaN with one seed.
        n: The number of seeds.
        exponentiated: Whether the values are nats and the estimate is exp of their mean, a perplexity.
    """

    mean: float
    sd: float
    n: int
    exponentiated: bool = False

    @classmethod
    def of(cls, values: Sequence[float], seeded: bool = True, exponentiated: bool = False) -> Mean:
        """The mean of at least one finite value; without seeds it is a single, certain value."""
        n = len(values) if seeded else 0
        return cls(float(np.mean(values)), standard_deviation(values) if n else 0.0, n, exponentiated)

    @property
    def value(self) -> float:
        """The mean, or exp of it if ``exponentiated``."""
        return self._interval_around(0, self.n).mean

    def interval(self, level: float, n: int | None = None) -> Interval:
        """Student's t interval; that of a perplexity is computed on nats and then exponentiated."""
        n = n or self.n
        return self._interval_around(t_half_width(self.sd, n, level) if n > 1 else self.sd, n)

    def prediction_interval(self, level: float, runs: int, n: int | None = None) -> Interval:
        """The prediction interval of the mean of ``runs`` further seeds."""
        n = n or self.n
        return self._interval_around(t_half_width(self.sd, n, level, runs) if n > 1 else self.sd, n)

    def _interval_around(self, half: float, n: int) -> Interval:
        interval = Interval(self.mean, self.mean - half, self.mean + half, n)
        return interval.exponentiated() if self.exponentiated else interval


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

    def prediction_interval(self, level: float, runs: int, n: int | None = None) -> Interval:
        """The prediction interval of the standard deviation of ``runs`` > 1 further seeds."""
        n = n or self.n
        return sd_prediction_interval(self.sd, n, runs, level) if n > 1 else Interval(self.sd, *_UNDEFINED, n)


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
