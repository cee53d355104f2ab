from types import ModuleType

import numpy as np
import pytest
import torch
from texts import VOCABULARY, gradients, network, random_texts, same
from torch.nn import functional as F

from seedbed.objectives import answer, flm, mlm, plm, scoring, span

TASKS = [
    (flm, {"architecture": "causal"}),
    (flm, {"architecture": "bidirectional"}),
    (flm, {"architecture": "encoder_decoder"}),
    (plm, {"architecture": "causal"}),
    (plm, {"architecture": "prefix"}),
    (plm, {"architecture": "encoder_decoder"}),
    (span, {"architecture": "causal"}),
    (span, {"architecture": "prefix"}),
    (span, {"architecture": "encoder_decoder"}),
    (mlm, {}),
    (answer, {}),
]


@pytest.mark.parametrize(("module", "options"), TASKS)
def test_scoring_some_tokens_equals_selecting_from_the_logits_of_all(
    module: ModuleType, options: dict[str, str]
) -> None:
    task = module.Objective(module.Options(**options), VOCABULARY)
    batch = task.examples(random_texts([5, 1, 30, 9, 2]), np.random.default_rng(0))
    model = network(options.get("architecture", ""))
    everywhere = model(*batch.inputs)
    expected = everywhere if batch.scored is None else everywhere[batch.scored]
    same([scoring.logits(model, batch)], [expected])
    loss = F.cross_entropy(expected, batch.targets, reduction="sum")
    same(gradients(model, [batch]), torch.autograd.grad(loss, list(model.parameters())))
