"""Log probabilities of the rest of a document, from a predictor of the next token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens

Numbers = NDArray[np.float64]


def continuation_log_probabilities(
    predict: Callable[[Documents], Numbers], documents: Documents, starts: Tokens
) -> Numbers:
    """[scored tokens], the log probability of each token from position ``starts`` of its document on.

    Args:
        predict: Returns [tokens, vocabulary], log probabilities of the token after each.
        documents: Documents without empty ones.
        starts: [documents], positions from 1.
    """
    targets = documents.without_first()
    later = targets.positions + 1 >= starts[targets.owners]
    found: Numbers = predict(documents.without_last())[later, targets.tokens[later]]
    return found
