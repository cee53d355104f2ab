"""Choose a fixed number of positions of each document uniformly at random, without a loop over documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import positions_within


def choose(rng: np.random.Generator, sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[sum of sizes], which positions are chosen: ``counts[i]`` of the ``sizes[i]`` positions of document i."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((rng.random(len(owners)), owners))
    chosen = np.zeros(len(owners), np.bool_)
    chosen[shuffled] = positions_within(sizes) < counts[owners]
    return chosen


def hidden_counts(lengths: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """[documents], how many tokens of each document are hidden: the rounded share of its length, at least one."""
    rounded: NDArray[np.int64] = np.rint(share * lengths).astype(np.int64)
    return np.maximum(rounded, 1)
