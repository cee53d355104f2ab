from __future__ import annotations

import pytest
import torch

from seedbed.documents import Documents
from seedbed.evaluations.agreement import hits
from seedbed.evaluations.interventions import Options, evaluate
from seedbed.languages.agreement import agreement_words, position_groups, sentence_prefixes
from seedbed.languages.automaton import Language
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.inspection import cut, restricted
from seedbed.objectives import flm
from seedbed.observations import Observation, condition_text

SMALL = Options(pairs=10)


@pytest.fixture
def model(farm: Language) -> TrainedModel:
    return wired(farm)


def wired(farm: Language) -> TrainedModel:
    """A network that copies the number of the noun at position 2 to the last position, by one head of layer 1.

    Columns 0 and 1 of the stream are singular and plural noun, 2 is the subject's place, 3 is always on. Head 1 of
    layer 1 asks for column 2 and writes the number into columns 4 and 5, which the output reads.
    """
    options = transformer.Options(
        d_model=8, heads=2, d_ff=2, positions="learned", max_positions=30, norm="post", tied=False
    )
    network = unfilled(lambda: transformer.Model(options, 56))
    fill(network, torch.Generator().manual_seed(0))
    known = agreement_words(farm)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for layer in network.layers:
            layer.mixer_norm, layer.feed_forward_norm = torch.nn.Identity(), torch.nn.Identity()  # type: ignore[union-attr]
        network.embedding.factor = 1.0
        for number in (0, 1):
            network.embedding.weight[known.nouns[:, number], number] = 1
            network.output.weight[known.verbs[:, number], 4 + number] = 1
        network.table.weight[:, 3] = 1
        network.table.weight[2, 2] = 1
        attention = network.layers[0].mixer
        attention.project.weight[0, 3] = 100  # the query of head 1: every position asks
        attention.project.weight[8, 2] = 1  # its key: the subject's place answers
        for number in (0, 1):
            attention.project.weight[16 + number, number] = 1  # its value: the number
            attention.output.weight[4 + number, number] = 1
    return TrainedModel(network, flm.Objective(flm.Options(), 56), Log(), lambda: Documents.of([]))


def found(model: TrainedModel, context: Context) -> dict[str, Observation]:
    return {f"{one.metric} {condition_text(one.condition)}": one for one in evaluate(model, context, SMALL)}


def test_without_its_subject_the_wired_network_follows_the_attractors(
    model: TrainedModel, farm_context: Context
) -> None:
    accuracies = {name: one.value for name, one in found(model, farm_context).items() if "cut_accuracy" in name}
    assert accuracies == {
        "cut_accuracy cut=nothing": 1,
        "cut_accuracy cut=subject": 0,
        "cut_accuracy cut=start": 1,
        "cut_accuracy cut=determiners": 1,
        "cut_accuracy cut=prepositions": 1,
        "cut_accuracy cut=attractors": 1,
    }


def test_its_one_head_is_all_that_an_ablation_finds(model: TrainedModel, farm_context: Context) -> None:
    accuracies = {name: one.value for name, one in found(model, farm_context).items() if "ablated" in name}
    assert accuracies == {
        "ablated_accuracy head=1;layer=1": 0.5,  # nothing is left to choose by: ties
        "ablated_accuracy head=2;layer=1": 1,
        "ablated_accuracy head=all;layer=1": 0.5,
        "ablated_accuracy head=1;layer=2": 1,
        "ablated_accuracy head=2;layer=2": 1,
        "ablated_accuracy head=all;layer=2": 1,
    }


def test_every_figure_is_over_all_sentences(model: TrainedModel, farm_context: Context) -> None:
    accuracies = [one.n for name, one in found(model, farm_context).items() if "accuracy" in name]
    assert set(accuracies) == {20}


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none", "rope", "alibi"])
def test_a_subject_that_is_not_seen_changes_nothing_to_the_last_bit(
    farm: Language, farm_context: Context, positions: str
) -> None:
    options = transformer.Options(d_model=16, heads=2, d_ff=8, positions=positions)  # type: ignore[arg-type]
    network = unfilled(lambda: transformer.Model(options, 56))
    fill(network, torch.Generator().manual_seed(0))
    trained = TrainedModel(network, flm.Objective(flm.Options(), 56), Log(), lambda: Documents.of([]))
    assert found(trained, farm_context)["cut_change cut=subject"].value == 0


def test_a_subject_that_is_seen_all_the_same_changes_something(
    model: TrainedModel, farm_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.evaluations.interventions.cut", lambda places: cut([0]))
    assert found(model, farm_context)["cut_change cut=subject"].value > 0


def test_an_untrained_network_that_is_cut_from_the_subject_answers_both_of_a_pair_alike(farm: Language) -> None:
    """With shared attractors a pair differs in nothing else, so that exactly one of each is right."""
    network = unfilled(lambda: transformer.Model(transformer.Options(d_model=16, heads=2, d_ff=8), 56))
    fill(network, torch.Generator().manual_seed(0))
    trained, test = (
        TrainedModel(network, flm.Objective(flm.Options(), 56), Log(), lambda: Documents.of([])),
        sentence_prefixes(farm, 3, "mixed", 50),
    )
    with restricted(network, dict.fromkeys(range(2), cut(position_groups(3)["subject"]))):
        scores = hits(trained, test).reshape(50, 2)
    assert (scores.sum(axis=1) == 1).all()


def test_the_network_is_given_back_as_it_was(model: TrainedModel, farm_context: Context, farm: Language) -> None:
    before = model.log_probabilities(sentence_prefixes(farm, 3, "mixed", 5).documents)
    found(model, farm_context)
    assert (model.log_probabilities(sentence_prefixes(farm, 3, "mixed", 5).documents) == before).all()
