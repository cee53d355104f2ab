"""How far a prediction is from the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def divergence(true: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL(true ‖ predicted) of each row, from log probabilities [rows, vocabulary]; 0 log 0 counts 0."""
    possible = np.isfinite(true)
    difference = np.where(possible, true, 0) - np.where(possible, predicted, 0)
    return np.asarray((np.exp(true) * difference).sum(1))
