from __future__ import annotations

import numpy as np
import pytest

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.references.guess import Options, Reference
from seedbed.tasks import recall


def test_the_named_words_are_equally_probable_and_all_else_impossible() -> None:
    task = recall.Task(recall.Options())
    predicted = Reference(Options(("k0", "k3", "?", "k3")), task).log_probabilities(Documents.of([[0, 9], [2]]))
    assert predicted.shape == (3, 18)
    assert np.exp(predicted).sum(1) == pytest.approx(1)
    assert np.flatnonzero(predicted[0] > -np.inf).tolist() == [0, 3, 16]
    assert (predicted == predicted[0]).all()


def test_without_words_it_guesses_any_word_of_the_vocabulary(garden: Language) -> None:
    (predicted,) = np.exp(Reference(Options(), garden).log_probabilities(Documents.of([[0]])))
    vocabulary = garden.vocabulary
    assert predicted[vocabulary.word_ids] == pytest.approx(1 / len(vocabulary.words))
    assert predicted[vocabulary.structural_ids].sum() == 0


def test_an_unknown_word_is_named() -> None:
    with pytest.raises(ValueError, match="no token 'k8'"):
        Reference(Options(("k8",)), recall.Task(recall.Options())).log_probabilities(Documents.of([[0]]))
