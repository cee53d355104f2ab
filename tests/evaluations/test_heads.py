from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.evaluations.heads import Options, attention_shares, evaluate
from seedbed.languages.agreement import position_groups, sentence_prefixes
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import recurrent, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.inspection import attention
from seedbed.objectives import flm

SMALL = Options(pairs=5)


def model(**options: object) -> TrainedModel:
    network = unfilled(
        lambda: transformer.Model(transformer.Options(d_model=16, heads=2, d_ff=8, **options), 56)  # type: ignore[arg-type]
    )
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network, flm.Objective(flm.Options(), 56), Log(), lambda: Documents.of([]))


def test_the_shares_of_a_head_add_up_to_1(farm_context: Context) -> None:
    total: defaultdict[tuple[object, object], float] = defaultdict(float)
    for one in evaluate(model(), farm_context, SMALL):
        if one.metric == "attention_share":
            total[one.condition["layer"], one.condition["head"]] += one.value
            assert one.n == 10
    assert total == pytest.approx({(layer, head): 1 for layer in (1, 2) for head in (1, 2)}, abs=1e-6)


def test_a_head_that_compares_nothing_looks_at_all_alike(farm_context: Context) -> None:
    flat = model()
    with torch.no_grad():
        for layer in flat.network.layers:  # type: ignore[union-attr]
            layer.mixer.project.weight[:16] = 0  # the queries
            layer.mixer.project.bias[:16] = 0
    found = list(evaluate(flat, farm_context, SMALL))
    uniform = {one.condition["group"]: one.value for one in found if one.metric == "uniform_share"}
    assert uniform["subject"] == pytest.approx(1 / 12)
    assert uniform["determiners"] == pytest.approx(4 / 12)
    shares = [one for one in found if one.metric == "attention_share"]
    assert len(shares) == 2 * 2 * 6
    assert all(one.value == pytest.approx(uniform[one.condition["group"]], abs=1e-6) for one in shares)


def test_a_share_is_the_mean_of_the_weights_at_the_last_noun(farm_context: Context) -> None:
    one = model(positions="none")
    test = sentence_prefixes(farm_context.language, 3, "opposite", 5)
    expected = []
    for document in test.documents:
        weights = attention(one.network, pack(Documents.of([document])))[1, 11, 0]
        expected.append(weights[position_groups(3)["prepositions"]].sum().item())
    condition = {"layer": 2, "head": 1, "group": "prepositions"}
    (found,) = (row for row in evaluate(one, farm_context, SMALL) if row.condition == condition)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-6)


def test_the_largest_share_is_told_of_other_sentences_than_it_is_chosen_by() -> None:
    """The second head has most by the pairs 0 and 2, the first by the others and on the whole."""
    pairs = np.repeat([0, 1, 2, 3], 2)
    first = np.where(pairs % 2 == 0, 0.4, 0.9)
    second = np.where(pairs % 2 == 0, 0.5, np.linspace(0.1, 0.3, 8))
    rows = attention_shares(np.stack([first, second], 1)[None], "subject", pairs)
    (largest,) = (one for one in rows if one.metric == "largest_share")
    assert largest.condition == {"layer": 1, "group": "subject"}
    assert (largest.value, largest.n) == (pytest.approx(second[[2, 3, 6, 7]].mean()), 4)


def test_every_layer_and_group_has_a_largest_share(farm_context: Context) -> None:
    found = [one for one in evaluate(model(), farm_context, SMALL) if one.metric == "largest_share"]
    assert {(one.condition["layer"], one.condition["group"]) for one in found} == set(
        product((1, 2), position_groups(3))
    )
    assert {one.n for one in found} == {4}  # pairs 1 and 3 of five


def test_one_attractor_is_the_last_one(farm_context: Context) -> None:
    groups = {one.condition["group"] for one in evaluate(model(), farm_context, Options(attractors=1, pairs=2))}
    assert groups == {"start", "determiners", "subject", "prepositions", "last attractor"}


def test_a_model_without_attention_is_refused(farm_context: Context) -> None:
    network = unfilled(lambda: recurrent.Model(recurrent.Options(hidden=4), 56))
    fill(network, torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="no attention"):
        list(
            evaluate(
                TrainedModel(network, flm.Objective(flm.Options(), 56), Log(), lambda: Documents.of([])),
                farm_context,
                SMALL,
            )
        )


@pytest.mark.parametrize("name", ["attractors", "pairs"])
def test_options_below_1_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} 0: expected at least 1"):
        Options(**{name: 0})
