import math

import pytest

from seedbed.statistics.decisions import (
    Decision,
    Limits,
    StatedValue,
    decide_stated_value,
    decide_within_limits,
    seeds_needed,
)
from seedbed.statistics.estimates import Mean, Share, Spread

ABOVE = Limits(1.0, math.inf)
BETWEEN = Limits(-1.0, 1.0)


@pytest.mark.parametrize(
    ("values", "limits", "outcome"),
    [
        ([1.1, 1.2, 1.3], ABOVE, "reproduced"),
        ([0.7, 0.8, 0.9], ABOVE, "contradicted"),
        ([0.5, 1.5, 1.0], ABOVE, "undecided"),
        ([0.7, 0.8, 0.9], Limits(-math.inf, 1.0), "reproduced"),
        ([-0.1, 0.0, 0.1], BETWEEN, "reproduced"),
        ([1.4, 1.5, 1.6], BETWEEN, "contradicted"),
        ([-1.4, -1.5, -1.6], BETWEEN, "contradicted"),
        ([-1.0, 0.0, 1.0], BETWEEN, "undecided"),
        ([1.0, 1.0, 1.0], ABOVE, "reproduced"),
        ([0.9, 0.9, 0.9], ABOVE, "contradicted"),
        ([5.0], ABOVE, "undecided"),
    ],
)
def test_an_interval_inside_reproduces_and_one_outside_contradicts(
    values: list[float], limits: Limits, outcome: str
) -> None:
    assert decide_within_limits(Mean.of(values), limits).outcome == outcome


def test_equivalence_asks_for_the_90_percent_interval_inside_the_margin() -> None:
    mean = Mean(0.0, 1.0, 5)
    inside = mean.interval(0.9).high
    assert decide_within_limits(mean, Limits(-inside, inside)).outcome == "reproduced"
    assert decide_within_limits(mean, Limits(-inside * 0.999, inside)).outcome == "undecided"
    assert mean.interval(0.95).high > inside


def test_many_parts_make_a_contradiction_harder_and_a_reproduction_no_easier() -> None:
    below, above = Mean(0.5, 0.4, 5), Mean(1.5, 0.4, 5)
    assert decide_within_limits(below, ABOVE).outcome == "contradicted"
    assert decide_within_limits(below, ABOVE, parts=10).outcome == "undecided"
    assert (
        decide_within_limits(above, ABOVE, parts=10).outcome
        == decide_within_limits(above, ABOVE).outcome
        == "reproduced"
    )


def test_one_seed_decides_nothing_and_a_certain_number_does() -> None:
    assert decide_within_limits(Share(1, 1), Limits(0.5, 1.0)).outcome == "undecided"
    assert decide_within_limits(Mean.of([5.0], seeded=False), ABOVE).outcome == "reproduced"
    assert decide_stated_value(Mean.of([5.0]), StatedValue(5.0, margin=1.0)).outcome == "undecided"
    assert decide_stated_value(Spread.of([5.0]), StatedValue(5.0, margin=1.0, runs=2)).outcome == "undecided"


def test_five_of_five_seeds_are_more_than_half_and_four_are_not_enough() -> None:
    half = Limits(0.5, math.inf)
    found = [decide_within_limits(Share(passed, 5), half).outcome for passed in range(6)]
    assert found == ["contradicted", "undecided", "undecided", "undecided", "undecided", "reproduced"]


@pytest.mark.parametrize(
    ("stated", "outcome"),
    [
        (StatedValue(3.0, margin=1.0), "reproduced"),
        (StatedValue(3.0, margin=0.1), "undecided"),
        (StatedValue(9.0, margin=1.0), "contradicted"),
        (StatedValue(9.0, margin=0.1), "contradicted"),
    ],
)
def test_a_value_outside_the_interval_is_contradicted_and_a_wide_interval_is_undecided(
    stated: StatedValue, outcome: str
) -> None:
    assert decide_stated_value(Mean(3.0, 0.2, 5), stated).outcome == outcome


def test_rounding_and_noise_of_a_stated_value_widen_the_interval() -> None:
    certain = Mean.of([0.4460], seeded=False)
    assert decide_stated_value(certain, StatedValue(0.4455, margin=0.1, rounding=0.0005)).outcome == "reproduced"
    assert decide_stated_value(certain, StatedValue(0.4454, margin=0.1, rounding=0.0005)).outcome == "contradicted"
    assert (
        decide_stated_value(Mean.of([990.0], seeded=False), StatedValue(980, margin=98, noise=36)).outcome
        == "reproduced"
    )
    assert (
        decide_stated_value(Mean.of([1060.0], seeded=False), StatedValue(980, margin=98, noise=36)).outcome
        == "contradicted"
    )


def test_the_number_of_seeds_needed_is_the_least_that_decides() -> None:
    mean = Mean(1.1, 0.4, 5)
    needed = seeds_needed(lambda n: decide_within_limits(mean, ABOVE, n=n), mean.n)
    assert decide_within_limits(mean, ABOVE, n=needed).outcome == "reproduced"
    assert decide_within_limits(mean, ABOVE, n=needed - 1).outcome == "undecided"


def test_more_than_100_seeds_and_one_seed_have_answers_of_their_own() -> None:
    hopeless: Decision = decide_within_limits(Mean(1.0, 1.0, 5), ABOVE)
    assert seeds_needed(lambda n: hopeless, 5) == 101
    assert seeds_needed(lambda n: hopeless, 1) == 2
