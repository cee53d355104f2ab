"""What a predictor of the next token gives the rest of a document."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens

Numbers = NDArray[np.float64]


def continued(predict: Callable[[Documents], Numbers], documents: Documents, starts: Tokens) -> Numbers:
    """[scored tokens], the log probability of each token from the place ``starts`` of its document on.

    Args:
        predict: Gives [tokens, vocabulary], log probabilities of what follows each token.
        documents: Any.
        starts: [documents], from 1.
    """
    targets = documents.without_first()
    later = targets.positions + 1 >= starts[targets.owners]
    found: Numbers = predict(documents.without_last())[later, targets.tokens[later]]
    return found
