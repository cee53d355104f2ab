import math
from itertools import pairwise

import pytest

from seedbed.training.schedule import constant, cosine

STEPS, PEAK, WARM_UP = 1500, 0.003, 200
RATES = [cosine(step, STEPS, PEAK, WARM_UP) for step in range(STEPS)]


def test_the_rate_rises_linearly_to_the_peak() -> None:
    assert RATES[0] == pytest.approx(PEAK / WARM_UP)
    assert RATES[99] == pytest.approx(PEAK / 2)
    assert RATES[199] == PEAK == max(RATES)


def test_the_rate_falls_as_a_half_cosine_to_zero() -> None:
    assert RATES[200 + 650 - 1] == pytest.approx(PEAK / 2)
    assert RATES[200 + 325 - 1] == pytest.approx(PEAK * (1 + math.cos(math.pi / 4)) / 2)
    assert RATES[-1] == 0
    assert all(later < earlier for earlier, later in pairwise(RATES[199:]))


def test_without_warm_up_the_rate_starts_one_step_below_the_peak() -> None:
    assert cosine(0, 10, 1.0, 0) == pytest.approx((1 + math.cos(math.pi / 10)) / 2)


def test_a_training_shorter_than_its_warm_up_only_warms_up() -> None:
    assert [cosine(step, 3, 1.0, 10) for step in range(3)] == pytest.approx([0.1, 0.2, 0.3])


def test_a_constant_rate_stays_at_the_peak_after_its_warm_up() -> None:
    assert [constant(step, 6, 1.0, 4) for step in range(6)] == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])
    assert constant(0, 6, 1.0, 0) == 1.0
