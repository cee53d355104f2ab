"""Documents and batches with little or nothing to predict, in trainings of every objective and network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from seedbed.configuration.configuration import Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.documents import Documents
from seedbed.objectives.flm import Objective
from seedbed.objectives.scoring import Batch
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.plan import Plan
from seedbed.training.loop import Trained

PLAN = Plan(Configuration({"studies": ["garden", "recall"], "seeds": 1}))
GARDEN = ("flm", "window", "rnn", "gru", "lstm", "flm-learned", "flm-nope", "flm-rope", "flm-alibi", "gla")
GARDEN += ("leaky", "plm", "plm-encoder-decoder", "mlm", "span", "span-at-end", "span-causal", "span-prefix")
RUNS = [("garden", name) for name in GARDEN] + [("recall", "gru-short")]
#: Of these objectives a document of one token is all condition; the others refuse it themselves.
LEFT_TO_RIGHT = [one for one in RUNS if one[1][:3] not in ("mlm", "spa") and one[0] == "garden"]

every_run = pytest.mark.parametrize(("study", "run"), RUNS)


def training(study: str, run: str, batch: int) -> Training:
    """A training of two epochs."""
    found = PLAN.training(study, run, 0)
    options = found.entry.training | {"epochs": 2, "batch": batch, "warm_up": 1, "order": "shuffled"}
    return replace(found, entry=found.entry.model_copy(update={"training": options}))


def document(study: str) -> list[int]:
    """One that every objective can ask about."""
    return [0, 5, 6, 7, 2, 1] if study == "garden" else [3, 9, 10, 11, 3]


def require_finite(trained: Trained) -> None:
    assert all(tensor.isfinite().all() for tensor in trained.weights.values())
    assert np.isfinite(trained.log.training_loss).all()


@every_run
def test_one_document_is_a_corpus_and_a_batch(study: str, run: str) -> None:
    one = Documents.of([document(study)])
    trained = training(study, run, batch=4).fit(one, one)
    require_finite(trained)
    assert trained.log.epoch == [1, 2]
    assert trained.log.tokens[0] > 0


@every_run
@pytest.mark.parametrize("tokens", [[], [3]])
def test_documents_with_nothing_to_predict_are_refused_before_the_training(
    study: str, run: str, tokens: list[int]
) -> None:
    short, right = Documents.of([tokens] * 3), Documents.of([document(study)])
    message = " documents: 3 of 3 have fewer than 2 tokens, .*: let the data's source give .* at least 2 tokens"
    with pytest.raises(ConfigError, match=f"training{message}"):
        training(study, run, batch=2).fit(short, right)
    with pytest.raises(ConfigError, match=f"validation{message}"):
        training(study, run, batch=2).fit(right, short)


@pytest.mark.parametrize(("study", "run"), LEFT_TO_RIGHT)
def test_a_document_of_one_token_adds_nothing_to_a_batch(study: str, run: str) -> None:
    one, more = Documents.of([document(study)]), Documents.of([[0], document(study), [0]])
    alone, beside = (training(study, run, batch=4).fit(some, some) for some in (one, more))
    require_finite(beside)
    assert beside.log.tokens[0] > 0
    if not run.startswith("plm"):  # whose prefixes are random
        assert beside.log.tokens == alone.log.tokens
        assert beside.log.training_loss == pytest.approx(alone.log.training_loss, rel=1e-4)


def test_so_many_of_them_that_a_batch_may_have_no_other_are_refused() -> None:
    right, short = document("garden"), [0]
    some = Documents.of([right] * 6 + [short])
    require_finite(training("garden", "gru", batch=5).fit(some, some))  # batches of 5 and 2
    for documents, smallest in (([right] * 5 + [short], 1), ([right] * 3 + [short] * 2, 2)):
        with pytest.raises(ConfigError, match=f"so a batch of {smallest} may have nothing to predict"):
            training("garden", "gru", batch=5 if smallest == 1 else 3).fit(Documents.of(documents), some)


def test_an_objective_that_scores_nothing_of_a_batch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(objective: Objective, model: nn.Module, batch: Batch) -> tuple[torch.Tensor, int]:
        return torch.zeros((), requires_grad=True), 0

    monkeypatch.setattr(Objective, "loss", loss)
    one = Documents.of([document("garden")])
    with pytest.raises(ConfigError, match="objective flm scores no token of a batch: let it score one of every"):
        training("garden", "gru", batch=1).fit(one, one)


def test_the_longest_document_is_named_before_the_first_step() -> None:
    found = training("garden", "flm-learned", batch=2)
    few = found.entry.model | {"max_positions": 8}
    small = replace(found, entry=found.entry.model_copy(update={"model": few}))
    short, documents = document("garden"), [document("garden"), [0, *[5] * 9, 1], [0, *[5] * 12, 1]]
    with pytest.raises(ConfigError, match=r"training document 2, the longest of all with 14 tokens: .*positions"):
        small.fit(Documents.of(documents), Documents.of([short]))
    with pytest.raises(ConfigError, match="validation document 2, the longest"):
        small.fit(Documents.of([short]), Documents.of(documents))
