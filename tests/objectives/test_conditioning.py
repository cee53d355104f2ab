from types import ModuleType

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import ARCHITECTURES, TEXT, documents, gradients, network, random_texts, same, spoken
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.languages.vocabulary import Vocabulary
from seedbed.objectives import flm, mlm, plm, scoring, span
from seedbed.objectives.conditioning import conditional_batch, continuation, next_token_log_probabilities

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
LENGTHS = [0, 1, 5, 30, 2]
GIVEN = np.array([1, 2, 7, 9, 2])
Pairs = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=6)


def texts(pairs: list[tuple[int, int]]) -> tuple[Documents, np.ndarray]:
    lengths = [sum(pair) for pair in pairs]
    rng = np.random.default_rng(0)
    return Documents.of([rng.integers(0, 12, length) for length in lengths]), np.array([pair[0] for pair in pairs])


def alone(model: nn.Module, tokens: np.ndarray, given_tokens: int, architecture: str) -> Tensor:
    """Log probabilities [asked, V] of one document by one forward for each asked token, with hand-made inputs."""
    rows = []
    for place in range(given_tokens, len(tokens)):
        if architecture == "encoder_decoder":
            source, answer = Documents.of([tokens[:given_tokens]]), [0, *tokens[given_tokens:place]]
            logits = model(pack(source, source.lengths), pack(Documents.of([answer])))
        else:
            prefix = [given_tokens] if architecture == "prefix" else None
            logits = model(pack(Documents.of([tokens[:place]]), prefix))
        rows.append(logits[-1].log_softmax(-1))
    return torch.stack(rows) if rows else torch.empty(0, 19, dtype=torch.double)


@every_architecture
@settings(max_examples=15)
@given(pairs=Pairs)
def test_each_asked_token_is_predicted_from_what_is_given_and_the_tokens_before(
    architecture: str, pairs: list[tuple[int, int]]
) -> None:
    model, (some, amounts) = network(architecture), texts(pairs)
    batch = conditional_batch(some, amounts, architecture)
    expected = torch.cat([alone(model, *pair, architecture) for pair in zip(some, amounts, strict=True)])
    same([scoring.logits(model, batch).log_softmax(-1)], [expected])
    assert batch.targets.tolist() == [
        token for tokens, amount in zip(some, amounts, strict=True) for token in tokens[amount:]
    ]


@every_architecture
def test_loss_and_gradients_of_a_batch_equal_those_of_its_documents(architecture: str) -> None:
    model, some = network(architecture), random_texts(LENGTHS)
    together = conditional_batch(some, GIVEN, architecture)
    apart = [conditional_batch(some.take([index]), GIVEN[[index]], architecture) for index in range(len(some))]
    same(gradients(model, [together]), gradients(model, apart))
    assert len(together.targets) == sum(len(batch.targets) for batch in apart)


@every_architecture
def test_no_gradient_comes_from_later_tokens(architecture: str) -> None:
    """The embedding of a token that occurs once changes no prediction before it."""
    some, amounts = documents("<bos> she picks her fig from yard . <eos>"), np.array([3])
    model, batch = network(architecture), conditional_batch(some, amounts, architecture)
    model.embedding.logits = lambda hidden: hidden[:, :8]  # the output must not lead to the embedding
    for index in range(len(batch.targets) - 1):
        (gradient,) = torch.autograd.grad(scoring.logits(model, batch)[index].sum(), model.embedding.weight)
        reached = {token for token in some.tokens.tolist() if gradient[token].any()}
        assert reached == set(some.tokens[: 3 + index].tolist())


def test_the_layouts_read_as_documented() -> None:
    some, amounts = documents(TEXT), np.array([4])
    for architecture in ("causal", "prefix"):
        (row,) = conditional_batch(some, amounts, architecture).inputs
        assert spoken(row.tokens) == "<bos> she picks her ripe plum from her own garden ."
    source, target = conditional_batch(some, amounts, "encoder_decoder").inputs
    assert spoken(source.tokens) == "<bos> she picks her"
    assert spoken(target.tokens) == "<bos> ripe plum from her own garden ."


@pytest.mark.parametrize("amounts", [[0, 1], [1, 4]])
@every_architecture
def test_no_more_is_given_than_there_is_and_no_less_than_a_token(architecture: str, amounts: list[int]) -> None:
    with pytest.raises(ValueError, match="expected 1 to all tokens"):
        conditional_batch(Documents.of([[1], [1, 2, 3]]), np.array(amounts), architecture)


@every_architecture
def test_reading_left_to_right_gives_a_distribution_after_every_token(architecture: str) -> None:
    model, some = network(architecture), random_texts(LENGTHS)
    found = next_token_log_probabilities(model, some, architecture)
    assert found.dtype == np.float64
    assert found.shape == (len(some.tokens), 19)
    expected = torch.cat([alone(model, [*tokens, 1], 1, architecture) for tokens in some])
    np.testing.assert_allclose(found, expected.detach(), atol=1e-8)


@every_architecture
def test_a_continuation_is_as_likely_as_its_tokens_one_after_another(architecture: str) -> None:
    model, some = network(architecture), random_texts(LENGTHS * 20)
    amounts = np.tile(GIVEN, 20)
    found = continuation(model, some, amounts, architecture)
    expected = []
    for tokens, amount in zip(some, amounts, strict=True):
        predicted = alone(model, tokens, amount, architecture).detach()
        expected += predicted[np.arange(len(predicted)), tokens[amount:]].tolist()
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (flm, flm.Options(architecture="encoder_decoder")),
        (plm, plm.Options(architecture="encoder_decoder")),
        (mlm, mlm.Options()),
        (span, span.Options()),
    ],
)
def test_a_task_without_marks_is_refused_where_they_are_needed(kind: ModuleType, options: object) -> None:
    with pytest.raises(ValueError, match="between <bos> and <eos>: give the run data of a language"):
        kind.Objective(options, Vocabulary((), ("a", "b"), ("<mask>", "<x0>")))
