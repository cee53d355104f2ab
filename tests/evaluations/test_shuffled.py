"""Fillers that read words in order, and one that does not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.shuffled import Options, evaluate
from seedbed.languages.vocabulary import BEGIN, END
from seedbed.measuring.context import Context

Numbers = NDArray[np.float64]


@dataclass
class Counts:
    """Says the words of the document in proportion to their number, but for the hole's own, and remembers."""

    first: bool = False  # looks at the word before the hole besides
    asked: list[tuple[list[list[int]], list[int]]] = field(default_factory=list)

    def fill(self, documents: Documents, places: NDArray[np.int64]) -> Numbers:
        self.asked.append(([one.tolist() for one in documents], places.tolist()))
        rows = []
        for document, place in zip(documents, places, strict=True):
            counts = np.bincount(document, minlength=100) + 1.0
            counts[document[place]] -= 1
            counts[document[place - 1]] += self.first
            rows.append(np.log(counts / counts.sum()))
        return np.array(rows)


def measured(model: Counts, context: Context) -> float:
    (one,) = evaluate(model, context, Options(items=40))
    assert (one.metric, one.unit, one.n) == ("shuffled_divergence", "nat", 40)
    return one.value


def test_who_counts_words_does_not_notice(context: Context) -> None:
    assert measured(Counts(), context) == pytest.approx(0, abs=1e-12)


def test_who_reads_in_order_notices(context: Context) -> None:
    assert measured(Counts(first=True), context) > 1e-3


def test_the_same_words_stand_around_the_same_hole(context: Context) -> None:
    model = Counts()
    measured(model, context)
    (before, places), (after, moved) = model.asked
    assert before != after
    for one, other, place, new in zip(before, after, places, moved, strict=True):
        assert sorted(one) == sorted(other)
        assert one[place] == other[new]
        assert (other[0], other[-1]) == (BEGIN, END)


def test_no_holes_are_refused() -> None:
    with pytest.raises(ValueError, match="items 0"):
        Options(items=0)
