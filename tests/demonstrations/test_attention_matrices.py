"""Attention in matrices: laws hold for any sizes, and what is hand-set does what it says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.attention_matrices import Options, attend, by_words, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream


def named(options: Options, seed: int) -> dict[str, float]:
    rows = list(demonstrate(options, rng=stream(seed, "matrices")))
    found = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_both_ways_are_softmax_over_scaled_products(causal: bool) -> None:
    query, key, value = torch.randn(3, 5, 4, dtype=torch.double)
    scores = (query @ key.T).numpy() / 2
    weights = numpy_layers.softmax(scores, np.tri(5, dtype=bool) if causal else None)
    outputs, found = attend(query, key, value, causal)
    assert np.allclose(found.numpy(), weights, atol=1e-14)
    assert np.allclose(outputs.numpy(), weights @ value.numpy(), atol=1e-14)
    assert torch.allclose(by_words(query, key, value, causal), outputs, atol=1e-14)


@pytest.mark.parametrize(("options", "seed"), [(Options(), 0), (Options(3, 4, 8, 2), 1), (Options(1, 9, 6, 1), 2)])
def test_laws_hold_up_to_rounding(options: Options, seed: int) -> None:
    found = named(options, seed)
    assert all(value < 1e-13 for name, value in found.items() if name.startswith("difference"))
    assert found["row_sum of=smallest;softmax=rows"] == pytest.approx(1)
    assert found["all_sum softmax=columns"] == pytest.approx(options.tokens)
    assert found["row_sum of=largest;softmax=columns"] > 1 > found["row_sum of=smallest;softmax=columns"]
    assert found["kept_order"] == found["own_best projections=one"] == 1
    assert found["own_best projections=two"] < 0.5
    assert found["beyond_values"] == found["context_change of=embedding"] == 0
    assert found["linearity map=query"] < 1e-12 < found["linearity map=attention"]
    assert found["middle_change"] < 1e-13
    assert found["swapped_weights"] < 1e-13


def test_tensors_have_the_sizes_of_the_options() -> None:
    found = named(Options(documents=3, tokens=5, width=8, heads=2), 0)
    axes = ("documents", "heads", "tokens", "last")
    assert [found[f"size axis={axis};of=weights"] for axis in axes] == [3, 2, 5, 5]
    assert [found[f"size axis={axis};of=queries"] for axis in axes] == [3, 2, 5, 4]
    assert found["size axis=tokens;of=cross-attention"] == 5
    assert [found[f"size axis={axis};of=W_Q of a head"] for axis in ("rows", "columns")] == [8, 4]


def test_heads_that_are_set_by_hand_look_where_they_should() -> None:
    found = named(Options(tokens=5), 0)
    for query in range(5):
        for key in range(5):
            previous, first = (
                found[f"head_weight head={head};key={key};query={query}"] for head in ("previous", "first")
            )
            assert previous == pytest.approx(float(key == max(0, query - 1)))
            assert first == pytest.approx(float(key == 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(heads=5), "heads 5: expected a divisor of width 12"),
        (lambda: Options(tokens=3), "tokens 3: expected at least 4"),
        (lambda: Options(documents=0), "documents 0: expected"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
