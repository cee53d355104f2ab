"""The head that looks back, against the softmax of cosines; guesses of a reversal, against what is expected."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations import previous_token_head, reversal_guess
from seedbed.observations import condition_text
from seedbed.randomness import stream


def head(options: previous_token_head.Options) -> dict[str, float]:
    rows = list(previous_token_head.demonstrate(options))
    return {f"{one.metric} {condition_text(one.condition)}": float(one.value) for one in rows}


def test_weights_are_the_softmax_of_cosines() -> None:
    """At width 2 the score of a key is β cos(key − query + 1) / sqrt(2)."""
    options = previous_token_head.Options(width=2, positions=(3,), betas=(2,), shown=2, queries=3)
    found = head(options)
    for query in range(3):
        scores = np.exp(2 * np.cos(np.arange(3) - query + 1) / np.sqrt(2))
        for key, weight in enumerate(scores / scores.sum()):
            assert found[f"shown_weight key={key};query={query}"] == pytest.approx(weight, rel=1e-6)
    assert found["weight beta=2;head=shifted;positions=3;to=before"] == found["shown_weight key=0;query=1"]


def test_without_the_shift_a_position_prefers_itself() -> None:
    found = head(previous_token_head.Options())
    for beta in (1, 2, 4, 8, 16):
        of = f"beta={beta};head={{}};positions=20"
        assert found[f"hits {of.format('plain')}"] == 0
        assert found[f"hits {of.format('shifted')}"] == 19
        plain, shifted = (f"weight {of.format(name)};to=" for name in ("plain", "shifted"))
        assert found[f"{plain}itself"] > found[f"{plain}before"]
        assert found[f"{shifted}before"] > found[f"{shifted}itself"] > found[f"{shifted}after"]


@pytest.mark.parametrize(("guess", "expected"), [("any", 0.1), ("read", 1 / 16 + 15 / 16 / 10)])
def test_guesses_are_right_as_often_as_expected(guess: str, expected: float) -> None:
    """A symbol that was read is the right one itself, or an equal one by chance."""
    options = reversal_guess.Options(sequences=20000)
    found = {one.condition["guess"]: one for one in reversal_guess.demonstrate(options, rng=stream(0, "guess"))}
    assert found[guess].value == pytest.approx(expected, abs=0.004)
    assert found["commonest"].value > found["read"].value


def test_sure_guesses() -> None:
    one_symbol = reversal_guess.demonstrate(reversal_guess.Options(symbols=1), rng=stream(0, "guess"))
    assert [one.value for one in one_symbol] == [1, 1, 1]
    one_long = reversal_guess.Options(symbols=1000, length=1)
    found = {one.condition["guess"]: one.value for one in reversal_guess.demonstrate(one_long, rng=stream(0, "g"))}
    assert found["read"] == found["commonest"] == 1
    assert found["any"] < 0.05


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: previous_token_head.Options(shown=3), r"shown 3: expected one of betas"),
        (lambda: previous_token_head.Options(positions=(2,)), "positions 2: expected at least 3"),
        (lambda: previous_token_head.Options(width=5), "width 5"),
        (lambda: reversal_guess.Options(length=0), "length 0"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
