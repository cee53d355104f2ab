import numpy as np
import pytest
import texts
import torch
from torch import Tensor, nn

from seedbed.batching import Packed
from seedbed.documents import Documents
from seedbed.models import recurrent
from seedbed.models.embedding import select_rows
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import scoring
from seedbed.objectives.answer import Objective, Options
from seedbed.objectives.scoring import Batch
from seedbed.tasks import recall

DOCUMENTS = Documents.of([[1, 2, 3], [4, 1], [0, 4, 4, 2]])
OBJECTIVE = Objective(Options(), 5)


class Repeats(nn.Module):
    """Gives the token it reads twice the odds of any other."""

    def forward(self, batch: Packed, scored: Tensor | None = None) -> Tensor:
        return np.log(2) * nn.functional.one_hot(select_rows(batch.tokens, scored), 5).float()


def examples(documents: Documents) -> Batch:
    return OBJECTIVE.examples(documents, np.random.default_rng(0))


def test_all_tokens_but_the_last_are_inputs_and_the_last_is_the_target() -> None:
    batch = examples(DOCUMENTS)
    (read,) = batch.inputs
    assert read.tokens.tolist() == [1, 2, 4, 0, 4, 4]
    assert batch.scored is not None
    assert read.tokens[batch.scored].tolist() == [2, 4, 4]
    assert batch.targets.tolist() == [3, 1, 2]


def test_the_loss_is_the_sum_over_answers_with_their_count() -> None:
    total, count = OBJECTIVE.loss(Repeats(), examples(Documents.of([[1, 3, 3], [4, 1]])))
    assert count == 2
    torch.testing.assert_close(total, torch.tensor(np.log(6 / 2) + np.log(6), dtype=torch.float32))


def test_chance_on_recall_is_ln_8() -> None:
    class Knows(nn.Module):
        def forward(self, batch: Packed, scored: Tensor | None = None) -> Tensor:
            likely = torch.zeros(len(recall.VOCABULARY))
            likely[recall.KEYS :] = -torch.inf
            return likely.expand(len(select_rows(batch.tokens, scored)), -1)

    sequences = recall.Task(recall.Options()).sample(np.random.default_rng(0), 100)
    total, count = OBJECTIVE.loss(Knows(), examples(sequences))
    assert total.item() / count == pytest.approx(2.079, abs=5e-4)


def test_a_batch_scores_as_its_documents_one_by_one() -> None:
    model = unfilled(lambda: recurrent.Model(recurrent.Options(embedding=6, hidden=8), 5))
    fill(model, torch.Generator().manual_seed(0))
    total, count = OBJECTIVE.loss(model, examples(DOCUMENTS))
    single = [OBJECTIVE.loss(model, examples(DOCUMENTS.take([index])))[0] for index in range(3)]
    assert count == 3
    torch.testing.assert_close(total, torch.stack(single).sum())


def test_nothing_is_drawn() -> None:
    rng = np.random.default_rng(0)
    OBJECTIVE.examples(DOCUMENTS, rng)
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize("short", [[], [3]])
def test_a_document_without_a_question_is_refused(short: list[int]) -> None:
    with pytest.raises(ValueError, match="no question before its answer"):
        examples(Documents.of([[1, 2], short]))


def test_the_answer_is_asked_for_as_it_is_scored() -> None:
    questions, answers = DOCUMENTS.without_last(), [3, 1, 2]
    asked = OBJECTIVE.log_probabilities(Repeats(), questions)[questions.offsets[1:] - 1]
    total, _ = OBJECTIVE.loss(Repeats(), examples(DOCUMENTS))
    assert -asked[np.arange(3), answers].sum() == pytest.approx(total.item(), abs=1e-6)


def test_on_a_language_an_example_can_be_shown_and_its_share_counted() -> None:
    document = texts.documents(texts.TEXT)
    (read,), targets = examples(document).inputs, examples(document).targets
    assert (texts.spoken(read.tokens), texts.spoken(targets)) == (texts.TEXT[: -len(" <eos>")], "<eos>")
    assert scoring.scored_shares(OBJECTIVE, document, np.random.default_rng(0)).text == 1 / 11
