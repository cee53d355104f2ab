"""Numbers of parameters, as published with the weights of these networks or counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import nn

from seedbed.demonstrations.parameter_counts import Cell, Options, Sizes, count, demonstrate
from seedbed.observations import condition_text


def sizes(name: str, kind: str, layers: int, width: int, heads: int, vocabulary: int, **more: int) -> Sizes:
    own = {"name": name, "kind": kind, "layers": layers, "width": width, "heads": heads, "vocabulary": vocabulary}
    return cast("Sizes", own | more)


#: Of the published weights, each with one table for tokens and output.
PUBLISHED = [
    (sizes("gpt2-small", "gpt", 12, 768, 12, 50257, positions=1024), 124_439_808),
    (sizes("gpt2-medium", "gpt", 24, 1024, 16, 50257, positions=1024), 354_823_168),
    (sizes("gpt2-large", "gpt", 36, 1280, 20, 50257, positions=1024), 774_030_080),
    (sizes("gpt2-xl", "gpt", 48, 1600, 25, 50257, positions=1024), 1_557_611_200),
    (sizes("bert-base", "bert", 12, 768, 12, 30522, positions=512), 109_482_240),
    (sizes("bert-large", "bert", 24, 1024, 16, 30522, positions=512), 335_141_888),
]


def rows(
    *networks: Sizes, widths: tuple[int, ...] = (), heads: tuple[int, ...] = (), cells: tuple[Cell, ...] = ()
) -> dict[str, float]:
    options = Options(networks, widths, heads, cells)
    found = list(demonstrate(options))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(("network", "number"), PUBLISHED, ids=[network["name"] for network, _ in PUBLISHED])
def test_networks_have_as_many_parameters_as_the_published_weights(network: Sizes, number: int) -> None:
    name = network["name"]
    found = rows(network)
    assert found[f"parameters network={name}"] == found[f"parameters_formula network={name}"] == number
    parts = [value for key, value in found.items() if key.startswith("part_parameters")]
    assert sum(parts) == number


def test_gpt_3_takes_no_memory() -> None:
    """Its weights would be 700 GB."""
    found = rows(sizes("gpt-3", "gpt", 96, 12288, 96, 50257, positions=2048, reported=175_000_000_000))
    assert found["parameters network=gpt-3"] == 174_604_259_328
    assert found["over_reported network=gpt-3"] == pytest.approx(-0.00226, abs=1e-5)
    assert found["embedding_share network=gpt-3"] == pytest.approx((50257 + 2048) * 12288 / 174_604_259_328)


def test_an_encoder_decoder_is_compared_with_a_decoder_alone() -> None:
    one, two = (sizes(name, kind, 8, 512, 8, 32000) for name, kind in (("one", "gpt"), ("two", "encoder-decoder")))
    found = rows(one, two)
    assert found["parameters network=one"] == 41_604_096
    assert found["parameters network=two"] == found["parameters_formula network=two"] == 75_237_376
    assert found["blocks_ratio"] == (3_152_384 + 4_204_032) / 3_152_384
    assert found["total_ratio"] == 75_237_376 / 41_604_096
    assert "blocks_ratio" not in rows(one)


@pytest.mark.parametrize("kind", ["gpt", "encoder-decoder", "transformer", "bert"])
@pytest.mark.parametrize("numbers", [(1, 6, 3, 5), (3, 20, 4, 11)])
def test_formulas_are_right_for_other_sizes(kind: str, numbers: tuple[int, int, int, int]) -> None:
    found = rows(sizes("it", kind, *numbers, positions=7))
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
    found = rows(
        cells=(
            {"cell": "rnn", "inputs": 100, "hidden": 200},
            {"cell": "lstm", "inputs": 100, "hidden": 200},
            {"cell": "gru", "inputs": 3, "hidden": 5},
        )
    )
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
        (lambda: rows(sizes("it", "gpt", 0, 4, 1, 3)), "layers 0: expected"),
        (lambda: rows(sizes("it", "gpt", 1, 4, 1, 3, positions=0)), "positions 0: expected"),
        (lambda: rows(sizes("it", "bert", 1, 4, 1, 3)), "networks: it: bert needs positions"),
        (lambda: rows(cells=({"cell": "lstm", "inputs": 1, "hidden": 0},)), "hidden 0: expected"),
        (lambda: rows(widths=(0,)), r"widths \[0\]"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
