import math

import numpy as np
import pytest

from seedbed.statistics.estimates import Mean, Share, Spread
from seedbed.statistics.intervals import (
    clopper_pearson_interval,
    sd_interval,
    sd_prediction_interval,
    t_half_width,
    t_interval,
)


def test_a_mean_has_the_t_interval() -> None:
    values = [1.0, 2.0, 4.0]
    assert Mean.of(values).interval(0.9) == t_interval(values, 0.9)


def test_a_perplexity_is_formed_on_nats() -> None:
    values = [1.30, 1.35, 1.37]
    mean = Mean.of(values, exponentiated=True)
    assert mean.interval(0.95) == t_interval(values).exponentiated()
    assert mean.value == pytest.approx(math.exp(np.mean(values)))


def test_more_seeds_like_the_present_ones_narrow_the_interval_and_keep_the_mean() -> None:
    few, many = (Mean.of([1.0, 2.0, 4.0]).interval(0.9, n) for n in (3, 30))
    assert few.low < many.low < many.mean == few.mean
    assert many.n == 30


def test_one_seed_has_a_mean_and_no_interval() -> None:
    for one in (
        Mean.of([2.0]).interval(0.9),
        Mean.of([2.0]).prediction_interval(0.9, 1),
        Mean.of([2.0]).interval(0.9, 5),
    ):
        assert one.mean == 2.0
        assert not one.defined
    assert not Spread.of([2.0]).interval(0.9).defined


def test_what_belongs_to_no_seed_is_certain() -> None:
    assert (Mean.of([2.0], seeded=False).interval(0.9).low, Mean.of([2.0], seeded=False).n) == (2.0, 0)
    assert Share(1, 0).interval(0.9).low == 1.0


def test_equal_seeds_have_an_interval_of_no_width() -> None:
    assert Mean.of([0.1] * 7).sd == 0
    assert Mean.of([0.1] * 7).prediction_interval(0.9, 1).high == pytest.approx(0.1)
    assert Spread.of([0.1] * 7).interval(0.9).high == 0


@pytest.mark.parametrize("runs", [1, 3])
def test_further_runs_lie_in_the_predicted_range_in_95_of_100_cases(runs: int) -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(4000):
        range_ = Mean.of(rng.normal(3.0, 0.7, 5).tolist()).prediction_interval(0.95, runs)
        inside.append(range_.low <= rng.normal(3.0, 0.7, runs).mean() <= range_.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)


def test_the_predicted_range_is_the_textbook_one() -> None:
    assert t_half_width(2.0, 5, 0.95, runs=1) == pytest.approx(2.7764451 * 2.0 * math.sqrt(1.2))


def test_the_interval_of_a_standard_deviation_is_the_textbook_one() -> None:
    interval = sd_interval(2.0, 5)  # chi-squared(4): 0.4844 and 11.1433
    assert interval.low == pytest.approx(2 * math.sqrt(4 / 11.1433), rel=1e-4)
    assert interval.high == pytest.approx(2 * math.sqrt(4 / 0.4844), rel=1e-4)


def test_the_standard_deviation_of_further_runs_lies_in_its_range_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(4)
    inside = []
    for _ in range(4000):
        range_ = sd_prediction_interval(float(rng.normal(0, 0.7, 5).std(ddof=1)), 5, runs=2)
        inside.append(range_.low <= rng.normal(0, 0.7, 2).std(ddof=1) <= range_.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(0, 5, 0.0, 0.5218), (5, 5, 0.4782, 1.0), (3, 10, 0.0667, 0.6525), (0, 1, 0.0, 0.975)],
)
def test_clopper_pearson_equals_the_printed_tables(passed: int, n: int, low: float, high: float) -> None:
    interval = clopper_pearson_interval(passed, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)
    assert (interval.mean, interval.n) == (passed / n, n)


def test_a_share_at_more_seeds_keeps_its_value() -> None:
    assert Share(3, 4).interval(0.9, 40) == clopper_pearson_interval(30, 40, 0.9)
