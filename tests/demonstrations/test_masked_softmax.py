"""Masked weights, against SciPy and by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import softmax as softmax_of_scipy

from seedbed.demonstrations.masked_softmax import Options, demonstrate, softmax
from seedbed.observations import condition_text
from seedbed.randomness import stream


def rows(options: Options | None = None, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options or Options(), rng=stream(seed, "masks")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


def test_softmax_is_scipys_and_says_when_it_has_no_answer() -> None:
    scores = np.array([[0.5, -2, 1], [3, 3, -np.inf]])
    np.testing.assert_allclose(softmax(scores), softmax_of_scipy(scores, axis=1), rtol=1e-15)
    assert np.isnan(softmax(np.full(3, -np.inf))).all()


@pytest.mark.parametrize("rule", ["minus infinity", "penalty"])
def test_what_is_hidden_before_the_softmax_is_shared_out(rule: str) -> None:
    found = rows()
    assert found[f"hidden_weight mask={rule}"] == 0
    assert [found[f"row_sum mask={rule};query={query}"] for query in range(5)] == pytest.approx([1] * 5)
    assert found[f"weight key=0;mask={rule};query=0"] == 1


def test_what_is_hidden_after_the_softmax_is_lost() -> None:
    found = rows()
    lost = found["weight key=4;mask=none;query=3"]
    assert found["row_sum mask=multiplied after;query=3"] == pytest.approx(1 - lost)
    assert found["row_sum mask=multiplied after;query=4"] == pytest.approx(1)
    assert found["hidden_weight mask=none"] > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_row_that_sees_nothing_depends_on_how_it_is_told(seed: int) -> None:
    found = rows(seed=seed)
    assert found["nan_entries mask=minus infinity"] == 1
    assert "from_uniform mask=minus infinity" not in found
    assert found["from_uniform mask=penalty replaces"] == 0
    assert found["from_uniform mask=penalty added in 32 bits"] < 1e-6
    assert found["from_uniform mask=penalty added in 64 bits"] > 0.01
    assert found["from_unmasked mask=penalty added in 64 bits"] < 1e-6


def test_nan_reaches_all_positions_in_the_second_layer() -> None:
    found = rows(Options(tokens=4))
    assert [found[f"nan_rows layer={layer}"] for layer in (1, 2)] == [1, 4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(tokens=1), "tokens 1, width 4: expected at least 2 and 1"),
        (lambda: Options(width=0), "width 0"),
        (lambda: Options(penalty=1e9), "penalty 1000000000.0: expected far below 0"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
