"""Norms in two batches, against cases by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seedbed.demonstrations.layer_norm import Options, demonstrate
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream


def rows(options: Options, seed: int = 0) -> dict[str, Observation]:
    found = list(demonstrate(options, rng=stream(seed, "norms")))
    named = {f"{one.metric} {condition_text(one.condition)}": one for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize("seed", range(3))
def test_only_batch_norm_depends_on_the_batch(seed: int) -> None:
    for name, one in rows(Options(), seed).items():
        if one.metric == "change":
            assert (one.value == 0) == ("norm=layer" in name)
        if one.metric == "formula_difference":
            assert one.value < 1e-12
    found = rows(Options(), seed)
    assert found["mode_change norm=layer"].value == 0
    assert found["mode_change norm=batch"].value > 0
    assert [found[f"one_word_refused norm={norm}"].value for norm in ("layer", "batch")] == [0, 1]


def test_a_change_is_no_larger_than_the_numbers_of_a_column_allow() -> None:
    """Two sentences of a word and a padding are four numbers, none further from their mean than the root of 3."""
    options = Options(width=50, words=1, padding=1, batches=(2,))
    found = [rows(options, seed)["change norm=batch;of=mates;sentences=2"].value for seed in range(3)]
    assert all(1 < value < 2 * 3**0.5 for value in found)


def test_larger_batches_are_steadier() -> None:
    of = "change norm=batch;of=mates;sentences="
    means = [
        sum(rows(Options(batches=(number,)), seed)[f"{of}{number}"].value for seed in range(10))
        for number in (2, 64)
    ]
    assert means[0] > 2 * means[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(words=0), "words"),
        (lambda: Options(batches=(1,)), r"batches \[1\]: expected at least one, each of 2 or more sentences"),
        (lambda: Options(batches=()), r"batches \[\]: expected at least one"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
