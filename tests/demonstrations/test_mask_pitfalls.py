"""The meanings of True, and what is found if an implementation changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from seedbed.demonstrations import mask_pitfalls
from seedbed.demonstrations.mask_pitfalls import Options, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream

MODULE, FUNCTION = "function=MultiheadAttention", "function=scaled_dot_product_attention"


def rows(options: Options | None = None, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options or Options(), rng=stream(seed, "pitfalls")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize("seed", range(3))
def test_each_function_has_its_own_meaning(seed: int) -> None:
    found = rows(seed=seed)
    assert found[f"difference {MODULE};true=do not look"] < 1e-12
    assert found[f"difference {FUNCTION};true=look here"] < 1e-12
    assert found[f"difference {MODULE};true=look here"] > 0.1
    assert found[f"difference {FUNCTION};true=do not look"] > 0.1


def test_only_the_last_row_of_the_wrong_mask_is_no_number() -> None:
    found = rows(Options(tokens=3))
    for meaning, expected in (("look here", [0, 0, 1]), ("do not look", [0, 0, 0])):
        assert [found[f"nan_rows {MODULE};position={place};true={meaning}"] for place in range(3)] == expected
        assert found[f"errors {MODULE};true={meaning}"] == 0


def test_a_mask_that_is_refused_is_an_error() -> None:
    attention = nn.MultiheadAttention(4, 1, batch_first=True)
    vectors = torch.zeros(1, 3, 4)
    assert mask_pitfalls._refused(attention, vectors, torch.zeros(2, 2, dtype=torch.bool))
    assert not mask_pitfalls._refused(attention, vectors, torch.zeros(3, 3, dtype=torch.bool))


def test_our_weights_of_a_query_that_sees_nothing_are_0() -> None:
    found = rows()
    assert found["blind_weight"] == 0
    assert found["seeing_weight"] == pytest.approx(1)


def test_the_mask_of_a_target_has_minus_infinity_above_the_diagonal() -> None:
    found = rows(Options(tokens=4))
    counts = {name: value for name, value in found.items() if name.startswith("tgt_entries") and value}
    assert counts == {
        "tgt_entries added=minus infinity;place=above the diagonal": 6,
        "tgt_entries added=zero;place=elsewhere": 10,
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(sequences=0), "sequences"),
        (lambda: Options(tokens=1), "tokens 1: expected at least 2"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
