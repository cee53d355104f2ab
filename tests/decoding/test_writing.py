"""Writing with cached networks: against full forwards, one document at a time, and exact distributions."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from networks import Kind
from scipy.stats import chisquare

from seedbed.batching import pack
from seedbed.decoding.choice import Choice
from seedbed.decoding.following import scorer_from_predictions
from seedbed.decoding.steps import StepwiseScorer
from seedbed.decoding.writing import draw_uniforms, generate_documents
from seedbed.documents import Documents
from seedbed.models import recurrent, transformer, window
from seedbed.objectives import flm

VOCABULARY, STOPS = 9, (1, 2)
KINDS = [
    Kind(window, window.Options(words=3, embedding=6, hidden=10)),
    *(Kind(recurrent, recurrent.Options(cell=cell, embedding=8, hidden=8)) for cell in ("rnn", "gru", "lstm")),
    Kind(recurrent, recurrent.Options(embedding=8, hidden=8, layers=2)),
    *(
        Kind(transformer, transformer.Options(d_model=16, heads=2, d_ff=16, positions=code))
        for code in ("sinusoidal", "learned", "none", "rope", "alibi")
    ),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
CHOICES = [Choice(), Choice(temperature=0), Choice(temperature=0.7, top_k=5, top_p=0.9)]
OBJECTIVE = flm.Objective(flm.Options(), VOCABULARY)


def same(one: Documents, other: Documents) -> bool:
    return np.array_equal(one.tokens, other.tokens) and np.array_equal(one.offsets, other.offsets)


def numbers(documents: int = 40, longest: int = 60) -> np.ndarray:
    return draw_uniforms(np.random.default_rng(0), documents, longest)


def cached(kind: Kind, choice: Choice, drawn: np.ndarray) -> Documents:
    begun, score_next = OBJECTIVE.beginning(kind.make(VOCABULARY), len(drawn))
    return generate_documents(score_next, begun, choice, drawn, STOPS)


@every_kind
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_cached_decoding_equals_full_forwards(kind: Kind, choice: Choice) -> None:
    """Documents end at all lengths up to 60, so that memories are dropped and grow on the way."""
    model = kind.make(VOCABULARY)
    full = scorer_from_predictions(lambda documents: OBJECTIVE.log_probabilities(model, documents))
    expected = generate_documents(full, [0], choice, numbers(), STOPS)
    assert same(cached(kind, choice, numbers()), expected)


@every_kind
def test_steps_give_the_logits_of_the_full_forward(kind: Kind) -> None:
    model, texts = kind.make(VOCABULARY), np.random.default_rng(1).integers(0, VOCABULARY, (12, 40))
    steps = StepwiseScorer(model, model.start(12), 12)  # type: ignore[arg-type]
    for growing, length in [
        (range(12), 2),
        (range(12), 3),
        ([1, 4, 5, 7, 8, 9, 11], 18),
        ([4, 9, 11], 19),
        ([9], 40),
    ]:
        rows = np.array(growing)
        found = steps(rows, texts[rows, :length])
        expected = model(pack(Documents.of(texts[rows, :length]))).unflatten(0, (len(rows), length))[:, -1]
        np.testing.assert_allclose(found, expected.detach(), atol=2e-6)


@every_kind
@pytest.mark.parametrize("choice", [CHOICES[0], CHOICES[2]], ids=str)  # greedy ones are all the same
def test_many_documents_equal_each_alone(kind: Kind, choice: Choice) -> None:
    drawn = numbers(15)
    together = cached(kind, choice, drawn)
    alone = [cached(kind, choice, drawn[[index]]).tokens for index in range(len(drawn))]
    assert same(together, Documents.of(alone))


@every_kind
def test_greedy_writes_the_most_probable_token_again_and_again(kind: Kind) -> None:
    model, tokens = kind.make(VOCABULARY), [0]
    while len(tokens) < 31 and tokens[-1] not in STOPS:
        tokens.append(int(model(pack(Documents.of([tokens])))[-1].argmax()))
    (found,) = cached(kind, Choice(temperature=0), numbers(1, 30))
    assert found.tolist() == tokens


@every_kind
def test_a_larger_limit_changes_no_document_that_had_ended(kind: Kind) -> None:
    short, long = (cached(kind, Choice(), numbers(40, longest)) for longest in (10, 60))
    for one, other in zip(short, long, strict=True):
        assert np.array_equal(one, other[: len(one)])
        assert len(one) == len(other) or len(one) == 11


def test_documents_end_after_the_first_stop_or_at_the_limit() -> None:
    documents = cached(KINDS[0], Choice(), numbers(200, 8))
    assert set(documents.lengths) == set(range(2, 10))
    for document in documents:
        stopped = np.flatnonzero(np.isin(document[1:], STOPS))
        assert document[0] == 0
        assert (stopped.tolist() or [7]) == [len(document) - 2]


class Chain:
    """A network whose logits are known: a Markov chain over tokens; its state counts how often each was read."""

    def __init__(self) -> None:
        self.logits = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
        self.batches: list[int] = []

    def start(self, batch: int) -> torch.Tensor:
        return torch.zeros(batch, 5)

    def step(self, tokens: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.batches.append(len(tokens))
        return self.logits[tokens], state.scatter_add(1, tokens[:, None], torch.ones(len(tokens), 1))


def chain_documents(chain: Chain, choice: Choice, documents: int, longest: int) -> Documents:
    steps = StepwiseScorer(chain, chain.start(documents), documents)
    return generate_documents(steps, [0], choice, numbers(documents, longest), [1])


@pytest.mark.parametrize("choice", [Choice(), Choice(temperature=0.5, top_p=0.9)], ids=str)
def test_documents_have_the_frequencies_of_the_exact_distribution(choice: Choice) -> None:
    documents, longest = 20_000, 3
    chain = Chain()
    shares = choice.probabilities(chain.logits.double().numpy())
    expected: dict[tuple[int, ...], float] = {}
    for path in product(range(5), repeat=longest):
        end = path.index(1) + 1 if 1 in path else longest
        if 1 in path[end:] or any(path[end:]):
            continue  # each document once, with zeros after its end
        whole = (0, *path[:end])
        expected[whole] = float(np.prod([shares[a, b] for a, b in pairwise(whole)]))
    assert sum(expected.values()) == pytest.approx(1)
    found = [tuple(document.tolist()) for document in chain_documents(chain, choice, documents, longest)]
    possible = [whole for whole, share in expected.items() if share]
    assert set(found) <= set(possible)
    counts = [found.count(whole) for whole in possible]
    assert chisquare(counts, [documents * expected[whole] for whole in possible]).pvalue > 1e-3


def test_documents_that_have_ended_are_dropped() -> None:
    chain = Chain()
    documents = chain_documents(chain, Choice(), 1000, 40)
    growing = [int((documents.lengths > step).sum()) for step in range(1, len(chain.batches) + 1)]
    assert chain.batches[0] == 1000
    # What is read at a step is never twice as much as what grows, or more.
    assert all(batch < 2 * max(grown, 1) for batch, grown in zip(chain.batches[1:], growing[1:], strict=False))


def test_what_is_given_stops_nothing_and_costs_no_number() -> None:
    chain = Chain()
    steps = StepwiseScorer(chain, chain.start(30), 30)
    found = generate_documents(steps, [0, 1, 3], Choice(), numbers(30, 5), [1])
    assert (found.lengths >= 4).all()
    assert all(document[:3].tolist() == [0, 1, 3] for document in found)
    expected = Choice().tokens(np.repeat(chain.logits[[3]].double().numpy(), 30, 0), numbers(30, 5)[:, 0])
    assert [document[3] for document in found] == expected.tolist()


def test_none_and_nothing_can_be_written() -> None:
    assert len(chain_documents(Chain(), Choice(), 0, 5)) == 0
    assert chain_documents(Chain(), Choice(), 3, 0).tokens.tolist() == [0, 0, 0]
