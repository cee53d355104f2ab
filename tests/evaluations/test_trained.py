from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from torch import nn

from seedbed.documents import Documents
from seedbed.evaluations.context import Context
from seedbed.evaluations.trained import TrainedModel
from seedbed.log import Log
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm
from seedbed.randomness import torch_stream


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    options = transformer.Options(d_model=16, heads=2, layers=2, d_ff=32)
    network = unfilled(lambda: transformer.Model(options, 100))
    fill(network, torch_stream(0, "initialisation"))
    return TrainedModel(network, flm.Objective(flm.Options(), 100), Log(), Documents.of([]))


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
    dropping = replace(model, network=nn.Sequential(model.network, nn.Dropout(0.5)).train())
    assert (dropping.log_probabilities(documents) == model.log_probabilities(documents)).all()
