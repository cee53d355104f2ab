"""Padded sentences, and that a mask which is missing is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.padding import Options, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream


def rows(options: Options | None = None, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options or Options(), rng=stream(seed, "padding")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(("words", "padding"), [(3, 3), (1, 4), (5, 1)])
def test_with_its_mask_padding_changes_nothing(words: int, padding: int) -> None:
    found = rows(Options(words=words, padding=padding))
    assert [found[f"padding_weight mask=padding;query={one}"] for one in range(words + padding)] == [0] * (
        words + padding
    )
    assert found["alone_difference mask=padding"] < 1e-12
    assert found["swap_change mask=padding;of=words"] == 0
    assert found["swap_change mask=padding;of=padding"] > 0.01


def test_without_the_mask_padding_is_read_as_words() -> None:
    found = rows()
    assert min(found[f"padding_weight mask=none;query={query}"] for query in range(6)) > 0
    assert found["alone_difference mask=none"] > 0.1
    assert found["swap_change mask=none;of=words"] > 0.1


def test_a_decoder_needs_all_masks_but_that_of_a_padding_behind_its_words() -> None:
    found = rows()
    small = [found[f"decoder_difference left_out={name}"] for name in ("nothing", "target padding")]
    large = [found[f"decoder_difference left_out={name}"] for name in ("look-ahead", "source padding")]
    assert max(small) < 1e-12
    assert min(large) > 0.01


def test_a_loss_that_ignores_padding_has_no_gradient_there() -> None:
    found = rows()
    for metric in ("loss_change", "padding_gradient"):
        assert found[f"{metric} ignored=padding"] == 0
        assert found[f"{metric} ignored=nothing"] > 0.001


def test_a_mask_without_effect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = numpy_layers.softmax
    monkeypatch.setattr(numpy_layers, "softmax", lambda scores, allowed=None: plain(scores))
    found = rows()
    assert found["padding_weight mask=padding;query=0"] > 0
    assert found["alone_difference mask=padding"] > 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(padding=0), "padding"),
        (lambda: Options(vocabulary=1), "vocabulary 1: expected padding and at least one word"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
