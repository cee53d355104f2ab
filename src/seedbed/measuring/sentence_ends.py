"""Where the sentences of documents end, for evaluations that ask for a part of a document."""

from __future__ import annotations

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.vocabulary import PERIOD


def periods(documents: Documents, number: int) -> tuple[Tokens, Tokens]:
    """Where the sentence of that number, from 1, ends.

    Returns:
        [found], the documents that have this sentence, and [found], the place of its period in each.
    """
    closed = np.cumsum(documents.tokens == PERIOD)
    before = np.concatenate([[0], closed])[documents.offsets[:-1]]
    found = np.flatnonzero((documents.tokens == PERIOD) & (closed - before[documents.owners] == number))
    return documents.owners[found], documents.positions[found]
