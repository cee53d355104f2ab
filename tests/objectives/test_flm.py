import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seedbed.batching import Packed
from seedbed.documents import Documents
from seedbed.objectives.flm import Objective, Options

DOCUMENTS = Documents.of([[1, 2, 3], [4], [0, 4]])
OBJECTIVE = Objective(Options(), 5)


class Repeats(nn.Module):
    """Gives the token it reads twice the odds of any other."""

    def forward(self, batch: Packed) -> Tensor:
        return np.log(2) * nn.functional.one_hot(batch.tokens, 5).float()


def test_every_token_is_scored_on_the_next() -> None:
    batch = OBJECTIVE.examples(DOCUMENTS, np.random.default_rng(0))
    assert batch.inputs.tokens.tolist() == [1, 2, 0]
    assert batch.inputs.positions.tolist() == [0, 1, 0]
    assert batch.targets.tolist() == [2, 3, 4]


def test_the_loss_is_the_sum_of_nats_with_its_count() -> None:
    documents = Documents.of([[1, 1, 3], [4, 4]])
    total, count = OBJECTIVE.loss(Repeats(), OBJECTIVE.examples(documents, np.random.default_rng(0)))
    assert count == 3
    torch.testing.assert_close(total, torch.tensor(np.log([3, 6, 3]).sum(), dtype=torch.float32))


def test_a_single_token_has_nothing_to_predict() -> None:
    total, count = OBJECTIVE.loss(Repeats(), OBJECTIVE.examples(Documents.of([[4]]), np.random.default_rng(0)))
    assert (total.item(), count) == (0, 0)


def test_nothing_is_drawn() -> None:
    rng = np.random.default_rng(0)
    OBJECTIVE.examples(DOCUMENTS, rng)
    assert rng.random() == np.random.default_rng(0).random()


def test_an_empty_document_is_refused() -> None:
    with pytest.raises(ValueError, match="empty document"):
        OBJECTIVE.examples(Documents.of([[]]), np.random.default_rng(0))
