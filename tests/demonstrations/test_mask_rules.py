"""Masks, against matrices by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations.mask_rules import Options, demonstrate
from seedbed.observations import condition_text


def rows(options: Options | None = None) -> dict[str, float]:
    found = list(demonstrate(options or Options()))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


def matrix(found: dict[str, float], mask: str) -> list[list[int]]:
    prefix = f"mask={mask};query="
    cells = {name.split(" ")[1]: value for name, value in found.items() if name.startswith("sees ")}
    values = {name: value for name, value in cells.items() if prefix in name}
    queries = 1 + max(int(name.rsplit("=", 1)[1]) for name in values)
    keys = len(values) // queries
    return [[int(cells[f"key={key};{prefix}{query}"]) for key in range(keys)] for query in range(queries)]


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("encoder-only", [[1, 1, 1]] * 3),
        ("decoder-only", [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        ("prefix-2", [[1, 1, 0], [1, 1, 0], [1, 1, 1]]),
        ("encoder-self", [[1, 1]] * 2),
        ("decoder-self", [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        ("cross", [[1, 1]] * 3),
        ("look-ahead", [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        ("padding", [[1, 0, 0]] * 3),
        ("combined", [[1, 0, 0]] * 3),
    ],
)
def test_masks_are_those_by_hand(mask: str, expected: list[list[int]]) -> None:
    assert matrix(rows(Options(tokens=3, source=2, prefixes=(2,), padded=(5, 0, 0))), mask) == expected


def test_a_mask_adds_zeros_and_minus_infinities() -> None:
    found = rows(Options(tokens=20, prefixes=()))  # longer than the slots of a row
    assert found["entries added=zero;mask=decoder-only"] == 210
    assert found["entries added=minus infinity;mask=decoder-only"] == 190
    assert {value for name, value in found.items() if "added=other" in name} == {0}


def test_the_weight_on_the_first_tells_the_position() -> None:
    found = rows(Options(seen=11))
    assert [found[f"first_weight query={query}"] for query in range(11)] == pytest.approx(1 / np.arange(1, 12))
    assert [found[f"visible query={query}"] for query in range(11)] == list(range(1, 12))


def test_pytorch_gives_weight_where_both_masks_allow() -> None:
    found = rows()
    weights = [[found[f"weight key={key};query={query}"] for key in range(4)] for query in range(4)]
    expected = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 3, 1 / 3, 1 / 3, 0]]
    np.testing.assert_allclose(weights, expected, atol=1e-7)
    assert [found[f"padding_shape axis={axis}"] for axis in ("documents", "queries", "keys")] == [1, 1, 4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(tokens=0), "tokens"),
        (lambda: Options(prefixes=(6,)), r"prefixes \[6\]: expected each from 0 to tokens 5"),
        (lambda: Options(padded=(0, 1)), r"padded \[0, 1\]: expected words, and padding 0 behind them"),
        (lambda: Options(padded=(1, 2)), "behind them"),
        (lambda: Options(padded=(0, 0)), "behind them"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
