"""Demonstrations of speed, with a clock that a test turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
import torch
from torch import nn

from seedbed.demonstrations import attention_speed, recurrent_speed, reversal_speed
from seedbed.demonstrations.attention_speed import attend, loop, recur
from seedbed.demonstrations.recurrent_speed import Gpt, WrittenLstm
from seedbed.observations import condition_text
from seedbed.timer import Timer, ratio

SMALL = attention_speed.Options(width=4, tokens=(2, 4), looped=3)
SMALL_RECURRENT = recurrent_speed.Options(width=8, heads=2, layers=1, batch=1, tokens=(2, 4), long=4)


def constant(step: float) -> Timer:
    """Every function takes the same time."""
    moments: Iterator[float] = (step * one for one in count())
    return Timer(clock=lambda: next(moments))


def test_functions_take_turns_after_a_first_call_that_is_not_timed() -> None:
    now, called = [0.0], []

    def takes(name: str, seconds: float) -> None:
        called.append(name)
        now[0] += seconds

    timer = Timer(rounds=2, clock=lambda: now[0])
    found = timer.seconds({"short": lambda: takes("short", 1), "long": lambda: takes("long", 3)})
    assert called == ["short", "long"] * 3
    assert found == {"short": [1, 1], "long": [3, 3]}
    assert ratio(found, "long", "short") == 3


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert ratio({"a": [2.0, 90.0, 6.0], "b": [1.0, 1.0, 2.0]}, "a", "b") == 3


def test_the_ways_to_attend_are_the_same() -> None:
    rng = np.random.default_rng(0)
    text, weights = rng.standard_normal((5, 4)), rng.standard_normal((3, 4, 4))
    query, key, value = (torch.tensor(one) for one in text @ weights)
    expected = nn.functional.scaled_dot_product_attention(query[None], key[None], value[None])[0].numpy()
    assert attend(text, weights) == pytest.approx(expected, abs=1e-12)
    assert loop(text, weights) == pytest.approx(expected, abs=1e-12)


def test_the_recurrent_loop_is_that_of_elman() -> None:
    rng = np.random.default_rng(0)
    text, weights = rng.standard_normal((5, 4)), rng.standard_normal((3, 4, 4))
    own = nn.RNN(4, 4, bias=False).double()
    with torch.no_grad():
        own.weight_ih_l0.copy_(torch.tensor(weights[0].T))
        own.weight_hh_l0.copy_(torch.tensor(weights[1].T))
        assert recur(text, weights) == pytest.approx(own(torch.tensor(text))[0].numpy(), abs=1e-12)


def test_the_written_lstm_is_pytorchs() -> None:
    written, own = WrittenLstm(3), nn.LSTM(3, 3, batch_first=True)
    with torch.no_grad():
        inputs, states = written.gates.weight.split(3, 1)
        own.weight_ih_l0.copy_(inputs)
        own.weight_hh_l0.copy_(states)
        own.bias_ih_l0.copy_(written.gates.bias)
        own.bias_hh_l0.zero_()
        text = torch.randn(2, 5, 3)
        assert torch.allclose(written(text)[0], own(text)[0], atol=1e-6)


def test_a_later_token_changes_no_earlier_vector_of_the_gpt() -> None:
    network, text = Gpt(8, 2, 2).eval(), torch.randn(1, 4, 8)
    changed = text.clone()
    changed[0, 3] += 1
    with torch.no_grad():
        assert torch.equal(network(text)[0][0, :3], network(changed)[0][0, :3])


def test_what_takes_the_same_time_has_ratios_of_one() -> None:
    threads = torch.get_num_threads()
    rng = np.random.default_rng(0)
    observed = [
        *attention_speed.demonstrate(SMALL, rng=rng, timer=constant(0.5)),
        *recurrent_speed.demonstrate(SMALL_RECURRENT, rng=rng, timer=constant(0.5)),
    ]
    found = {f"{one.metric} {condition_text(one.condition)}".rstrip(): one.value for one in observed}
    several = found.pop("threads")
    assert 1 <= several <= SMALL_RECURRENT.threads
    assert set(found.values()) == {1.0}
    assert {"loop_ratio", "gpt_ratio", "thread_ratio network=elman", "doubling tokens=4"} <= found.keys()
    assert torch.get_num_threads() == threads


SMALL_REVERSAL = reversal_speed.Options(lengths=(2, 5), batch=2, hidden=4, width=8, heads=2)


def test_networks_that_take_the_same_time_are_as_fast_as_each_other() -> None:
    threads = torch.get_num_threads()
    rows = list(reversal_speed.demonstrate(SMALL_REVERSAL, rng=np.random.default_rng(0), timer=constant(0.5)))
    found = {f"{one.metric} {condition_text(one.condition)}": one.value for one in rows}
    assert {value for name, value in found.items() if "ratio" in name} == {1.0}
    assert {value for name, value in found.items() if "seconds" in name} == {0.5}
    assert len(found) == len(rows) == 2 * 6
    assert torch.get_num_threads() == threads


def test_a_network_that_writes_sees_no_later_target_and_all_of_its_source() -> None:
    source, target = torch.randint(12, (2, 1, 5))
    for network in (
        reversal_speed.Gru(SMALL_REVERSAL, False),
        reversal_speed.Gru(SMALL_REVERSAL, True),
        reversal_speed.Transformer(SMALL_REVERSAL).eval(),
    ):
        with torch.no_grad():
            logits = network(source, target)
            later, other = target.clone(), source.clone()
            later[0, 4] = (later[0, 4] + 1) % 12
            other[0, 0] = (other[0, 0] + 1) % 12
            assert torch.allclose(network(source, later)[0, :4], logits[0, :4], atol=1e-6)
            assert not torch.allclose(network(other, target)[0, 0], logits[0, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("module", "values", "message"),
    [
        (attention_speed, {"tokens": (2, 3)}, r"tokens \[2, 3\]: expected each to be twice the one before"),
        (attention_speed, {"looped": 0}, "looped 0: expected"),
        (recurrent_speed, {"tokens": (2, 5)}, r"tokens \[2, 5\]: expected each to be twice"),
        (recurrent_speed, {"heads": 3}, "heads 3: expected a divisor of width 64"),
        (recurrent_speed, {"threads": 0}, "threads 0: expected"),
        (reversal_speed, {"lengths": (8, 0)}, r"lengths \[8, 0\]: expected at least 1"),
        (reversal_speed, {"heads": 5}, "heads 5: expected a divisor of width 64"),
    ],
)
def test_sizes_that_cannot_be_timed_are_refused(module: object, values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        module.Options(**values)  # type: ignore[attr-defined]
