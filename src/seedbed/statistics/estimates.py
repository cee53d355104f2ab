"""Estimates over seeds, each with its interval at any level, and at any number of seeds.

What a check asks of a mean, of a spread between seeds or of a share of seeds is the same: an interval. Asked
for that at another number of seeds, an estimate answers as if the further seeds were like those it has, so that
a verdict can say how many it would need. Knows numbers only.
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
    deviation,
    predicted_sd,
    sd_interval,
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
        """The number of seeds; 0 where the number belongs to no seed and is certain."""
        ...

    def interval(self, level: float, n: int | None = None) -> Interval:
        """The interval with ``n`` seeds; NaN where one seed says nothing of the others."""
        ...


class Predictor(Estimate, Protocol):
    """An estimate that says what a lecture's figure should be."""

    def predicted(self, level: float, runs: int, n: int | None = None) -> Interval:
        """Where the same number of ``runs`` further seeds is to be expected."""
        ...


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        mean: The mean of the values.
        sd: Their standard deviation; 0 where there is no seed, NaN of one.
        n: The number of seeds.
        exponentiated: Whether the values are nats and the number is exp of their mean, a perplexity.
    """

    mean: float
    sd: float
    n: int
    exponentiated: bool = False

    @classmethod
    def of(cls, values: Sequence[float], seeded: bool = True, exponentiated: bool = False) -> Mean:
        """The mean of finite values, at least one; without seeds it is a single value and certain."""
        n = len(values) if seeded else 0
        return cls(float(np.mean(values)), deviation(values) if n else 0.0, n, exponentiated)

    @property
    def value(self) -> float:
        """The mean, as a perplexity where it is one."""
        return self._scaled(0, self.n).mean

    def interval(self, level: float, n: int | None = None) -> Interval:
        """Student's t interval, formed on nats and exponentiated afterwards."""
        n = n or self.n
        return self._scaled(t_half_width(self.sd, n, level) if n > 1 else self.sd, n)

    def predicted(self, level: float, runs: int, n: int | None = None) -> Interval:
        """Where the mean of further runs is to be expected."""
        n = n or self.n
        return self._scaled(t_half_width(self.sd, n, level, runs) if n > 1 else self.sd, n)

    def _scaled(self, half: float, n: int) -> Interval:
        interval = Interval(self.mean, self.mean - half, self.mean + half, n)
        return interval.exponentiated() if self.exponentiated else interval


@dataclass(frozen=True)
class Spread:
    """The standard deviation between seeds: the seed noise.

    Attributes:
        sd: The standard deviation; NaN of one seed.
        n: The number of seeds.
    """

    sd: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of finite values, one a seed."""
        return cls(deviation(values), len(values))

    @property
    def value(self) -> float:
        """The standard deviation."""
        return self.sd

    def interval(self, level: float, n: int | None = None) -> Interval:
        """From the chi-squared distribution of normal values."""
        n = n or self.n
        return sd_interval(self.sd, n, level) if n > 1 else Interval(self.sd, *_UNDEFINED, n)

    def predicted(self, level: float, runs: int, n: int | None = None) -> Interval:
        """Where the standard deviation of further runs, at least two, is to be expected."""
        n = n or self.n
        return predicted_sd(self.sd, n, runs, level) if n > 1 else Interval(self.sd, *_UNDEFINED, n)


@dataclass(frozen=True)
class Share:
    """The share of seeds that succeed, where a mean over success and failure would be unsound.

    Attributes:
        passed: How many of the seeds, or whether the one certain value, succeed.
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
