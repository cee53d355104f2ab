"""The exact probability of a hole's tokens, against plain enumeration of all possible tokens."""

from __future__ import annotations

import math
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seedbed.documents import Documents
from seedbed.languages.infilling import hole_log_probabilities

if TYPE_CHECKING:
    from conftest import Case


def enumerated(case: Case, text: str, place: int, size: int, sentences: int) -> float:
    """By enumeration of all documents up to a number of sentences."""
    words = text.split()
    before, behind = words[:place], words[place + size :]
    known = [case.oracle.full] * sentences
    ways = chain.from_iterable(product(*known[:number]) for number in range(1, sentences + 1))
    total = 0.0
    for document in (case.oracle.wrap(*way) for way in ways):
        tokens = document.split()
        fits = len(tokens) > len(before) + len(behind)
        if fits and tokens[:place] == before and tokens[len(tokens) - len(behind) :] == behind:
            total += case.oracle.document(document)
    return math.log(case.oracle.document(text) / total)


def found(case: Case, text: str, place: int, size: int) -> float:
    document = Documents.of([case.language.encode(text)])
    (value,) = hole_log_probabilities(case.language, document, np.array([place]), np.array([size]))
    return float(value)


@pytest.mark.parametrize(("place", "size"), [(1, 1), (2, 1), (2, 3), (1, 5), (4, 2), (3, 5)])
def test_holes_of_one_sentence_are_as_likely_as_enumerated(repeated: Case, place: int, size: int) -> None:
    text = "<s> the cow near the hens eats the hay . </s>"
    assert found(repeated, text, place, size) == pytest.approx(enumerated(repeated, text, place, size, 1))


@pytest.mark.parametrize(("place", "size"), [(1, 1), (2, 3), (3, 2)])
def test_a_hole_may_hold_whole_sentences(ambiguous: Case, place: int, size: int) -> None:
    text = "<bos> herb grows here . rose grows there again . <eos>"
    expected = enumerated(ambiguous, text, place, size, 6)
    assert found(ambiguous, text, place, size) == pytest.approx(expected, abs=0.05)
    assert found(ambiguous, text, place, size) < expected  # longer documents are possible too


def test_many_holes_are_as_one(small: Case) -> None:
    documents = small.language.sample(np.random.default_rng(0), 20)
    places, sizes = np.ones(20, np.int64), np.array([1, 2] * 10)
    alone = [
        hole_log_probabilities(small.language, documents.take([one]), places[[one]], sizes[[one]])[0]
        for one in range(20)
    ]
    together = hole_log_probabilities(small.language, documents, places, sizes)
    np.testing.assert_allclose(together, alone, atol=1e-12)
