"""Confidence and prediction intervals over a few seeds.

An interval that the values do not support, for example that of one value, is NaN. Only values that are all equal
have a t interval of width zero. A NaN among the values makes everything NaN, so that no comparison with it can
pass. This module knows numbers only, neither tables nor pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaincinv, chdtri, fdtri, ndtri, stdtrit

#: What keeps an interval inside the range of its number: nothing, the ends 0 and 1 of a share, the end 0 of a
#: count or a ratio, or the logarithm, on which a perplexity is nats.
Scale = Literal["plain", "share", "positive", "perplexity"]


@dataclass(frozen=True)
class Interval:
    """A mean over seeds and the interval around it.

    Attributes:
        mean: The mean; NaN without values or with a value that is not finite.
        low: The lower end; NaN if the interval is undefined.
        high: The upper end; NaN if the interval is undefined.
        n: The number of seeds.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def defined(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def exponentiated(self) -> Interval:
        """The interval of a perplexity, from that of a loss in nats: exp of the mean and of both ends."""
        with np.errstate(over="ignore"):
            mean, low, high = np.exp([self.mean, self.low, self.high])
        return Interval(float(mean), float(low), float(high), self.n)


def t_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Student's t interval of the mean; with one value its ends are NaN.

    At n = 5 it covers the mean in 94.5 % of normal samples; the percentile bootstrap covers it in 83 %.
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.size
    if n == 0 or not np.isfinite(array).all():
        return Interval(math.nan, math.nan, math.nan, n)
    sd = standard_deviation(values)
    mean = float(array.mean() if sd else array[0])  # the mean of equal values would have a rounding error too
    half = t_half_width(sd, n, level) if n > 1 else math.nan
    return Interval(mean, mean - half, mean + half, n)


def standard_deviation(values: Sequence[float]) -> float:
    """The standard deviation over seeds; NaN for fewer than two values, or if one is not finite.

    For equal values it is exactly 0; the formula would leave a rounding error.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2 or not np.isfinite(array).all():
        return math.nan
    return 0.0 if array.min() == array.max() else float(array.std(ddof=1))


def t_half_width(sd: float, n: int, level: float, runs: int = 0) -> float:
    """Half the width of Student's t interval of the mean of ``n`` > 1 values with standard deviation ``sd``.

    With ``runs``, half the width of the prediction interval of the mean of that number of further runs.
    """
    return float(stdtrit(n - 1, (1 + level) / 2)) * sd * math.sqrt(1 / n + (1 / runs if runs else 0))


#: Units of numbers that are never below 0.
_POSITIVE = {"count", "ratio", "token", "position", "perplexity", "second"}


def scale_of(unit: str, values: Iterable[float]) -> Scale:
    """The range of numbers of this unit; plain for numbers that lie outside of it."""
    numbers = list(values)
    if unit == "share" and all(0 <= one <= 1 for one in numbers):
        return "share"
    return "positive" if unit in _POSITIVE and all(one >= 0 for one in numbers) else "plain"


def interval_around(mean: float, error: float, factor: float, n: int, scale: Scale = "plain") -> Interval:
    """The interval of ``factor`` standard errors around a mean, which stays in the range of the number.

    For a share this is Wilson's interval with the number of independent items that would have this error, as in
    surveys. For a positive number both ends are that many standard errors away on the logarithm (the delta
    method).

    Args:
        mean: The mean; of nats, if the scale is ``perplexity``.
        error: Its standard error.
        factor: How many of them.
        n: The number of seeds.
        scale: The range of the number.
    """
    half = factor * error
    plain = Interval(mean, mean - half, mean + half, n)
    if scale == "perplexity":
        return plain.exponentiated()
    if scale == "positive" and mean > 0 and math.isfinite(half):
        ratio = math.exp(half / mean) if half < 700 * mean else math.inf
        return Interval(mean, mean / ratio, mean * ratio, n)
    if scale == "share" and 0 < mean < 1 and error > 0:
        return _wilson(mean, mean * (1 - mean) / error**2, factor, n)
    return plain


def welch_degrees(parts: Sequence[tuple[float, float]]) -> float:
    """The degrees of freedom of a sum of estimated variances (Satterthwaite 1946, Welch 1947).

    Args:
        parts: Each variance with its own degrees of freedom; without any variance above 0 the answer is infinite.
    """
    total = sum(variance for variance, _ in parts)
    spread = sum(variance**2 / degrees for variance, degrees in parts)
    return total**2 / spread if spread > 0 else math.inf


def wilson_interval(share: float, items: int, seeds: int, level: float = 0.95) -> Interval:
    """Wilson's interval of a share of one test set, for seeds that all score 0 or all score 1.

    Args:
        share: The score of every seed.
        items: The number of independent items in the test set. All seeds have the same test set, so this is never
            seeds times items.
        seeds: The number of seeds; it is returned, and does not change the width.
        level: The level of confidence.
    """
    if items < 1 or not math.isfinite(share):
        return Interval(share, math.nan, math.nan, seeds)
    return _wilson(share, items, float(ndtri((1 + level) / 2)), seeds)


def _wilson(share: float, items: float, factor: float, seeds: int) -> Interval:
    squared = factor**2 / items
    centre = share + squared / 2
    half = math.sqrt(squared * (share * (1 - share) + squared / 4))
    low, high = ((centre + end) / (1 + squared) for end in (-half, half))
    return Interval(share, max(0.0, low), min(1.0, high), seeds)


def clopper_pearson_interval(passed: int, n: int, level: float = 0.95) -> Interval:
    """The exact interval of a share of seeds, ``passed`` of ``n`` > 0 (Clopper and Pearson, 1934)."""
    tail = (1 - level) / 2
    low = float(betaincinv(passed, n - passed + 1, tail)) if passed else 0.0
    high = float(betaincinv(passed + 1, n - passed, 1 - tail)) if passed < n else 1.0
    return Interval(passed / n, low, high, n)


def sd_interval(sd: float, n: int, level: float = 0.95) -> Interval:
    """The interval of a standard deviation between seeds that was estimated from ``n`` > 1 normal values."""
    tail = (1 - level) / 2
    low, high = (sd * math.sqrt((n - 1) / float(chdtri(n - 1, upper))) for upper in (tail, 1 - tail))
    return Interval(sd, low, high, n)


def sd_prediction_interval(sd: float, n: int, runs: int, level: float = 0.95) -> Interval:
    """The prediction interval of the standard deviation of ``runs`` > 1 further runs, from that of ``n`` > 1 runs.

    The ratio of the two variances has the F distribution. Two runs have one degree of freedom and say very little.
    """
    tail = (1 - level) / 2
    low, high = (sd * math.sqrt(float(fdtri(runs - 1, n - 1, lower))) for lower in (tail, 1 - tail))
    return Interval(sd, low, high, n)
