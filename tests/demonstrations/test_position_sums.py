"""What networks read with and without positions, where tables end, and the output that networks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from seedbed.demonstrations import learned_positions, position_sums, shared_output
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream


def drawn(demonstrate: Callable[..., Iterable[Observation]], options: object, seed: int = 0) -> dict[str, float]:
    return by_name(demonstrate(options, rng=stream(seed, "positions")))


def by_name(observations: Iterable[Observation]) -> dict[str, float]:
    found = list(observations)
    named = {f"{one.metric} {condition_text(one.condition)}": float(one.value) for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize("seed", range(3))
def test_only_positions_tell_equal_words_and_orders_apart(seed: int) -> None:
    found = drawn(position_sums.demonstrate, position_sums.Options(), seed)
    for name, value in found.items():
        if name.startswith(("sum_difference", "word_difference")):
            assert value < 1e-7
        if name.startswith(("twin_distance", "score_difference")):
            assert (value < 1e-12) == ("positions=none" in name)
        if name.startswith("order_change"):
            assert (value < 1e-12) == ("network=transformer-none" in name)


def test_twins_differ_by_their_positions() -> None:
    """At width 2, positions 0 and 4 are (0, 1) and (sin 4, cos 4)."""
    found = drawn(position_sums.demonstrate, position_sums.Options(width=2, heads=1))
    assert found["twin_distance after=input;positions=sinusoidal"] == pytest.approx(1 - np.cos(4), rel=1e-6)


def test_identical_words_share_alike() -> None:
    found = drawn(position_sums.demonstrate, position_sums.Options(identical=7))
    for of in ("smallest", "largest"):
        assert found[f"identical_weight of={of};positions=none"] == pytest.approx(1 / 7, rel=1e-12)
    assert found["identical_weight of=largest;positions=sinusoidal"] > 1 / 7


def test_a_table_ends_and_sinusoids_do_not() -> None:
    options = learned_positions.Options(rows=3, width=4, tokens=(1, 3, 4, 100))
    found = by_name(learned_positions.demonstrate(options))
    assert [found[f"refused positions=learned;tokens={tokens}"] for tokens in options.tokens] == [0, 0, 1, 1]
    assert not any(found[f"refused positions=sinusoidal;tokens={tokens}"] for tokens in options.tokens)
    assert [found[f"table_shape axis={axis}"] for axis in ("rows", "columns")] == [3, 4]
    assert [found[f"moved_rows tokens={tokens}"] for tokens in (1, 3)] == [1, 3]
    assert "moved_rows tokens=4" not in found
    assert all(found[f"sinusoid_difference tokens={tokens}"] < 1e-7 for tokens in options.tokens)


@pytest.mark.parametrize("seed", range(3))
def test_networks_share_output_and_loss(seed: int) -> None:
    found = drawn(shared_output.demonstrate, shared_output.Options(), seed)
    assert len(found) == 9
    assert all(value < 1e-12 for value in found.values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: position_sums.Options(width=9), "width 9: expected an even number"),
        (lambda: position_sums.Options(heads=3), "heads 3: expected a divisor of width 16"),
        (lambda: position_sums.Options(identical=0), "identical 0"),
        (lambda: learned_positions.Options(rows=0), "rows 0"),
        (lambda: learned_positions.Options(tokens=()), "tokens 0"),
        (lambda: shared_output.Options(lengths=()), "length 0"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
