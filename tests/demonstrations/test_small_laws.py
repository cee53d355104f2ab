"""Small laws of recurrence, residual connections, norms and activations: the demonstrations of one idea each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pytest

from seedbed.demonstrations import activations, noisy_channel, norm_invariances, relay, residual_forms
from seedbed.demonstrations import saturation_example as saturation
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream


def named(rows: Iterable[Observation]) -> dict[str, float]:
    listed = list(rows)
    found = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in listed}
    assert len(found) == len(listed)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_nothing_passes_a_state_that_is_replaced(seed: int) -> None:
    found = named(relay.demonstrate(relay.Options(width=8, layers=(1, 8)), rng=stream(seed, "relay")))
    assert found["relayed way=one state replaced"] == 0
    assert found["relayed way=all states kept"] > 0


def test_a_gradient_shrinks_through_plain_layers_and_not_past_them() -> None:
    options = relay.Options(width=16, layers=(1, 4, 32))
    found = named(relay.demonstrate(options, rng=stream(0, "relay")))
    plain = [found[f"depth_gradient layers={layers};stack=plain"] for layers in options.layers]
    assert plain[0] == 1
    assert plain[2] < plain[1] ** 4 * 100
    assert found["depth_gradient layers=32;stack=pre"] > 0.1
    assert found["time_gradient gain=1"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_residual_laws_hold_up_to_rounding(seed: int) -> None:
    found = named(residual_forms.demonstrate(residual_forms.Options(), rng=stream(seed, "residual")))
    assert found.pop("wide_refused") == 1
    assert found["identity_difference"] == found["idle_difference"] == found["beyond_values"] == 0
    assert all(value < 1e-13 for value in found.values())


def test_the_change_by_eps_is_as_the_formula_says() -> None:
    found = named(norm_invariances.demonstrate(norm_invariances.Options(), rng=stream(0, "norms")))
    assert found["change numbers=scaled"] == pytest.approx(found["change_formula"], rel=1e-4)
    assert 0 < found["change numbers=each scaled"] < 1e-4
    assert found["change numbers=shifted"] < 1e-13
    assert found["mean"] < 1e-14
    assert found["variance"] == pytest.approx(1, abs=1e-5)


def test_gelu_is_as_by_the_normal_distribution() -> None:
    found = named(activations.demonstrate(activations.Options(shown=(-2, 0, 1))))
    for at in (-2, 0, 1):
        expected = at * (1 + math.erf(at / math.sqrt(2))) / 2
        assert found[f"output function=gelu;input={at}"] == pytest.approx(expected, abs=1e-15)
        assert found[f"output function=relu;input={at}"] == max(0, at)
    assert found["slope"] == 0.5
    assert found["largest_gap"] == pytest.approx(0.16997, abs=1e-5)


def test_the_product_finds_what_the_posterior_finds() -> None:
    found = named(noisy_channel.demonstrate(noisy_channel.Options(), rng=stream(0, "channel")))
    assert found["agreement by=channel and prior"] == 1
    assert found["agreement by=channel"] < 1


def test_weights_and_outputs_of_four_scores() -> None:
    found = named(saturation.demonstrate(saturation.Options()))
    total = 2 + math.e + math.e**2
    assert found["weight factor=1;place=1"] == pytest.approx(math.e / total)
    assert found["output factor=1;place=2"] == pytest.approx(2 * math.e**2 / total)
    assert sum(value for name, value in found.items() if name.startswith("weight factor=4")) == pytest.approx(1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: relay.Options(steps=2), "steps 2: expected at least 3"),
        (lambda: relay.Options(layers=(0,)), r"layers \[0\]: expected at least 1"),
        (lambda: residual_forms.Options(heads=3), "heads 3: expected a divisor of width 8"),
        (lambda: norm_invariances.Options(factor=0), "factor 0: expected above 0"),
        (lambda: activations.Options(shown=(1,)), "expected two different numbers"),
        (lambda: noisy_channel.Options(sources=0), "sources 0: expected"),
        (lambda: saturation.Options(lengths=(1,)), "expected one for each of 4 scores"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
