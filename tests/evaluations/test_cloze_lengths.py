"""Holes of several words, filled by whatever knows the answer and by what never ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.cloze_lengths import Options, evaluate
from seedbed.languages.infilling import hole_log_probabilities
from seedbed.languages.vocabulary import BEGIN, PERIOD
from seedbed.measuring.context import Context

Numbers = NDArray[np.float64]
Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Knows:
    """The language itself, a constant off."""

    context: Context
    off: float = 0.0

    def infill(self, documents: Documents, places: Tokens, sizes: Tokens) -> Numbers:
        for document, place, size in zip(documents, places, sizes, strict=True):
            hole = document[place : place + size]
            assert len(hole) == size
            assert not {BEGIN, PERIOD} & set(hole.tolist())
            assert PERIOD not in document[:place]
        return hole_log_probabilities(self.context.language, documents, places, sizes) - self.off


def test_the_language_is_its_own_floor_at_every_length(context: Context) -> None:
    found = {
        (one.metric, one.condition["words"]): one for one in evaluate(Knows(context, 0.5), context, Options())
    }
    for words in range(1, 7):
        assert found["infill_excess", words].value == pytest.approx(0.5 / (words + 1))
        assert found["infill_excess", words].n == found["infill_loss", 1].n  # the same documents
        own = found["infill_language_loss", words].value
        assert found["infill_loss", words].value == pytest.approx(own + 0.5 / (words + 1))
    holes = [found["infill_language_loss", words].value * (words + 1) for words in range(1, 7)]
    assert holes == sorted(holes)


@pytest.mark.parametrize("options", [{"longest": 0}, {"items": 0}])
def test_no_holes_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="0: expected at least 1"):
        Options(**options)
