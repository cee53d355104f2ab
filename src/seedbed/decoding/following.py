"""What may follow documents that grow side by side, token by token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens

Numbers = NDArray[np.float64]

#: From the documents that still grow, [growing] indices in ascending order, and all their tokens so far,
#: [growing, length], to the logits or log probabilities of what follows each, [growing, vocabulary]. A document
#: that was left out once does not come again.
Following = Callable[[Tokens, Tokens], Numbers]


def predicted(log_probabilities: Callable[[Documents], Numbers]) -> Following:
    """What follows by whole predictions, [tokens, vocabulary]: each step reads all tokens so far again."""

    def following(growing: Tokens, texts: Tokens) -> Numbers:
        last = texts.shape[1] * np.arange(1, len(texts) + 1) - 1
        found: Numbers = log_probabilities(rectangle(texts))[last]
        return found

    return following


def rectangle(texts: Tokens) -> Documents:
    """The rows of a matrix [documents, length] as documents."""
    return Documents(texts.ravel(), texts.shape[1] * np.arange(len(texts) + 1))
