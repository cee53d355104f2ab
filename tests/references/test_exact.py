from __future__ import annotations

import numpy as np
import pytest

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.randomness import stream
from seedbed.references.exact import Options, Reference


@pytest.fixture(scope="module")
def documents(garden: Language) -> Documents:
    return garden.sample(stream(0, "reference tests"), 2000)


def loss(garden: Language, documents: Documents, window: int) -> float:
    predicted = Reference(Options(window), garden).log_probabilities(documents.without_last())
    targets = documents.without_first().tokens
    return -float(predicted[np.arange(len(targets)), targets].mean())


def test_a_longer_window_predicts_better_until_it_knows_all(garden: Language, documents: Documents) -> None:
    losses = [loss(garden, documents, window) for window in (1, 2, 3, 4, 5, 6)]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] == pytest.approx(loss(garden, documents, 0), abs=1e-12)


@pytest.mark.parametrize("window", [11, 300])
def test_a_window_over_every_sentence_is_the_language_itself(
    garden: Language, documents: Documents, window: int
) -> None:
    inputs = documents.take(range(100)).without_last()
    seen, whole = (Reference(Options(one), garden).log_probabilities(inputs) for one in (window, 0))
    np.testing.assert_allclose(np.exp(seen), np.exp(whole), atol=1e-12)


def test_predictions_are_distributions(garden: Language, documents: Documents) -> None:
    predicted = Reference(Options(5), garden).log_probabilities(documents.without_last())
    assert np.exp(predicted).sum(1) == pytest.approx(1, abs=1e-12)


def test_tokens_before_the_window_change_nothing(garden: Language) -> None:
    reference = Reference(Options(5), garden)
    rows = [
        reference.log_probabilities(Documents.of([garden.encode(f"<bos> {text} grow the fresh pumpkin from")]))[-1]
        for text in ("the children", "we", "she eats the fig . I")
    ]
    assert (rows[0] == rows[1]).all()
    assert (rows[0] == rows[2]).all()
    assert np.exp(rows[0][garden.encode("our my their her")]) == pytest.approx([0.452, 0.370, 0.178, 0], abs=5e-4)


def test_a_negative_window_is_refused() -> None:
    with pytest.raises(ValueError, match="window -1: expected 0"):
        Options(-1)


@pytest.mark.parametrize("window", [0, 5])
def test_a_continuation_is_what_is_predicted_token_by_token(garden: Language, window: int) -> None:
    some = garden.sample(stream(0, "continuations"), 20)
    reference, starts = Reference(Options(window), garden), np.minimum(np.arange(1, 21), some.lengths)
    expected = []
    for document, start in zip(some, starts, strict=True):
        rows = reference.log_probabilities(Documents.of([document]))
        expected += [rows[place - 1, document[place]] for place in range(start, len(document))]
    np.testing.assert_allclose(reference.continuation(some, starts), expected, atol=1e-12)


def test_a_hole_is_filled_by_the_exact_posterior(garden: Language, documents: Documents) -> None:
    some, places = documents.take(range(20)), np.full(20, 3)
    posterior = [garden.posterior(document, 3) for document in some]
    np.testing.assert_allclose(np.exp(Reference(Options(), garden).fill(some, places)), posterior, atol=1e-12)


def test_a_window_fills_a_hole_from_the_tokens_before_it(garden: Language) -> None:
    some = Documents.of(
        garden.encode(f"<bos> she picks the {rest} . <eos>") for rest in ("plum", "ripe fig", "rose")
    )
    filled = np.exp(Reference(Options(5), garden).fill(some, np.array([4, 4, 4])))
    expected = garden.next_token(garden.encode("<bos> she picks the"))
    np.testing.assert_allclose(filled, np.tile(expected, (3, 1)), atol=1e-12)
