"""Sinusoidal positions in NumPy (Vaswani et al. 2017, section 3.5; transformer 6.2, 6.3).

They share no code with `models.positions`, which they are compared with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def require_pairs(width: int) -> None:
    """Refuse a width whose columns are no pairs.

    Raises:
        ValueError: the width is odd or below 2.
    """
    if width < 2 or width % 2:
        raise ValueError(f"width {width}: expected an even number from 2")


def frequencies(width: int) -> Numbers:
    """[pairs], the angle in radians by which each pair of columns turns at one position."""
    return np.array([1 / 10000 ** (2 * pair / width) for pair in range(width // 2)])


def vectors(positions: Sequence[int], width: int) -> Numbers:
    """[positions, width], the sine of each angle in the even columns and its cosine in the odd ones."""
    angles = np.outer(positions, frequencies(width))
    found = np.empty((len(angles), width))
    found[:, 0::2], found[:, 1::2] = np.sin(angles), np.cos(angles)
    return found


def pointers(table: Numbers) -> NDArray[np.complex128]:
    """[positions, pairs], each pair of columns as a number of the complex plane, cosine + i sine."""
    return np.asarray(table[:, 1::2] + 1j * table[:, 0::2])


def rotation(shift: int, width: int) -> Numbers:
    """[width, width], the matrix M with vectors(p + shift) = vectors(p) M: a block of 2 × 2 for each pair."""
    matrix = np.zeros((width, width))
    for pair, frequency in enumerate(frequencies(width)):
        sine, cosine = np.sin(frequency * shift), np.cos(frequency * shift)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cosine, -sine], [sine, cosine]]
    return matrix
