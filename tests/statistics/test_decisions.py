import math

import pytest

from seedbed.statistics.decisions import Decision, Figure, Limits, predicts, seeds_needed, within
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
    assert within(Mean.of(values), limits).outcome == outcome


def test_equivalence_asks_for_the_90_percent_interval_inside_the_margin() -> None:
    mean = Mean(0.0, 1.0, 5)
    inside = mean.interval(0.9).high
    assert within(mean, Limits(-inside, inside)).outcome == "reproduced"
    assert within(mean, Limits(-inside * 0.999, inside)).outcome == "undecided"
    assert mean.interval(0.95).high > inside


def test_many_parts_make_a_contradiction_harder_and_a_reproduction_no_easier() -> None:
    below, above = Mean(0.5, 0.4, 5), Mean(1.5, 0.4, 5)
    assert within(below, ABOVE).outcome == "contradicted"
    assert within(below, ABOVE, parts=10).outcome == "undecided"
    assert within(above, ABOVE, parts=10).outcome == within(above, ABOVE).outcome == "reproduced"


def test_one_seed_decides_nothing_and_a_certain_number_does() -> None:
    assert within(Share(1, 1), Limits(0.5, 1.0)).outcome == "undecided"
    assert within(Mean.of([5.0], seeded=False), ABOVE).outcome == "reproduced"
    assert predicts(Mean.of([5.0]), Figure(5.0, margin=1.0)).outcome == "undecided"
    assert predicts(Spread.of([5.0]), Figure(5.0, margin=1.0, runs=2)).outcome == "undecided"


def test_five_of_five_seeds_are_more_than_half_and_four_are_not_enough() -> None:
    half = Limits(0.5, math.inf)
    found = [within(Share(passed, 5), half).outcome for passed in range(6)]
    assert found == ["contradicted", "undecided", "undecided", "undecided", "undecided", "reproduced"]


@pytest.mark.parametrize(
    ("figure", "outcome"),
    [
        (Figure(3.0, margin=1.0), "reproduced"),
        (Figure(3.0, margin=0.1), "undecided"),
        (Figure(9.0, margin=1.0), "contradicted"),
        (Figure(9.0, margin=0.1), "contradicted"),
    ],
)
def test_a_figure_outside_the_range_is_off_and_a_wide_range_says_little(figure: Figure, outcome: str) -> None:
    assert predicts(Mean(3.0, 0.2, 5), figure).outcome == outcome


def test_rounding_and_noise_of_a_figure_widen_the_range() -> None:
    certain = Mean.of([0.4460], seeded=False)
    assert predicts(certain, Figure(0.4455, margin=0.1, rounding=0.0005)).outcome == "reproduced"
    assert predicts(certain, Figure(0.4454, margin=0.1, rounding=0.0005)).outcome == "contradicted"
    assert predicts(Mean.of([990.0], seeded=False), Figure(980, margin=98, noise=36)).outcome == "reproduced"
    assert predicts(Mean.of([1060.0], seeded=False), Figure(980, margin=98, noise=36)).outcome == "contradicted"


def test_the_number_of_seeds_needed_is_the_least_that_decides() -> None:
    mean = Mean(1.1, 0.4, 5)
    needed = seeds_needed(lambda n: within(mean, ABOVE, n=n), mean.n)
    assert within(mean, ABOVE, n=needed).outcome == "reproduced"
    assert within(mean, ABOVE, n=needed - 1).outcome == "undecided"


def test_more_than_100_seeds_and_one_seed_are_told_apart() -> None:
    hopeless: Decision = within(Mean(1.0, 1.0, 5), ABOVE)
    assert seeds_needed(lambda n: hopeless, 5) == 101
    assert seeds_needed(lambda n: hopeless, 1) == 2
