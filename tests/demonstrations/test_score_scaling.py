"""Scores and their softmax against cases by hand and a plain loop."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations.score_scaling import Options, demonstrate, entropy, jacobian_norm
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream

SMALL = Options(widths=(4, 64), keys=(2, 16), queries=400, model_width=64, head_width=16, inputs=(16,))


def rows(options: Options, seed: int = 0) -> dict[str, Observation]:
    found = list(demonstrate(options, rng=stream(seed, "scores")))
    named = {f"{one.metric} {condition_text(one.condition)}": one for one in found}
    assert len(named) == len(found) < 450
    return named


@pytest.mark.parametrize("weights", [[1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.2, 0.1]])
def test_norm_and_entropy_are_those_of_the_matrix(weights: list[float]) -> None:
    p = np.array(weights)
    matrix = np.diag(p) - np.outer(p, p)
    assert jacobian_norm(p[None])[0] == pytest.approx(np.linalg.norm(matrix), abs=1e-12)
    assert entropy(p[None])[0] == pytest.approx(-sum(x * math.log(x) for x in weights if x), abs=1e-12)


def test_the_divisors_are_one_the_root_and_the_width() -> None:
    found = rows(SMALL)
    for width in (4, 64):
        by = [found[f"score_deviation d_k={width};divisor={one}"].value for one in ("none", "root", "width")]
        assert by[0] == pytest.approx(by[1] * width**0.5) == pytest.approx(by[2] * width)
        assert by[1] == pytest.approx(1, abs=0.15)
    assert (
        found["max_weight d_k=64;divisor=none;keys=2"].value > found["max_weight d_k=64;divisor=root;keys=2"].value
    )


def test_two_keys_have_the_weights_of_a_sigmoid() -> None:
    """With two keys that score s apart the norm is 2 p (1 - p), at most 1/2."""
    p = 1 / (1 + math.exp(-3))
    assert jacobian_norm(np.array([[p, 1 - p]]))[0] == pytest.approx(2 * p * (1 - p))


def test_components_of_any_deviation_are_divided_away() -> None:
    found = rows(SMALL)
    for sigma in ("0.5", "1", "2"):
        assert found[f"divided_deviation d_k=64;sigma={sigma}"].value == pytest.approx(1, abs=0.1)
        assert found[f"term_variance sigma={sigma}"].value == pytest.approx(float(sigma) ** 4, rel=0.1)


def test_projections_have_the_variance_of_their_rule() -> None:
    found = rows(SMALL)
    assert found["component_variance initial=variance"].value == pytest.approx(1, abs=0.15)
    assert found["component_variance initial=pytorch"].value == pytest.approx(1 / 3, abs=0.05)
    assert found["attended_share initial=pytorch"].value > found["attended_share initial=variance"].value


def test_larger_query_weights_replace_the_divisor_until_a_step() -> None:
    found = rows(SMALL)
    assert found["output_change steps=0"].value < 1e-12
    assert found["output_change steps=1"].value > 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(widths=()), "widths 0: expected at least 1"),
        (lambda: Options(keys=(1,)), "keys 1: expected at least 2"),
        (lambda: Options(queries=0), "queries"),
        (lambda: Options(deviations=(0.0,)), r"deviations \[0.0\]: expected each above 0"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
