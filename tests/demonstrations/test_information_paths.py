"""Steps between positions, in graphs whose steps are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from seedbed.demonstrations.information_paths import Options, demonstrate, longest, shortest, step
from seedbed.observations import condition_text
from seedbed.randomness import stream

SMALL = Options(tokens=9, distances=(1, 3, 8), growing=(1, 2, 5))


def rows(options: Options = SMALL) -> dict[str, float]:
    found = list(demonstrate(options, rng=stream(0, "paths")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    return rows()


@pytest.mark.parametrize("network", ["rnn", "gru", "lstm"])
def test_a_recurrent_network_passes_every_position(found: dict[str, float], network: str) -> None:
    for metric in ("path_length", "longest_path"):
        assert [found[f"{metric} distance={one};network={network}"] for one in (1, 3, 8)] == [1, 3, 8]
    assert found[f"sequential_steps network={network};tokens=9"] == 9
    assert [found[f"connections network={network};tokens={one}"] for one in (1, 2, 5)] == [0, 1, 4]


@pytest.mark.parametrize(("network", "pairs"), [("attention", [1, 4, 25]), ("causal-attention", [1, 3, 15])])
def test_attention_is_one_step_and_connects_pairs(found: dict[str, float], network: str, pairs: list[int]) -> None:
    assert [found[f"path_length distance={one};network={network}"] for one in (1, 3, 8)] == [1, 1, 1]
    assert found[f"sequential_steps network={network};tokens=9"] == 1
    assert [found[f"connections network={network};tokens={one}"] for one in (1, 2, 5)] == pairs


def test_the_shortest_and_the_longest_way_are_told_apart() -> None:
    """A short cut past two of three steps."""
    source = torch.ones(1, requires_grad=True).clone()
    (first,) = step(source)
    (second,) = step(first)
    (last,) = step(second + source)
    assert (shortest(last.grad_fn, source.grad_fn), longest(last.grad_fn, source.grad_fn)) == (1, 3)
    assert longest(last.grad_fn, first.grad_fn) == 2
    assert longest(last.grad_fn) == 3


def test_a_step_changes_neither_values_nor_gradients() -> None:
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    first, second = step(leaf, 3 * leaf)
    assert first.tolist() == [1, 2]
    (gradient,) = torch.autograd.grad((first * second).sum(), leaf)
    assert gradient.tolist() == [6, 12]


def test_without_a_way_there_is_no_length() -> None:
    one, other = (torch.ones(1, requires_grad=True).clone() for _ in range(2))
    with pytest.raises(ValueError, match="there is no way from the source"):
        shortest(one.grad_fn, other.grad_fn)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(tokens=5, distances=(5,)), r"distances \[5\]: expected each from 1 and below tokens 5"),
        (lambda: Options(distances=(0,)), r"distances \[0\]"),
        (lambda: Options(growing=(0,)), r"growing \[0\]: expected at least 1 each"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 8"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
