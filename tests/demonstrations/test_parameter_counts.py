"""Numbers of parameters, as published with the weights of these networks or counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from seedbed.demonstrations.parameter_counts import Options, count, demonstrate
from seedbed.observations import condition_text

#: Of the published weights, each with one table for tokens and output.
PUBLISHED = {
    "gpt2-small gpt layers 12 width 768 heads 12 vocabulary 50257 positions 1024": 124_439_808,
    "gpt2-medium gpt layers 24 width 1024 heads 16 vocabulary 50257 positions 1024": 354_823_168,
    "gpt2-large gpt layers 36 width 1280 heads 20 vocabulary 50257 positions 1024": 774_030_080,
    "gpt2-xl gpt layers 48 width 1600 heads 25 vocabulary 50257 positions 1024": 1_557_611_200,
    "bert-base bert layers 12 width 768 heads 12 vocabulary 30522 positions 512": 109_482_240,
    "bert-large bert layers 24 width 1024 heads 16 vocabulary 30522 positions 512": 335_141_888,
}


def rows(
    *describe: str, widths: tuple[int, ...] = (), heads: tuple[int, ...] = (), **more: object
) -> dict[str, float]:
    options = Options(describe, widths, heads, **more)  # type: ignore[arg-type]
    found = list(demonstrate(options))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(("text", "number"), PUBLISHED.items(), ids=[text.split()[0] for text in PUBLISHED])
def test_networks_have_as_many_parameters_as_the_published_weights(text: str, number: int) -> None:
    name = text.split()[0]
    found = rows(text)
    assert found[f"parameters network={name}"] == found[f"parameters_formula network={name}"] == number
    parts = [value for key, value in found.items() if key.startswith("part_parameters")]
    assert sum(parts) == number


def test_gpt_3_takes_no_memory() -> None:
    """Its weights would be 700 GB."""
    found = rows("gpt-3 gpt layers 96 width 12288 heads 96 vocabulary 50257 positions 2048 reported 175000000000")
    assert found["parameters network=gpt-3"] == 174_604_259_328
    assert found["over_reported network=gpt-3"] == pytest.approx(-0.00226, abs=1e-5)
    assert found["embedding_share network=gpt-3"] == pytest.approx((50257 + 2048) * 12288 / 174_604_259_328)


def test_an_encoder_decoder_is_compared_with_a_decoder_alone() -> None:
    sizes = "layers 8 width 512 heads 8 vocabulary 32000"
    found = rows(f"one gpt {sizes}", f"two encoder-decoder {sizes}")
    assert found["parameters network=one"] == 41_604_096
    assert found["parameters network=two"] == found["parameters_formula network=two"] == 75_237_376
    assert found["blocks_ratio"] == (3_152_384 + 4_204_032) / 3_152_384
    assert found["total_ratio"] == 75_237_376 / 41_604_096
    assert "blocks_ratio" not in rows(f"one gpt {sizes}")


@pytest.mark.parametrize("kind", ["gpt", "encoder-decoder", "transformer", "bert"])
@pytest.mark.parametrize(
    "sizes", ["layers 1 width 6 heads 3 vocabulary 5", "layers 3 width 20 heads 4 vocabulary 11"]
)
def test_formulas_are_right_for_other_sizes(kind: str, sizes: str) -> None:
    found = rows(f"it {kind} {sizes} positions 7")
    assert found["parameters network=it"] == found["parameters_formula network=it"]


def test_layers_have_the_parts_of_the_exercise() -> None:
    found = rows(widths=(512,), heads=(1, 8, 3))
    parts = {
        "attention": 4 * 512 * 512 + 4 * 512,
        "feed-forward": 2 * 512 * 2048 + 2048 + 512,
        "norms": 4 * 512,
        "encoder-layer": 3_152_384,
        "torch-encoder-layer": 3_152_384,
        "cross-attention": 1_050_624,
        "cross-norm": 1024,
        "decoder-layer": 4_204_032,
        "torch-decoder-layer": 4_204_032,
    }
    assert {part: found[f"layer_parameters part={part};width=512"] for part in parts} == parts
    assert found["decoder_extra width=512"] == 1_051_648
    of_heads = {name: value for name, value in found.items() if name.startswith("attention_parameters ")}
    assert len(of_heads) == 4  # 3 heads do not divide the width
    assert set(of_heads.values()) == {1_050_624}


def test_cells_have_one_set_of_weights_for_each_gate() -> None:
    found = rows(cells=("rnn 100 200", "lstm 100 200", "gru 3 5"))
    for cell, number in (("rnn", 60_400), ("lstm", 241_600)):
        for module in ("torch", "seedbed"):
            assert found[f"cell_parameters cell={cell};hidden=200;inputs=100;module={module}"] == number
    assert found["cell_parameters_formula cell=gru;hidden=5;inputs=3"] == 3 * (15 + 25 + 10)


def test_what_is_shared_is_counted_once() -> None:
    layer = nn.Linear(2, 3)
    assert count(layer, layer) == count(nn.ModuleList([layer, layer])) == 9
    with torch.device("meta"):
        assert count(nn.Linear(10**6, 10**6)) == 10**12 + 10**6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rows("it gtp layers 1"), "describe: 'it gtp layers 1': expected a name and one of gpt"),
        (lambda: rows("it"), "expected a name and one of"),
        (lambda: rows(""), "expected a name and one of"),
        (lambda: rows("it gpt layers"), "expected pairs of a size and a number from 1"),
        (lambda: rows("it gpt layers x"), "expected pairs of a size and a number from 1"),
        (lambda: rows("it gpt layers 0"), "expected pairs of a size and a number from 1"),
        (lambda: rows("it gpt layers 1 width 4 heads 1"), "gpt needs vocabulary"),
        (lambda: rows("it bert layers 1 width 4 heads 1 vocabulary 3"), "bert needs positions"),
        (lambda: rows("it gpt layers 1 width 4 heads 1 vocabulary 3 inner 5"), "gpt has no inner"),
        (lambda: rows(cells=("lsmt 1 2",)), "cells: 'lsmt 1 2': expected one of rnn, gru, lstm and two widths"),
        (lambda: rows(cells=("lstm 1",)), "and two widths"),
        (lambda: rows(widths=(0,)), r"widths \[0\]"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
