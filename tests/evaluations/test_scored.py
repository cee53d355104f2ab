from __future__ import annotations

import pytest
from torch import nn

from seedbed.evaluations.scored import Options, evaluate
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.objectives import flm, mlm


def scored(objective: object, context: Context) -> dict[str, float]:
    model = TrainedModel(nn.Linear(1, 1), objective, Log(), lambda: context.test)
    return {one.metric: one.value for one in evaluate(model, context, Options())}


def test_a_forward_objective_asks_for_every_token_but_the_first(context: Context) -> None:
    assert scored(flm.Objective(flm.Options(), context.language.vocabulary), context) == {
        "scored_share": 1.0,
        "scored_tokens": 1.0,
    }


def test_a_masked_objective_asks_for_the_share_that_it_hides(context: Context) -> None:
    found = scored(mlm.Objective(mlm.Options(share=0.3), context.language.vocabulary), context)
    assert found["scored_share"] == pytest.approx(0.3, abs=0.01)


def test_the_share_does_not_depend_on_the_call(context: Context) -> None:
    objective = mlm.Objective(mlm.Options(), context.language.vocabulary)
    assert scored(objective, context) == scored(objective, context)
