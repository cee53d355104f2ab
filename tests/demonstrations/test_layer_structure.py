"""The structure of layers; the numbers are the lecture's or counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seedbed.demonstrations.layer_structure import Options, demonstrate
from seedbed.models import layers
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream


def rows(options: Options | None = None, seed: int = 0) -> dict[str, Observation]:
    found = list(demonstrate(options or Options(), rng=stream(seed, "structure")))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one for one in found}
    assert len(named) == len(found)
    return named


@pytest.fixture(scope="module")
def found() -> dict[str, Observation]:
    return rows()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("changed_positions part=feed-forward", 1),
        ("changed_positions part=norm", 1),
        ("changed_positions part=attention", 8),
        ("position_difference", 0),
        ("feed_forward_layers", 2),
        ("stream_change norm=pre", 0),
        ("place after=nothing", 1),
        ("sublayers", 3),
        ("tokens_read for=queries", 5),
        ("tokens_read for=keys and values", 8),
        ("calls layer=encoder", 1),
        ("calls layer=decoder", 5),
        ("norm_first_by_default", 0),
        ("padding_weight function=MultiheadAttention;true=look here", 1),
        ("padding_weight function=MultiheadAttention;true=do not look", 0),
        ("padding_weight function=scaled_dot_product_attention;true=look here", 0),
        ("padding_weight function=scaled_dot_product_attention;true=do not look", 1),
    ],
)
def test_counts_are_exact(found: dict[str, Observation], name: str, value: float) -> None:
    assert found[name].value == pytest.approx(value, abs=1e-15)


def test_the_example_is_softmax_of_the_lectures_scores(found: dict[str, Observation]) -> None:
    """The scores of "l'Afrique" are 0, 2, 0, 0.5 and 0; a fourth of "en" is a place."""
    powers = np.exp([0, 2, 0, 0.5, 0])
    place = (powers[2] + powers[3] / 4) / powers.sum()
    assert found["place after=attention"].value == pytest.approx(place)
    assert found["place after=residual"].value == pytest.approx(1 + place)


def test_shapes_and_probabilities(found: dict[str, Observation]) -> None:
    assert {one.value for name, one in found.items() if name.startswith("stack_shape axis=rows")} == {8}
    assert {one.value for name, one in found.items() if name.startswith("stack_shape axis=columns")} == {16}
    assert [found[f"logits_shape axis={axis}"].value for axis in ("rows", "columns")] == [8, 20]
    assert found["probability_deviation"].value < 1e-12
    assert found["loss_difference"].value < 1e-12
    assert found["stream_change norm=post"].value > 0.5


@pytest.mark.parametrize("keys", [2, 16])
def test_without_a_preference_the_entropy_is_the_log_of_the_keys(keys: int) -> None:
    assert rows(Options(keys=keys))[f"uniform_entropy keys={keys}"].value == pytest.approx(np.log(keys))


def test_a_feed_forward_network_that_mixes_positions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = layers.FeedForward.forward
    monkeypatch.setattr(
        layers.FeedForward, "forward", lambda layer, hidden: plain(layer, hidden) + hidden.mean(0, keepdim=True)
    )
    assert rows()["changed_positions part=feed-forward"].value == 8


def test_sizes_follow_the_options() -> None:
    found = rows(Options(tokens=5, width=8, heads=2, layers=3, written=2, vocabulary=11))
    assert [found[f"stack_shape axis={axis};layers=3"].value for axis in ("rows", "columns")] == [5, 8]
    assert [found[f"logits_shape axis={axis}"].value for axis in ("rows", "columns")] == [5, 11]
    assert found["tokens_read for=queries"].value == found["calls layer=decoder"].value == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(layers=0), "layers"),
        (lambda: Options(tokens=3), "tokens 3: expected at least 4"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
