"""What attention knows of order, and the permutations that show it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations import permutation_equivariance
from seedbed.demonstrations.permutation_equivariance import Options, cycle, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream


def rows(seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(Options(), rng=stream(seed, "order")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize("length", [2, 3, 6])
def test_a_permutation_moves_everything(length: int) -> None:
    for seed in range(20):
        order = cycle(length, stream(seed, "cycle"))
        assert sorted(order) == list(range(length))
        assert (order != np.arange(length)).all()


@pytest.mark.parametrize("seed", range(3))
def test_only_without_mask_and_positions_order_is_nothing(seed: int) -> None:
    found = rows(seed)
    large = [
        found[f"difference {name}"] for name in ("mask=causal;positions=none", "mask=none;positions=sinusoidal")
    ]
    large.append(found["attention_difference positions=sinusoidal"])
    small = [found["difference mask=none;positions=none"], found["attention_difference positions=none"]]
    assert min(large) > 0.01
    assert max(*small, found["softmax_difference"]) < 1e-12


def test_a_swap_is_seen_by_those_that_see_one_of_the_two() -> None:
    found = rows()
    changes = [found[f"swap_change output={output};positions=none"] for output in range(4)]
    assert changes[0] == 0
    assert min(changes[1:3]) > 0.01
    assert changes[3] < 1e-12
    assert found["swap_change output=3;positions=sinusoidal"] > 0.001


def test_attention_is_that_of_the_case_by_hand() -> None:
    """The first word asks for the second, with scores 0 and log 3; values are the words twice."""
    words = np.array([[1.0, 0], [0, 1]])
    root = np.sqrt(2)
    query = np.array([[0, np.log(3) * root], [0, 0]])
    found = permutation_equivariance._attention(words, np.array([query, np.eye(2), 2 * np.eye(2)]))
    np.testing.assert_allclose(found, [[0.5, 1.5], [1, 1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(layers=0), "layers"),
        (lambda: Options(width=9, heads=3), "width 9: expected an even multiple of heads 3"),
        (lambda: Options(heads=3), "width 16: expected an even multiple of heads 3"),
        (lambda: Options(swapped=3), "swapped 3: expected at least 2 and 4"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
