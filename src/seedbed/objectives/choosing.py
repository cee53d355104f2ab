"""Choosing exactly so many places of each document, all choices alike, without a loop over documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import within


def choose(rng: np.random.Generator, sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[sum of sizes], which places are chosen: ``counts[i]`` of the ``sizes[i]`` places of document i."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((rng.random(len(owners)), owners))
    chosen = np.zeros(len(owners), np.bool_)
    chosen[shuffled] = within(sizes) < counts[owners]
    return chosen


def to_hide(lengths: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """How many of so many tokens are hidden: the share, rounded, and one at least."""
    rounded: NDArray[np.int64] = np.rint(share * lengths).astype(np.int64)
    return np.maximum(rounded, 1)
