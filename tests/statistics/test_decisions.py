import math

import pytest

from seedbed.statistics.decisions import (
    MORE_SEEDS,
    NO_SEEDS,
    Decision,
    Limits,
    StatedValue,
    decide_existence,
    decide_stated_value,
    decide_within_limits,
    possible_outcomes,
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
    half = 0.0005
    assert decide_stated_value(certain, StatedValue(0.4455, margin=half, rounding=half)).outcome == "reproduced"
    assert decide_stated_value(certain, StatedValue(0.4454, margin=half, rounding=half)).outcome == "contradicted"
    assert (
        decide_stated_value(Mean.of([990.0], seeded=False), StatedValue(980, margin=98, noise=36)).outcome
        == "reproduced"
    )
    assert (
        decide_stated_value(Mean.of([1100.0], seeded=False), StatedValue(980, margin=98, noise=36)).outcome
        == "contradicted"
    )


def test_the_number_of_seeds_needed_is_the_least_that_decides() -> None:
    mean = Mean(1.1, 0.4, 5)
    needed = seeds_needed(lambda n: decide_within_limits(mean, ABOVE, n=n), mean.n)
    assert decide_within_limits(mean, ABOVE, n=needed).outcome == "reproduced"
    assert decide_within_limits(mean, ABOVE, n=needed - 1).outcome == "undecided"


def test_more_than_100_seeds_and_one_seed_have_answers_of_their_own() -> None:
    slow = Mean(1.01, 1.0, 5)
    assert seeds_needed(lambda n: decide_within_limits(slow, ABOVE, n=n), 5) == MORE_SEEDS
    at_the_limit = Mean(1.0, 1.0, 5)
    assert seeds_needed(lambda n: decide_within_limits(at_the_limit, ABOVE, n=n), 5) == NO_SEEDS
    hopeless: Decision = decide_within_limits(at_the_limit, ABOVE)
    assert seeds_needed(lambda n: hopeless, 1) == 2
    assert seeds_needed(lambda n: hopeless, 0) == NO_SEEDS


def test_a_lectures_single_run_may_be_too_noisy_for_any_number_of_seeds() -> None:
    def decide(n: int) -> Decision:
        return decide_stated_value(Mean(3.0, 1.0, 5), StatedValue(3.1, margin=1.5), n=n)

    assert seeds_needed(decide, 5) == NO_SEEDS  # 1.96 standard deviations of one run are more than 1.5
    assert decide(1000).outcome == "undecided"


def test_from_the_number_of_seeds_needed_on_it_stays_decided() -> None:
    def decide(n: int) -> Decision:
        return decide_within_limits(Share(7, 10), Limits(0.5, math.inf), n=n)

    assert decide(18).outcome == "reproduced"
    needed = seeds_needed(decide, 10)
    assert needed > 18
    assert all(decide(n).outcome == "reproduced" for n in range(needed, 300))
    assert decide(needed - 1).outcome == "undecided"


def test_a_miss_within_the_margin_is_no_miss() -> None:
    ours, stated = Mean(3.0, 0.01, 5), StatedValue(3.2, margin=0.3)
    found = decide_stated_value(ours, stated)
    assert (found.outcome, found.off) == ("reproduced", pytest.approx(0.2))
    assert decide_stated_value(ours, StatedValue(3.2, margin=0.1)).outcome == "contradicted"
    assert decide_stated_value(ours, StatedValue(3.005, margin=0.1)).off is None


def test_a_figure_among_several_is_no_easier_to_reproduce() -> None:
    ours = Mean(3.0, 0.2, 5)
    unadjusted = ours.prediction_interval(0.95, 1).high
    between = StatedValue(unadjusted + 0.05, margin=0.4)
    assert decide_stated_value(ours, between).outcome == "contradicted"
    assert decide_stated_value(ours, between, parts=6).outcome == "undecided"


def test_one_seed_that_does_it_proves_that_it_exists() -> None:
    assert decide_existence(1, 5, runs=1).outcome == "reproduced"
    assert decide_existence(0, 5, runs=1).outcome == "undecided"
    assert decide_existence(0, 19, runs=1).outcome == "contradicted"  # 1 of 20
    assert decide_existence(0, 19, runs=3).outcome == "undecided"  # 3 of 22
    assert decide_existence(0, 19, runs=1, parts=2).outcome == "undecided"


def test_what_a_number_of_seeds_can_decide_about_a_share() -> None:
    half = Limits(0.5, math.inf)
    assert possible_outcomes(half, 4) == set()
    assert possible_outcomes(half, 5) == {"reproduced", "contradicted"}
    assert possible_outcomes(half, 5, parts=2) == {"reproduced"}
    assert possible_outcomes(Limits(0.7, math.inf), 5) == {"contradicted"}
    assert possible_outcomes(Limits(0.1, 0.9), 10) == {"reproduced"}
