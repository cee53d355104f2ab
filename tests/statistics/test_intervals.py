import math

import numpy as np
import pytest

from seedbed.statistics.intervals import Interval, standard_deviation, t_interval, wilson_interval


def test_t_interval_equals_the_textbook_one() -> None:
    interval = t_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5 / 5)  # t(4, .975) of the printed tables
    assert interval.mean == 3.0
    assert interval.low == pytest.approx(3 - half)
    assert interval.high == pytest.approx(3 + half)
    assert interval.n == 5


@pytest.mark.parametrize("n", [2, 5, 10])
def test_t_interval_covers_the_mean_in_95_of_100_samples(n: int) -> None:
    samples = np.random.default_rng(11).normal(3.0, 0.7, size=(6000, n))
    covered = [one.low <= 3.0 <= one.high for one in map(t_interval, samples)]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)


def test_no_value_has_neither_mean_nor_interval() -> None:
    interval = t_interval([])
    assert interval.n == 0
    assert math.isnan(interval.mean)
    assert not interval.defined


def test_one_seed_has_a_mean_and_no_interval() -> None:
    interval = t_interval([2.5])
    assert interval.mean == 2.5
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_passes_no_comparison(bad: float) -> None:
    interval = t_interval([1.0, bad, 2.0])
    assert not any(end <= 1e9 or end >= -1e9 for end in (interval.mean, interval.low, interval.high))
    assert interval.n == 3


def test_equal_seeds_have_a_finite_interval_without_rounding_error() -> None:
    assert t_interval([0.1] * 7) == Interval(0.1, 0.1, 0.1, 7)


def test_the_deviation_is_that_of_the_textbook_and_of_equal_values_nothing() -> None:
    assert standard_deviation([1.0, 2.0, 4.0]) == pytest.approx(
        math.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2)
    )
    assert np.std([0.1] * 7, ddof=1) > 0
    assert standard_deviation([0.1] * 7) == 0


@pytest.mark.parametrize("values", [[], [2.5], [1.0, math.nan], [math.inf, math.inf]])
def test_too_few_values_and_such_that_are_not_finite_have_no_deviation(values: list[float]) -> None:
    assert math.isnan(standard_deviation(values))


def test_the_level_widens_the_interval() -> None:
    assert t_interval([1.0, 2.0, 4.0], level=0.99).high > t_interval([1.0, 2.0, 4.0], level=0.9).high


def test_perplexity_interval_is_formed_on_nats() -> None:
    losses = [1.30, 1.35, 1.37]
    interval = t_interval(losses)
    assert interval.exponentiated() == Interval(*np.exp([interval.mean, interval.low, interval.high]), 3)


def test_exponentiated_one_seed_stays_undefined_and_overflow_raises_no_warning() -> None:
    assert not t_interval([1.3]).exponentiated().defined
    assert t_interval([1000.0, 1000.0]).exponentiated().mean == math.inf


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_wilson_interval_of_all_or_none_has_width(share: float) -> None:
    interval = wilson_interval(share, items=500, seeds=5)
    assert 0 <= interval.low <= share <= interval.high <= 1
    assert interval.high - interval.low == pytest.approx(1.959964**2 / (500 + 1.959964**2), rel=1e-6)
    assert interval.n == 5


def test_wilson_interval_counts_the_items_once_however_many_seeds() -> None:
    one, many = (wilson_interval(1.0, items=500, seeds=seeds) for seeds in (2, 10))
    assert (one.low, one.high) == (many.low, many.high)


def test_wilson_interval_covers_a_share_near_one() -> None:
    hits = np.random.default_rng(3).binomial(200, 0.98, size=4000) / 200
    covered = [one.low <= 0.98 <= one.high for one in (wilson_interval(share, 200, 1) for share in hits)]
    assert np.mean(covered) > 0.93


@pytest.mark.parametrize(("share", "items"), [(math.nan, 10), (1.0, 0)])
def test_wilson_interval_without_items_or_share_is_undefined(share: float, items: int) -> None:
    assert not wilson_interval(share, items, seeds=3).defined
