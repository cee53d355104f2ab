"""An LSTM that is set by hand, and gates, against closed forms and PyTorch's cell."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from seedbed.demonstrations.hand_set_lstm import GATES, Options, by_hand, cells, demonstrate, step
from seedbed.demonstrations.memories import written
from seedbed.observations import condition_text
from seedbed.randomness import stream


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    rows = list(demonstrate(Options(steps=200, draws=2, width=6), rng=stream(0, "lstm")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}
    assert len(named) == len(rows)
    return named


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_a_cell_holds_what_it_has_read_once() -> None:
    held = cells(by_hand(20), torch.from_numpy(written(50))[None])[0]
    assert held[1].abs().max() < 1e-8
    assert held[2, 0] == pytest.approx(sigmoid(20) * math.tanh(20))
    assert held[49, 0] == pytest.approx(sigmoid(20) * math.tanh(20), abs=1e-6)


def test_what_is_set_by_hand_is_right_and_hardly_drifts(found: dict[str, float]) -> None:
    assert found["right_share noise=none"] == found["right_share noise=added"] == 1
    assert 0 < found["drift"] < 1e-4
    assert found["closed_gate"] == pytest.approx(sigmoid(-20))
    assert found["cell_gradient"] == pytest.approx(sigmoid(20) ** 1000)


def test_a_step_is_that_of_pytorch() -> None:
    layer = nn.LSTMCell(3, 3).double()
    given, hidden, cell = torch.randn(3, 3, dtype=torch.double)
    after_hidden, after, gates = step(layer, given, hidden, cell)
    expected = layer(given[None], (hidden[None], cell[None]))
    assert torch.allclose(after_hidden, expected[0][0], atol=1e-14)
    assert torch.allclose(after, expected[1][0], atol=1e-14)
    assert tuple(gates) == GATES


def test_a_closed_gate_lets_nothing_pass(found: dict[str, float]) -> None:
    passed = {name: value for name, value in found.items() if name.startswith("passed")}
    assert len(passed) == 6
    assert all((value == 0) == ("is=0" in name) for name, value in passed.items())


def test_a_gate_below_one_forgets_as_its_power(found: dict[str, float]) -> None:
    assert found["left gate=0.9;steps=50"] == pytest.approx(0.9**50)
    assert found["needed_gate"] == pytest.approx(0.5 ** (1 / 100), rel=1e-12)
    assert sigmoid(found["needed_bias"]) == pytest.approx(found["needed_gate"])


def test_held_gates_multiply_along_the_cells(found: dict[str, float]) -> None:
    assert found["gate_difference"] < 1e-15
    assert 0.4 < found["untrained_forget_gate"] < 0.6
    assert [found[f"weight_rows matrix={name}"] for name in ("input", "hidden")] == [4, 4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(steps=4), "steps 4: expected more than 4"),
        (lambda: Options(noise=0), "noise 0: expected above 0"),
        (lambda: Options(draws=0), "draws 0: expected"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
