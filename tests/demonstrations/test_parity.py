"""Parity finds no difference where there is none, and finds each that is put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

from seedbed.demonstrations import layer_versions
from seedbed.demonstrations.parity import Options, demonstrate, difference
from seedbed.models import attention
from seedbed.models.layers import FeedForward
from seedbed.observations import condition_text
from seedbed.randomness import stream

LAYERS = {
    "attention", "causal-attention", "cross-attention", "feed-forward-gelu", "feed-forward-relu", "layer-norm",
    "encoder-pre", "encoder-post", "decoder-pre", "decoder-post", "language-model", "rnn", "gru", "lstm",
}  # fmt: skip
#: Layers of which no study has one of ours.
FOREIGN = {"layer-norm", "decoder-post"}


def measured(seed: int = 0, options: Options | None = None) -> dict[str, float]:
    rows = list(demonstrate(options or Options(), rng=stream(seed, "parity")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}
    assert len(named) == len(rows)
    return named


def between(rows: Mapping[str, float], layer: str, pair: str, of: str) -> float:
    return rows[f"difference between={pair};layer={layer};of={of}"]


@pytest.fixture(scope="module")
def rows() -> dict[str, float]:
    return measured()


def test_all_versions_of_all_layers_agree_in_double_precision(rows: dict[str, float]) -> None:
    found = {name: value for name, value in rows.items() if name.startswith(("difference", "weight_difference"))}
    assert max(found.values()) < 1e-12
    pairs = 2 * (3 * len(LAYERS - FOREIGN) + len(FOREIGN)) + 3
    assert len(found) == pairs


def test_single_precision_agrees_to_its_digits(rows: dict[str, float]) -> None:
    found = {name: value for name, value in rows.items() if name.startswith("single_difference")}
    assert {name.split("layer=")[1].split(";")[0] for name in found} == LAYERS
    assert 1e-9 < max(found.values()) < 1e-6


@pytest.mark.parametrize(
    ("lengths", "sources"),
    [((1,), (1,)), ((9, 1, 4), (2, 1, 7)), ((17, 3), (1, 20))],
    ids=["one", "three", "long"],
)
def test_documents_of_any_length_agree(lengths: tuple[int, ...], sources: tuple[int, ...]) -> None:
    found = measured(options=Options(lengths=lengths, source_lengths=sources))
    assert max(value for name, value in found.items() if name.startswith("difference")) < 1e-12


def test_shapes_are_pytorchs(rows: dict[str, float]) -> None:
    shapes = {name: value for name, value in rows.items() if "_shape" in name}
    assert shapes == {
        "linear_shape axis=rows": 16,
        "linear_shape axis=columns": 8,
        "in_proj_shape axis=rows": 24,
        "in_proj_shape axis=columns": 8,
    }
    assert rows["linear_difference"] < 1e-12


def test_a_wrong_output_of_ours_is_found_and_said_of_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FeedForward, "forward", lambda layer, hidden: layer.contract(layer.expand(hidden)))
    found = measured()
    for layer in ("feed-forward-gelu", "feed-forward-relu", "encoder-pre", "encoder-post", "language-model"):
        assert between(found, layer, "seedbed and numpy", "output") > 1e-3
        assert between(found, layer, "seedbed and torch", "output") > 1e-3
        assert between(found, layer, "torch and numpy", "output") < 1e-12
    assert between(found, "attention", "seedbed and numpy", "output") < 1e-12


def test_a_wrong_gradient_behind_a_right_output_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = attention._attend_backward

    def wrong(weights: torch.Tensor, *rest: torch.Tensor) -> None:
        right(weights, *rest)
        rest[-2].neg_()  # of the keys

    monkeypatch.setattr(attention, "_attend_backward", wrong)
    found = measured()
    for layer in ("attention", "causal-attention", "cross-attention", "encoder-pre", "decoder-pre"):
        assert between(found, layer, "seedbed and numpy", "gradient") > 1e-3
        assert between(found, layer, "seedbed and numpy", "output") < 1e-12


def test_a_look_ahead_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = layer_versions.batch_of
    monkeypatch.setattr(layer_versions, "batch_of", lambda lengths, causal: plain(lengths, False))
    found = measured()
    assert between(found, "causal-attention", "seedbed and numpy", "output") > 1e-3
    assert between(found, "attention", "seedbed and numpy", "output") < 1e-12


def test_a_difference_is_relative_to_the_largest_entry_of_the_second() -> None:
    assert difference(np.array([1.0, 2.5]), np.array([1.0, -2.0])) == 4.5 / 2


def test_seeds_draw_other_numbers(rows: dict[str, float]) -> None:
    assert measured() == rows
    assert measured(1) != rows


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(lengths=(3,)), r"source_lengths \[4, 6\]: expected one for each of lengths"),
        (lambda: Options(lengths=(), source_lengths=()), "expected at least one document"),
        (lambda: Options(lengths=(3, 0)), r"lengths \[3, 0\]: expected at least one document, and each from 1"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 8"),
        (lambda: Options(heads=0), "heads 0: expected a divisor of width 8"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
