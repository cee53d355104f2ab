"""Derivatives of softmax, against two keys by hand and finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations.softmax_saturation import Options, demonstrate, derivatives
from seedbed.observations import condition_text


def rows(options: Options) -> dict[str, float]:
    found = list(demonstrate(options))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found) < 400
    return named


def test_derivatives_are_those_of_small_differences() -> None:
    scores, step = np.array([0.3, -1.0, 2.0]), 1e-6

    def weights(given: np.ndarray) -> np.ndarray:
        return np.exp(given) / np.exp(given).sum()

    for place, column in enumerate(derivatives(scores).T):
        moved = step * np.eye(3)[place]
        assert column == pytest.approx((weights(scores + moved) - weights(scores - moved)) / (2 * step), abs=1e-8)


def test_two_keys_are_a_sigmoid() -> None:
    found = rows(Options(gaps=(2.0,), keys=(2,)))
    p = 1 / (1 + math.exp(-2))
    assert found["weight_ratio gap=2;keys=2"] == pytest.approx(math.exp(2))
    assert found["other_derivative gap=2;keys=2"] == pytest.approx(p * (1 - p))
    assert found["jacobian_norm gap=2;keys=2"] == pytest.approx(2 * p * (1 - p))
    assert found["uniform_entropy keys=2"] == pytest.approx(math.log(2))
    # Values 0 and 1: what is gathered is 1 - p, its slope by a score p (1 - p); of either key, once for each
    # entry.
    assert found["projection_gradient gap=2;of=query"] == pytest.approx(math.sqrt(2) * p * (1 - p))
    assert found["projection_gradient gap=2;of=key"] == pytest.approx(2 * math.sqrt(2) * p * (1 - p))


def test_the_example_by_hand() -> None:
    found = rows(Options(scores=(0.0, math.log(3)), factors=(1.0, 2.0), lengths=(0.0, math.log(5))))
    assert found["max_weight factor=1"] == pytest.approx(3 / 4)
    assert found["argmax_distance factor=2"] == pytest.approx(1 / 10)
    assert found["word_weight length=0;word=ripe"] == pytest.approx(1 / 6)
    assert found[f"word_weight length={math.log(5)};word=she"] == pytest.approx(5 / 10)
    assert found["onehot_jacobian "] == found["argmax_change "] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(gaps=(-1.0,)), "gaps -1: expected at least 0"),
        (lambda: Options(keys=(1,)), "keys 1: expected at least 2"),
        (
            lambda: Options(scores=(1.0, 1.0)),
            r"scores \[1.0, 1.0\]: expected two or more, one of them the largest",
        ),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
