from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from recalling import CONTEXT, LSTM, TRANSFORMER, trained

from seedbed.evaluations.gates import Options, evaluate, explained_share
from seedbed.measuring.recall_questions import ask
from seedbed.measuring.trained import TrainedModel
from seedbed.models import gates
from seedbed.observations import condition_text

SMALL = Options(distance=6)


def found(model: TrainedModel) -> dict[str, float]:
    rows = list(evaluate(model, CONTEXT, SMALL))
    return {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}


def keeping(cells: list[int]) -> TrainedModel:
    """A model of which these cells keep all that they hold."""
    model = trained(LSTM)
    with torch.no_grad():
        model.network.layers[0].input_bias[[5 + cell for cell in cells]] = 20  # type: ignore[index,union-attr]
    return model


def test_cells_keep_where_the_forget_gate_stays_open() -> None:
    rows = found(keeping([1, 3]))
    assert rows["keeping_cells"] == 2
    assert rows["gate cells=keeping;gate=forget;token=distractor"] == pytest.approx(1, abs=1e-6)
    assert rows["gate cells=all;gate=forget;token=distractor"] < 0.9


def test_a_gate_is_its_mean_over_cells_and_tokens() -> None:
    model = keeping([1, 3])
    seen = gates.gates(model.network, torch.from_numpy(ask(CONTEXT, 6, 80).tokens))
    rows = found(model)
    for name, values in (("input", seen.input_gate), ("forget", seen.forget_gate), ("output", seen.output_gate)):
        for token, places in (("key", [0]), ("distractor", [1, 2, 3, 4, 5, 6]), ("query", [7])):
            for cells, chosen in (("all", [0, 1, 2, 3, 4]), ("keeping", [1, 3])):
                expected = values[:, places][..., chosen].mean().item()
                assert rows[f"gate cells={cells};gate={name};token={token}"] == pytest.approx(expected, abs=1e-6)


def test_without_keeping_cells_nothing_is_said_of_them() -> None:
    rows = found(trained(LSTM))
    assert rows["keeping_cells"] == 0
    silent = {name for name, value in rows.items() if math.isnan(value)}
    assert silent == {name for name in rows if "cells=keeping" in name}


def test_a_cell_that_writes_by_the_distractor_alone_is_explained_by_it() -> None:
    model = trained(LSTM)
    with torch.no_grad():
        model.network.layers[0].hidden_weight.zero_()  # type: ignore[union-attr]
    rows = found(model)
    assert rows["written_explained by=distractor;cells=all"] == pytest.approx(1)
    assert rows["written_explained by=key;cells=all"] < 0.1


def test_what_is_explained_is_the_variance_of_the_groups_means() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(3, 7, 60)
    values = rng.normal(size=(60, 3)) + np.outer(groups, [1.0, 0.1, 0.0])
    fitted = np.stack([values[groups == group].mean(0) for group in groups])
    assert explained_share(values, groups) == pytest.approx(fitted.var(0).sum() / values.var(0).sum())
    assert explained_share(fitted, groups) == pytest.approx(1)
    assert explained_share(values - fitted, groups) == pytest.approx(0, abs=1e-12)
    assert math.isnan(explained_share(np.ones((60, 2)), groups))


def test_a_model_without_an_lstm_is_refused() -> None:
    for options in (TRANSFORMER, replace(LSTM, cell="gru")):
        with pytest.raises(ValueError, match="no LSTM"):
            list(evaluate(trained(options), CONTEXT, SMALL))


def test_a_distance_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="distance 0: expected at least 1"):
        Options(distance=0)


@pytest.mark.parametrize("keeping", [-0.1, 1.0])
def test_a_limit_that_says_nothing_of_a_gate_is_refused(keeping: float) -> None:
    with pytest.raises(ValueError, match=f"keeping {keeping}: expected at least 0 and less than 1"):
        Options(keeping=keeping)
