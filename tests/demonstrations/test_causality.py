"""Dependences under masks, and that a look-ahead is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from seedbed.demonstrations import causality
from seedbed.demonstrations.causality import Options, demonstrate
from seedbed.models.encoder_decoder import DecoderLayer
from seedbed.observations import condition_text
from seedbed.randomness import stream

SMALL = Options(width=8, heads=2, inner=8, tokens=4, changed=2, source=2, influenced=3)


def rows(options: Options = SMALL, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options, rng=stream(seed, "causality")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    return rows()


def test_a_causal_mask_hides_what_comes_after(found: dict[str, float]) -> None:
    assert found["future_change mask=causal"] == found["ahead_largest mask=causal"] == 0
    assert found["future_change mask=none"] > 0.01
    assert found["ahead_smallest mask=none"] > 0.001
    norms = {name: value for name, value in found.items() if name.startswith("jacobian")}
    seen = {name for name, value in norms.items() if value > 0}
    causal = {f"jacobian key={key};mask=causal;query={query}" for query in range(4) for key in range(query + 1)}
    assert {name for name in seen if "causal" in name} == causal
    assert sum("none" in name for name in seen) == 16


def test_what_each_mask_lets_through_is_what_has_influence(found: dict[str, float]) -> None:
    for mask, expected in (("not before", [0, 1, 1]), ("not after", [1, 1, 0]), ("itself", [0, 1, 0])):
        assert [found[f"influences mask={mask};position={place}"] for place in range(3)] == expected


def test_only_the_lstm_that_reads_both_ways_looks_ahead(found: dict[str, float]) -> None:
    assert found["steps_before lstm=one direction"] == 0
    assert found["steps_before lstm=both directions"] > 0
    assert min(found[f"steps_after lstm={name}"] for name in ("one direction", "both directions")) > 0


def test_a_look_ahead_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = causality.batch_of
    monkeypatch.setattr(causality, "batch_of", lambda lengths, causal: plain(lengths, False))
    found = rows()
    assert found["future_change mask=causal"] > 0
    assert found["ahead_largest mask=causal"] > 0


def test_norms_are_those_of_the_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer that gives each output twice its input and three times the one behind it."""
    monkeypatch.setattr(DecoderLayer, "forward", lambda layer, x, *rest: 2 * x + 3 * torch.roll(x, -1, 0))
    found = rows()
    for query, key, factor in ((0, 0, 2), (0, 1, 3), (3, 0, 3), (1, 0, 0), (0, 2, 0)):
        norm = found[f"jacobian key={key};mask=none;query={query}"]
        assert norm == pytest.approx(factor * 8**0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(source=0), "source"),
        (lambda: Options(changed=6), "changed 6: expected from 1 and below tokens 6"),
        (lambda: Options(influenced=1), "influenced 1: expected at least 2"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
