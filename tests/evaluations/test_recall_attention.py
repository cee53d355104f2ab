from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch
from recalling import CONTEXT, LSTM, TRANSFORMER, trained

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.evaluations.recall_attention import Options, evaluate, look
from seedbed.measuring.recall_questions import ask
from seedbed.measuring.trained import TrainedModel
from seedbed.models.inspection import attention
from seedbed.observations import Observation, condition_text

SMALL = Options(distances=(1, 5, 20, 30))


def found(model: TrainedModel) -> dict[str, dict[str, Observation]]:
    by_metric: defaultdict[str, dict[str, Observation]] = defaultdict(dict)
    for one in evaluate(model, CONTEXT, SMALL):
        by_metric[one.metric][condition_text(one.condition)] = one
    return by_metric


def looking(layer: int, head: int) -> TrainedModel:
    """A model whose heads compare nothing, but for one, whose query at ``?`` wants what keys have."""
    model = trained(replace(TRANSFORMER, positions="none"))
    with torch.no_grad():
        for each in model.network.layers:  # type: ignore[union-attr]
            each.mixer.project.weight[:32] = 0  # queries and keys
            each.mixer.project.bias[:32] = 0
            each.mixer_norm.weight.zero_()  # all that is read is the first column's sign
            each.mixer_norm.weight[0] = 1
        model.network.embedding.weight[:8, 0] = 50
        model.network.embedding.weight[8:, 0] = -50
        chosen = model.network.layers[layer].mixer.project  # type: ignore[union-attr]
        chosen.bias[8 * head] = 100.0
        chosen.weight[16 + 8 * head, 0] = 1.0
    return model


def test_the_shares_of_a_head_add_up_to_1() -> None:
    total: defaultdict[tuple[object, ...], float] = defaultdict(float)
    for one in found(trained(TRANSFORMER))["query_attention"].values():
        total[one.condition["distance"], one.condition["layer"], one.condition["head"]] += one.value
        assert one.n == 80
    assert total == pytest.approx(
        {(distance, layer, head): 1 for distance in (1, 5, 20) for layer in (1, 2) for head in (1, 2)}, abs=1e-6
    )


def test_a_share_is_the_mean_of_the_querys_weights() -> None:
    model, asked = trained(TRANSFORMER), ask(CONTEXT, 5, 80)
    weights = [attention(model.network, pack(Documents.of([document])))[1, -1, 0] for document in asked.tokens]
    expected = torch.stack(weights).mean(0)
    shares = found(model)["query_attention"]
    for group, places in (("key", slice(1)), ("distractors", slice(1, 6)), ("query", slice(6, 7))):
        one = shares[f"distance=5;group={group};head=1;layer=2"]
        assert one.value == pytest.approx(expected[places].sum().item(), abs=1e-6)


def test_all_alike_is_one_in_so_many_tokens() -> None:
    uniform = found(trained(TRANSFORMER))["uniform_attention"]
    assert uniform["distance=5;group=key"].value == 1 / 7
    assert uniform["distance=20;group=distractors"].value == 20 / 22
    assert uniform["distance=1;group=query"].value == 1 / 3


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 0)])
def test_the_finder_is_the_head_that_looks_at_the_key(layer: int, head: int) -> None:
    rows = found(looking(layer, head))
    assert rows["finder_layer"][""].value == layer + 1
    assert all(one.value > 0.99 for one in rows["finder_attention"].values())
    assert rows["query_attention"][f"distance=20;group=key;head={head + 1};layer={layer + 1}"].value > 0.99
    assert rows["query_attention"][
        f"distance=20;group=key;head={2 - head};layer={layer + 1}"
    ].value == pytest.approx(1 / 22, abs=1e-6)


def test_the_finder_is_chosen_by_half_of_the_questions_and_told_of_the_other() -> None:
    model = trained(TRANSFORMER)
    looks = {distance: look(model.network, ask(CONTEXT, distance, 80))[..., 0] for distance in (1, 5, 20)}
    by_head = np.mean([keys[:, :40].mean(1) for keys in looks.values()], axis=0)
    layer, head = np.unravel_index(by_head.argmax(), by_head.shape)
    rows = found(model)
    assert rows["finder_layer"][""].value == layer + 1
    for distance, keys in looks.items():
        one = rows["finder_attention"][f"distance={distance}"]
        assert (one.value, one.n) == (pytest.approx(keys[layer, 40:, head].mean()), 40)


def test_before_training_is_the_network_of_the_seed_and_not_the_trained_one() -> None:
    model = looking(1, 0)
    untrained = found(model)["initial_key_attention"]["distance=20"].value
    assert untrained == pytest.approx(22 * look(model.initial(), ask(CONTEXT, 20, 80))[..., 0].mean())
    assert (
        untrained
        == found(trained(replace(TRANSFORMER, positions="none")))["initial_key_attention"]["distance=20"].value
    )


def test_the_key_is_the_first_of_the_positions() -> None:
    weights = look(looking(1, 1).network, ask(CONTEXT, 3, 16))
    assert weights.shape == (2, 16, 2, 5)
    assert np.all(weights[1, :, 1, 0] > 0.99)


def test_a_model_without_attention_is_refused() -> None:
    with pytest.raises(ValueError, match="no attention"):
        list(evaluate(trained(LSTM), CONTEXT, SMALL))
