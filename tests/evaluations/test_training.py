from __future__ import annotations

import math

import pytest
from torch import nn

from seedbed.documents import Documents
from seedbed.evaluations.training import Options, evaluate
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel

CORPUS = ("<bos> we eat the fig . <eos>", "<bos> she picks the plum . she picks the apple . <eos>")


def observed(log: Log, context: Context) -> dict[tuple[str, object], float]:
    corpus = Documents.of(context.language.encode(text) for text in CORPUS)
    model = TrainedModel(nn.Linear(3, 2), None, log, lambda: corpus)
    return {(one.metric, one.condition.get("epoch")): one.value for one in evaluate(model, context, Options())}


def two_epochs() -> Log:
    log = Log()
    for epoch, rate, total, count in [(1, 0.1, 8.0, 2), (1, 0.2, 2.0, 2), (2, 0.1, 9.0, 9), (2, 0.0, 3.0, 1)]:
        log.add(epoch, rate, total, count)
    log.validation_loss[1], log.validation_loss[3] = 1.5, 1.25
    log.selected[3] = True
    return log


def test_the_log_of_a_training_becomes_observations(context: Context) -> None:
    assert observed(two_epochs(), context) == pytest.approx(
        {
            ("corpus_documents", None): 2,
            ("corpus_tokens", None): 7 + 12,
            ("corpus_withheld", None): 5,
            ("longest_document", None): 12,
            ("parameters", None): 8,
            ("tokens", None): 14,
            ("diverged", None): 0,
            ("best_epoch", None): 2,
            ("final_validation_loss", None): 1.25,
            ("last_fall", None): 0.25,
            ("training_loss", 1): 2.5,
            ("training_loss", 2): 1.2,
            ("validation_loss", 1): 1.5,
            ("validation_loss", 2): 1.25,
            ("learning_rate", 1): 0.2,
            ("learning_rate", 2): 0.0,
        }
    )


def test_a_diverged_training_is_a_result(context: Context) -> None:
    log = Log()
    log.add(1, 0.1, math.nan, 2)
    found = observed(log, context)
    assert found["diverged", None] == 1
    assert math.isnan(found["best_epoch", None])
    assert math.isnan(found["last_fall", None])
    assert math.isnan(found["validation_loss", 1])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_weights_spoilt_by_the_very_last_step_have_diverged_too(context: Context, bad: float) -> None:
    log = two_epochs()
    log.validation_loss[3] = bad
    assert observed(log, context)["diverged", None] == 1


def test_a_training_that_recovered_has_not_diverged(context: Context) -> None:
    log = two_epochs()
    log.validation_loss[1] = math.inf
    assert observed(log, context)["diverged", None] == 0
