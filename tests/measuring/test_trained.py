from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from seedbed.documents import Documents
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm
from seedbed.randomness import torch_stream
from seedbed.training import loop


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    options = transformer.Options(d_model=16, heads=2, layers=2, d_ff=32)
    network = unfilled(lambda: transformer.Model(options, 100))
    fill(network, torch_stream(0, "initialisation"))
    return TrainedModel(network, flm.Objective(flm.Options(), 100), Log(), lambda: Documents.of([]))


def test_predictions_are_distributions(model: TrainedModel, context: Context) -> None:
    predicted = np.exp(model.log_probabilities(context.test.without_last()))
    assert predicted.shape == (len(context.test.tokens) - len(context.test), 100)
    assert predicted.sum(1) == pytest.approx(1, abs=1e-12)


def test_predictions_do_not_depend_on_the_other_documents(model: TrainedModel, context: Context) -> None:
    documents = context.test.without_last().take(range(70))
    together = model.log_probabilities(documents)
    single = np.concatenate([model.log_probabilities(documents.take([index])) for index in range(70)])
    assert together == pytest.approx(single, abs=1e-5)


def test_dropout_is_off_in_predictions(model: TrainedModel, context: Context) -> None:
    documents = context.test.without_last()
    network = copy.deepcopy(model.network).train()
    network.norm = nn.Sequential(network.norm, nn.Dropout(0.5))
    dropping = replace(model, network=network)
    assert (dropping.log_probabilities(documents) == model.log_probabilities(documents)).all()


def test_the_initial_network_is_that_which_training_began_with(model: TrainedModel, context: Context) -> None:
    training = context.test.take(range(8))
    seeds = {"initialisation": 3, "order": 0, "corruption": 0, "noise": 0}
    standing = loop.Options(epochs=1, batch=4, learning_rate=0)
    began = loop.train(copy.deepcopy(model.network), model.objective, training, training, standing, seeds).weights
    initial = replace(model, initialisation=3).initial().state_dict()
    assert all(torch.equal(initial[name], tensor) for name, tensor in began.items())


def test_drawing_the_initial_network_leaves_the_trained_one(model: TrainedModel) -> None:
    before = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    replace(model, initialisation=3).initial()
    assert all(torch.equal(before[name], tensor) for name, tensor in model.network.state_dict().items())


def test_what_began_with_another_runs_weights_has_no_initial_network(model: TrainedModel) -> None:
    with pytest.raises(ValueError, match="training began with another run's weights"):
        model.initial()
