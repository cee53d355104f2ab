import math

import numpy as np
import pytest

from seedbed.observations import mean
from seedbed.statistics.estimates import Mean, RelativeMean, Share, Spread
from seedbed.statistics.intervals import (
    Scale,
    clopper_pearson_interval,
    sd_interval,
    sd_prediction_interval,
    t_half_width,
    t_interval,
    wilson_interval,
)


def test_a_mean_has_the_t_interval() -> None:
    values = [1.0, 2.0, 4.0]
    ours, textbook = Mean.of(values).interval(0.9), t_interval(values, 0.9)
    assert (ours.low, ours.high) == pytest.approx((textbook.low, textbook.high))


def test_a_perplexity_is_formed_on_nats() -> None:
    values = [1.30, 1.35, 1.37]
    mean = Mean.of(values, scale="perplexity")
    textbook = t_interval(values).exponentiated()
    assert mean.interval(0.95).high == pytest.approx(textbook.high)
    assert mean.interval(0.95).low == pytest.approx(textbook.low)
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


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("ratio", [-3.0, 0.0, 0.5, 2.0])
def test_the_interval_of_a_relative_difference_covers_the_truth(ratio: float, n: int) -> None:
    rng = np.random.default_rng([17, n, int(10 * ratio + 50)])
    inside = []
    for _ in range(2000):
        difference = Mean.of(rng.normal(2.0 * ratio, 0.7, n).tolist())
        found = RelativeMean(difference, Spread.of(rng.normal(9.0, 2.0, n).tolist())).interval(0.95)
        inside.append(found.low <= ratio <= found.high)
    assert 0.93 <= np.mean(inside) <= 0.985


def test_a_relative_difference_agrees_with_a_search_for_its_ends() -> None:
    spread = Spread(2.0, 6)
    for middle in (-5.0, -0.3, 0.0, 0.4, 5.0):
        relative = RelativeMean(Mean(middle, 1.0, 6), spread)
        found, around, noise = relative.interval(0.9), relative.difference.interval(0.9), spread.interval(0.9)
        # The lower end of the interval of difference − ratio·spread (Zou and Donner 2008) is 0 at the lower ratio.
        far = noise.high if found.low > 0 else noise.low
        reach = math.hypot(around.mean - around.low, found.low * (far - noise.mean))
        assert around.mean - found.low * noise.mean - reach == pytest.approx(0, abs=1e-9)
        assert found.low < middle / 2 < found.high


def test_without_seed_noise_nothing_compares_with_it() -> None:
    same = RelativeMean(Mean.of([0.2, 0.3]), Spread.of([1.0, 1.0]))
    assert same.value == math.inf
    assert not same.interval(0.9).defined


def test_the_error_of_shared_items_is_that_of_the_mean_over_items() -> None:
    rng = np.random.default_rng(4)
    errors = [
        Mean.of([0.0], groups=[mean("loss", rng.normal(1.0, 2.0, 400)).item_groups]).item_error for _ in range(400)
    ]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(0.1, rel=0.05)


def test_the_item_error_of_a_difference_sees_what_both_have_in_common() -> None:
    rng = np.random.default_rng(4)
    documents = np.repeat(np.arange(500), 3)
    common = rng.normal(0.0, 5.0, 500)[documents]
    first, second = (mean("loss", common + rng.normal(0.0, 0.1, 1500), clusters=documents) for _ in range(2))
    apart = np.array(first.item_groups) - np.array(second.item_groups)
    assert Mean.of([0.0], groups=[first.item_groups]).item_error > 0.1
    assert Mean.of([0.0], groups=[apart]).item_error < 0.01


def test_all_seeds_at_one_have_the_interval_of_one_test_set() -> None:
    certain = Mean.of([1.0] * 5, scale="share", independent=48)
    assert certain.interval(0.95) == wilson_interval(1.0, 48, 5)
    assert certain.prediction_interval(0.95, 1) == wilson_interval(1.0, 24, 5)


@pytest.mark.parametrize(
    ("values", "scale", "most"),
    [
        ([0.99, 0.999, 1.0], "share", 1.0),
        ([0.0, 0.01, 0.0], "share", 1.0),
        ([3.0, 18.0, 5.0], "positive", math.inf),
        ([0.26, 1.07, 0.3], "positive", math.inf),
    ],
)
def test_no_interval_leaves_the_range_of_its_number(values: list[float], scale: Scale, most: float) -> None:
    estimate = Mean.of(values, scale=scale)
    for found in (estimate.interval(0.999), estimate.prediction_interval(0.999, 1)):
        assert 0 <= found.low < np.mean(values) < found.high <= most
