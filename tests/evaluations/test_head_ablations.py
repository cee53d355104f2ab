from __future__ import annotations

import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from seedbed.documents import Documents
from seedbed.evaluations import head_ablations, perplexity, pronouns
from seedbed.evaluations.head_ablations import Options, evaluate
from seedbed.log import Log
from seedbed.measuring.antecedent_attention import find_queries, shares_of_antecedent
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm
from seedbed.observations import Observation, condition_text

WORDS = Options("tail possessive", "subject")
Found = dict[str, Observation]


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    options = transformer.Options(d_model=16, heads=2, d_ff=8, embedding_std=1.0, linear_std=0.5)
    network = unfilled(lambda: transformer.Model(options, 100))
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network, flm.Objective(flm.Options(), 100), Log(), lambda: Documents.of([]))


@pytest.fixture(scope="module")
def found(model: TrainedModel, context: Context) -> Found:
    return {
        f"{one.metric} {condition_text(one.condition)}".strip(): one for one in evaluate(model, context, WORDS)
    }


def muted(model: TrainedModel, layer: int, heads: slice) -> TrainedModel:
    """The model with some columns of an output matrix at 0: what exercise 7 does to a head."""
    network = copy.deepcopy(model.network)
    with torch.no_grad():
        network.layers[layer].mixer.output.weight[:, heads] = 0  # type: ignore[index, union-attr]
    return TrainedModel(network, model.objective, model.log, model.read_corpus)


def expected(model: TrainedModel, context: Context) -> dict[str, float]:
    known = {
        f"{one.metric.removeprefix('pronoun_')} {one.condition['window']}": one.value
        for one in pronouns.evaluate(model, context, pronouns.Options("tail possessive", "subject"))
    }
    rows = perplexity.evaluate(model, context, perplexity.Options())
    loss = next(one.value for one in rows if (one.metric, one.condition) == ("loss", {"sentences": "all"}))
    return {"loss": loss} | {name: value for name, value in known.items() if "count" not in name}


def rows(found: Found, place: str) -> dict[str, float]:
    """The rows of one ablation, named as `expected` names them."""
    chosen = {name: one.value for name, one in found.items() if name.partition(" ")[2].startswith(place)}
    return {
        name.removeprefix("ablated_").split(" ")[0]
        + ("" if "window=" not in name else " " + name.split("window=")[1]): value
        for name, value in chosen.items()
    }


@pytest.mark.parametrize(
    ("layer", "head", "columns"),
    [(0, "1", slice(0, 8)), (0, "2", slice(8, 16)), (1, "2", slice(8, 16)), (1, "all", slice(None))],
)
def test_an_ablation_equals_a_network_whose_output_matrix_ignores_the_head(
    model: TrainedModel, context: Context, found: Found, layer: int, head: str, columns: slice
) -> None:
    wanted = expected(muted(model, layer, columns), context)
    assert rows(found, f"head={head};layer={layer + 1}") == pytest.approx(wanted, abs=1e-5)


def test_without_nothing_is_the_model_as_it_is(model: TrainedModel, context: Context, found: Found) -> None:
    names = {name for name in found if name.endswith("without=nothing")}
    values = {
        name.removeprefix("ablated_")
        .replace(";without=nothing", "")
        .replace(" without=nothing", "")
        .replace("window=", ""): found[name].value
        for name in names
    }
    assert values == pytest.approx(expected(model, context), abs=1e-9)


def test_the_named_heads_are_chosen_by_the_even_documents_and_measured_on_the_odd_ones(
    model: TrainedModel, context: Context, found: Found
) -> None:
    even, odd = (replace(context, test=context.test.take(range(first, 300, 2))) for first in (0, 1))
    shares = shares_of_antecedent(model, find_queries(even, WORDS.slot, WORDS.antecedent))
    layer, head = np.unravel_index(shares.mean(1).argmax(), (2, 2))

    def without(layer: int, head: int, half: Context) -> float:
        muting = muted(model, layer, slice(8 * head, 8 * head + 8))
        return expected(muting, half)["probability outside"]

    named = "ablated_probability window=outside;without=most {}"
    assert found[named.format("attentive")].value == pytest.approx(without(layer, head, odd), abs=1e-5)
    single = {at: without(*at, even) for at in product((0, 1), repeat=2)}
    important = min(single, key=lambda at: single[at])
    assert found[named.format("important")].value == pytest.approx(without(*important, odd), abs=1e-5)
    assert found["most_important_layer"].value == important[0] + 1
    assert found["most_important_looks"].value == (important == (layer, head))


def test_the_network_is_given_back_as_it_was(model: TrainedModel, context: Context, found: Found) -> None:
    again = {
        condition_text(one.condition): one
        for one in head_ablations.evaluate(model, context, WORDS)
        if one.metric == "ablated_loss"
    }
    assert again["without=nothing"] == found["ablated_loss without=nothing"]


def test_a_window_of_no_word_is_refused() -> None:
    with pytest.raises(ValueError, match="window 0: expected at least 1"):
        Options("tail possessive", "subject", window=0)
