"""Operations of layers, against products of sizes by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from seedbed.demonstrations.operation_counts import Options, Sizes, demonstrate, flops, least
from seedbed.observations import condition_text


def sizes(width: int, tokens: int, heads: int) -> Sizes:
    return {"width": width, "tokens": tokens, "heads": heads}


def options(**more: object) -> Options:
    return Options(**({"layers": (), "own": (), "recurrent": ()} | more))  # type: ignore[arg-type]


def rows(**more: object) -> dict[str, float]:
    found = list(demonstrate(options(**more)))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


def test_a_matrix_product_needs_a_multiplication_and_an_addition_for_each_pair() -> None:
    assert flops(lambda: torch.ones(3, 4) @ torch.ones(4, 5)) == 2 * 3 * 4 * 5
    assert flops(lambda: torch.ones(7).exp()) == 0


@pytest.mark.parametrize(("module", "key"), [("torch", "layers"), ("seedbed", "own")])
@pytest.mark.parametrize(("width", "tokens", "heads"), [(8, 16, 2), (12, 8, 1), (16, 24, 4)])
def test_layers_need_what_their_matrices_say(module: str, key: str, width: int, tokens: int, heads: int) -> None:
    found = rows(**{key: (sizes(width, tokens, heads),)})
    of = f"heads={heads};module={module}"
    expected = {
        "projections": 4 * tokens * width * width,
        "feed-forward": 2 * tokens * width * 4 * width,
        "attention": heads * (2 * tokens * tokens * (width // heads)),
    }
    expected["linear"] = expected["projections"] + expected["feed-forward"]
    for part, number in expected.items():
        condition = f"{of};part={part};tokens={tokens};width={width}"
        assert found[f"multiply_adds {condition}"] == number
        assert found[f"flops {condition}"] == 2 * number
    share = found[f"attention_share {of};tokens={tokens};width={width}"]
    assert share == pytest.approx(tokens / (6 * width + tokens))
    growths = [found[f"growth {of};part={part};tokens={tokens};width={width}"] for part in ("attention", "linear")]
    assert growths == [4, 2]


def test_formulas_are_those_of_the_lectures() -> None:
    found = rows(layers=(sizes(4096, 8192, 32),))
    for part in ("projections", "feed-forward", "linear", "attention"):
        counted = found[f"flops heads=32;module=torch;part={part};tokens=8192;width=4096"]
        assert counted == found[f"flops_formula part={part};tokens=8192;width=4096"]
    assert found["attention_share_formula tokens=8192;width=4096"] == 0.25
    assert found["attention_ratio_formula tokens=8192;width=4096"] == pytest.approx(1 / 3)


def test_attention_costs_as_much_as_the_rest_at_six_times_the_width() -> None:
    found = rows(crossing=(1, 10, 64))
    assert [found[f"crossing width={width}"] for width in (1, 10, 64)] == [6, 60, 384]


def test_attention_and_recurrence_are_compared_by_their_products() -> None:
    found = rows(recurrent=(sizes(16, 8, 2),))
    expected = {
        "attention scores": 8 * 8 * 16,
        "attention products": 2 * 8 * 8 * 16,
        "attention layer": 2 * 8 * 8 * 16 + 4 * 8 * 16 * 16,
        "rnn state": 8 * 16 * 16,
        "rnn layer": 2 * 8 * 16 * 16,
    }
    assert {part: found[f"cost part={part};tokens=8;width=16"] for part in expected} == expected
    assert found["cost_ratio tokens=8;width=16"] == found["cost_ratio_formula tokens=8;width=16"] == 0.5


def test_a_step_costs_a_product_for_each_gate() -> None:
    found = rows(inputs=3, state=5)
    for cell, gates in (("rnn", 1), ("gru", 3), ("lstm", 4)):
        assert found[f"step_cost cell={cell};hidden=5;inputs=3"] == gates * 5 * (3 + 5)
        assert found[f"step_cost_ratio cell={cell};hidden=5;inputs=3"] == gates


def test_a_target_passes_one_attention_more() -> None:
    found = rows(own=(sizes(16, 8, 4),))
    assert found["stack_cost token=input;width=16"] == 1
    assert found["stack_cost token=target;width=16"] == pytest.approx(4 / 3)


def test_a_token_needs_two_operations_for_each_weight() -> None:
    found = rows(layers=(sizes(32, 4, 1),))
    weights = sum(one.numel() for one in nn.TransformerEncoderLayer(32, 1, 128).parameters() if one.dim() > 1)
    every = sum(one.numel() for one in nn.TransformerEncoderLayer(32, 1, 128).parameters())
    value = found["flops_per_parameter heads=1;module=torch;tokens=4;width=32"]
    assert value == pytest.approx(2 * weights / every)


def test_the_least_number_is_found_in_any_place() -> None:
    assert [least(lambda number: number >= first, 9) for first in range(1, 10)] == list(range(1, 10))  # noqa: B023
    with pytest.raises(ValueError, match="it does not even hold for 3"):
        least(lambda number: number > 3, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: options(layers=(sizes(8, 0, 1),)), "tokens 0: expected"),
        (lambda: options(layers=(sizes(8, 1, 0),)), "heads 0: expected"),
        (lambda: options(recurrent=(sizes(8, 4, 3),)), "heads 3: expected a divisor of width 8"),
        (lambda: options(own=(sizes(8, 4, 2),)), "own: tokens 4: expected a multiple of 8"),
        (lambda: options(state=0), "state"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
