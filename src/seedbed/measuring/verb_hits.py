"""Whether a predictor prefers the form of a verb that agrees with its subject (recurrence 6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seedbed.languages.agreement import SentencePrefixes
from seedbed.measuring.context import Predictor


def hits(model: Predictor, test: SentencePrefixes) -> NDArray[np.float64]:
    """[documents], 1 if the right form is more probable than the wrong one, 0 if it is less, else one half.

    NaN if neither has any probability.
    """
    predicted = model.log_probabilities(test.documents)[test.documents.offsets[1:] - 1]
    each = np.arange(len(test.documents))
    right, wrong = predicted[each, test.right], predicted[each, test.wrong]
    scores = np.where(right == wrong, 0.5, right > wrong)
    return np.where(np.maximum(right, wrong) == -np.inf, np.nan, scores)
