"""Three memories, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations.memories import MEMORIES, Options, demonstrate, states, written
from seedbed.observations import condition_text
from seedbed.randomness import stream

SMALL = Options(steps=60, shown=(1, 2, 3, 4, 5, 12, 13, 20, 60), draws=2000)


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    rows = list(demonstrate(SMALL, rng=stream(0, "memories")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}
    assert len(named) == len(rows)
    return named


def test_a_one_is_halved_or_kept(found: dict[str, float]) -> None:
    for step in (4, 5, 12, 60):
        assert found[f"state memory=contraction;step={step};unit=1"] == 2.0 ** (3 - step)
        assert found[f"state memory=contraction;step={step};unit=2"] == 2.0 ** (4 - step)
        assert found[f"state memory=integrator;step={step};unit=1"] == 1
    assert found["state memory=contraction;step=3;unit=2"] == 0
    assert found["trace memory=contraction;step=60"] == 2.0**-56


def test_the_answer_is_right_while_both_units_are_above_the_threshold(found: dict[str, float]) -> None:
    assert [found[f"answer step={step}"] for step in (1, 3, 4, 12, 13, 60)] == [-1, -1, 1, 1, -1, -1]
    assert found["last_right_step"] == 12


def test_the_latch_rests_where_its_map_leaves_it(found: dict[str, float]) -> None:
    low, high = found["fixed_point start=0"], found["fixed_point start=1"]
    for point in (low, high):
        assert point == pytest.approx(1 / (1 + math.exp(5 - 10 * point)), rel=1e-12)
    assert low + high == pytest.approx(1, rel=1e-12)
    assert found["slope start=0"] == pytest.approx(10 * low * high, rel=1e-9)
    assert found["right_share memory=latch"] == 1


def test_gradients_are_products_of_slopes(found: dict[str, float]) -> None:
    assert found["log10_gradient memory=contraction;steps=50"] == pytest.approx(50 * math.log10(0.5))
    assert found["log10_gradient memory=integrator;steps=50"] == 0
    state = states(MEMORIES["latch"], written(4)[:, :1])[3] + 1e-30j
    for _ in range(10):
        state = MEMORIES["latch"](state, np.zeros(1))  # by a complex step, as exact as doubles are
    derivative = state.imag[0] / 1e-30
    assert found["log10_gradient memory=latch;steps=10"] == pytest.approx(math.log10(derivative), rel=1e-9)


def test_noise_adds_up_as_its_variances(found: dict[str, float]) -> None:
    for step in (1, 20, 60):
        expected = {"integrator": 0.05 * step**0.5, "contraction": 0.05 * ((1 - 0.25**step) / 0.75) ** 0.5}
        for memory, deviation in expected.items():
            formula = found[f"noise_deviation_formula memory={memory};step={step}"]
            assert formula == pytest.approx(deviation, rel=1e-9)
            assert found[f"noise_deviation memory={memory};step={step}"] == pytest.approx(deviation, rel=0.08)


def test_single_precision_halves_a_one_until_its_smallest_number(found: dict[str, float]) -> None:
    assert found["halvings"] == 150
    assert np.float32(2.0**-149) > 0
    assert (found["radius memory=contraction"], found["radius memory=integrator"]) == (0.5, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(steps=50), "shown .*: expected each from 1 to steps 50"),
        (lambda: Options(draws=1), "draws 1: expected at least 2"),
        (lambda: Options(noise=0), "noise 0: expected above 0"),
        (lambda: Options(threshold=-1), "threshold -1: expected above 0"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
