"""Score the next token of many documents that are written in parallel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens

Numbers = NDArray[np.float64]

#: A function of the unfinished documents, [growing] indices in ascending order, and of all their tokens so far,
#: [growing, length]. It returns the logits or log probabilities of the next token of each, [growing, vocabulary].
#: A document that is missing in one call is missing in all later calls.
NextTokenScorer = Callable[[Tokens, Tokens], Numbers]


def scorer_from_predictions(log_probabilities: Callable[[Documents], Numbers]) -> NextTokenScorer:
    """A scorer from a function that gives [tokens, vocabulary]; each step reads all tokens so far again."""

    def score_next(growing: Tokens, texts: Tokens) -> Numbers:
        last = texts.shape[1] * np.arange(1, len(texts) + 1) - 1
        found: Numbers = log_probabilities(rows_as_documents(texts))[last]
        return found

    return score_next


def rows_as_documents(texts: Tokens) -> Documents:
    """The rows of a matrix [documents, length] as documents."""
    return Documents(texts.ravel(), texts.shape[1] * np.arange(len(texts) + 1))
