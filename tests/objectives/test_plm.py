import numpy as np
import pytest
import torch
from texts import ARCHITECTURES, TEXT, VOCABULARY, documents, gradients, network, random_texts, same, spoken

from seedbed.documents import Documents
from seedbed.objectives import flm, scoring
from seedbed.objectives.plm import Objective, Options

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


class Fixed(np.random.Generator):
    """Draws the same prefix always, as long as a document may have it."""

    def __init__(self, prefix: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.prefix = prefix

    def integers(self, low: int, high: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return np.clip(self.prefix, low, high - 1)


def objective(architecture: str = "prefix") -> Objective:
    return Objective(Options(architecture=architecture), VOCABULARY)


def test_the_example_of_the_lecture() -> None:
    batch = objective().examples(documents(TEXT), Fixed(4))
    (rows,) = batch.inputs
    assert spoken(rows.tokens) == "<bos> she picks her ripe plum from her own garden ."
    assert batch.scored.tolist() == [3, 4, 5, 6, 7, 8, 9, 10]  # "her" predicts "ripe": 8 of 11 positions
    assert spoken(batch.targets) == "ripe plum from her own garden . <eos>"
    (bucket,) = rows.layout.buckets
    sees = (bucket.mask.bias[0, 0, :6, :6] == 0).int().tolist()
    assert sees == [[1, 1, 1, 1, 0, 0]] * 4 + [[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]


@every_architecture
def test_a_prefix_of_one_is_forward_language_modelling(architecture: str) -> None:
    some, model = random_texts([0, 1, 5, 30, 2]), network(architecture)
    kind = "encoder_decoder" if architecture == "encoder_decoder" else "causal"
    theirs = flm.Objective(flm.Options(architecture=kind), VOCABULARY).examples(some, np.random.default_rng(0))
    ours = objective(architecture).examples(some, Fixed(1))
    assert torch.equal(ours.targets, theirs.targets)
    same(gradients(model, [ours]), gradients(model, [theirs]))
    same([scoring.logits(model, ours)], [scoring.logits(model, theirs)])


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_every_split_is_as_likely_as_any_other(length: int) -> None:
    draws = 10_000
    some = Documents.of([[*range(length)]] * draws)
    batch = objective("causal").examples(some, np.random.default_rng(0))
    inputs = some.without_last()
    scored = np.arange(len(inputs.tokens)) if batch.scored is None else batch.scored.numpy()
    counts = np.bincount(np.bincount(inputs.owners[scored], minlength=draws), minlength=length)
    if length == 1:
        assert counts.tolist() == [draws]
        return
    assert counts[0] == 0
    expected = draws / (length - 1)
    assert (abs(counts[1:] - expected) < 5 * np.sqrt(expected)).all()


def test_half_of_the_text_is_scored() -> None:
    found = scoring.scored_shares(objective(), random_texts([24] * 2000), np.random.default_rng(0))
    assert found.text == pytest.approx(13 / 25, abs=0.02)  # a prefix of 1 to 25: 1 to 25 of 25 tokens are scored
    assert found.scored == found.text


def test_later_tokens_leave_earlier_predictions_as_they_are() -> None:
    some, model = random_texts([20]), network("prefix")
    before = scoring.logits(model, objective().examples(some, Fixed(6)))
    for place in range(6, 21):
        changed = Documents(np.where(some.positions == place, 4, some.tokens), some.offsets)
        after = scoring.logits(model, objective().examples(changed, Fixed(6)))
        assert torch.equal(before[: place - 5], after[: place - 5])


@every_architecture
def test_a_document_of_one_token_is_all_prefix(architecture: str) -> None:
    total, count = objective(architecture).loss(
        network(architecture), objective(architecture).examples(Documents.of([[0]]), np.random.default_rng(0))
    )
    assert (total.item(), count) == (0, 0)


@every_architecture
def test_a_continuation_has_all_before_it_as_its_prefix(architecture: str) -> None:
    some, model = random_texts([20]), network(architecture)
    batch = objective(architecture).examples(some, Fixed(6))
    expected = scoring.logits(model, batch).log_softmax(-1).gather(1, batch.targets[:, None])[:, 0].detach()
    found = objective(architecture).continuation(model, some, np.array([6]))
    np.testing.assert_allclose(found, expected, atol=1e-10)


@every_architecture
def test_reading_left_to_right_is_a_prefix_of_one(architecture: str) -> None:
    some, model = random_texts([20, 3]), network(architecture)
    batch = objective(architecture).examples(some, Fixed(1))
    found = objective(architecture).log_probabilities(model, some)
    inner = np.delete(found, some.offsets[1:] - 1, axis=0)
    np.testing.assert_allclose(inner, scoring.logits(model, batch).log_softmax(-1).detach(), atol=1e-10)
