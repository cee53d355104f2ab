import numpy as np
import pytest
import texts
import torch
from torch import Tensor, nn

from seedbed.batching import Packed
from seedbed.documents import Documents
from seedbed.models.embedding import select_rows
from seedbed.objectives.flm import Objective, Options
from seedbed.objectives.scoring import logits, scored_shares

DOCUMENTS = Documents.of([[1, 2, 3], [4], [0, 4]])
OBJECTIVE = Objective(Options(), 5)


class Repeats(nn.Module):
    """Gives the token it reads twice the odds of any other."""

    def forward(self, batch: Packed, scored: Tensor | None = None) -> Tensor:
        return np.log(2) * nn.functional.one_hot(select_rows(batch.tokens, scored), 5).float()


def test_every_token_is_scored_on_the_next() -> None:
    batch = OBJECTIVE.examples(DOCUMENTS, np.random.default_rng(0))
    (rows,) = batch.inputs
    assert rows.tokens.tolist() == [1, 2, 0]
    assert rows.positions.tolist() == [0, 1, 0]
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


def test_the_example_of_the_lecture() -> None:
    batch = OBJECTIVE.examples(texts.documents(texts.TEXT), np.random.default_rng(0))
    (rows,) = batch.inputs
    assert texts.spoken(rows.tokens) == "<bos> she picks her ripe plum from her own garden ."
    assert texts.spoken(batch.targets) == "she picks her ripe plum from her own garden . <eos>"
    assert batch.scored is None  # objectives 6.2: all 11 positions


def test_all_of_the_text_is_scored() -> None:
    found = scored_shares(OBJECTIVE, texts.random_texts([3, 1, 20]), np.random.default_rng(0))
    assert (found.text, found.scored) == (1, 1)


def test_a_leak_sees_what_it_must_predict_and_is_read_without() -> None:
    leaking, some = Objective(Options(architecture="bidirectional"), 19), texts.random_texts([9])
    model = texts.network("causal")
    other = Documents(np.where(some.positions == 5, 3, some.tokens), some.offsets)
    seen = [logits(model, leaking.examples(each, np.random.default_rng(0)))[0].detach() for each in (some, other)]
    assert not torch.equal(*seen)
    read = [leaking.log_probabilities(model, each)[:5] for each in (some, other)]
    assert np.array_equal(*read)


def test_an_encoder_decoder_reads_the_first_token_and_writes_all() -> None:
    batch = Objective(Options(architecture="encoder_decoder"), texts.VOCABULARY).examples(
        texts.documents(texts.TEXT), np.random.default_rng(0)
    )
    source, target = batch.inputs
    assert texts.spoken(source.tokens) == "<bos>"
    assert texts.spoken(target.tokens) == "<bos> she picks her ripe plum from her own garden ."
    assert texts.spoken(batch.targets) == "she picks her ripe plum from her own garden . <eos>"


@pytest.mark.parametrize("architecture", ["causal", "encoder_decoder"])
def test_uses_agree_with_each_other(architecture: str) -> None:
    objective, model = Objective(Options(architecture=architecture), texts.VOCABULARY), texts.network(architecture)
    some, starts = texts.random_texts([5, 30, 2]), np.array([3, 1, 4])
    everywhere = objective.log_probabilities(model, some)
    right = everywhere[np.arange(len(some.tokens) - 1), some.tokens[1:]]
    expected = right[(some.positions >= starts[some.owners])[1:]]
    np.testing.assert_allclose(objective.continuation(model, some, starts), expected, atol=1e-12)


def test_an_empty_document_is_refused() -> None:
    with pytest.raises(ValueError, match="empty document"):
        OBJECTIVE.examples(Documents.of([[]]), np.random.default_rng(0))
