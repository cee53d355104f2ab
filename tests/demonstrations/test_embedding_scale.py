"""Lengths of embeddings and of position vectors, against their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from seedbed.demonstrations.embedding_scale import Options, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream


def rows(options: Options) -> dict[str, float]:
    found = demonstrate(options, rng=stream(0, "embeddings"))
    return {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}


def test_a_position_has_as_many_ones_as_pairs() -> None:
    assert rows(Options(width=64))["position_norm "] == pytest.approx(math.sqrt(32), abs=1e-6)


def test_lengths_follow_the_deviation_and_the_factor() -> None:
    found = rows(Options(width=16, vocabulary=4000))
    for deviation, scaled, length in (("one", "no", 4), ("one", "yes", 16), ("root", "no", 1), ("root", "yes", 4)):
        of = f"deviation={deviation};scaled={scaled}"
        assert found[f"embedding_norm {of}"] == pytest.approx(length, rel=0.03)
        assert found[f"norm_ratio {of}"] == pytest.approx(length / math.sqrt(8), rel=0.03)


def test_a_column_changes_by_its_angle() -> None:
    found = rows(Options(width=2, positions=2))
    assert found["column_change pair=0"] == pytest.approx((math.sin(1) + 1 - math.cos(1)) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(width=3), "width 3: expected an even number"),
        (lambda: Options(vocabulary=0), "vocabulary"),
        (lambda: Options(positions=1), "positions 1: expected at least 2"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
