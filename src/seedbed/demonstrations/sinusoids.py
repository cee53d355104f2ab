"""What sinusoidal positions are: pairs of columns that turn like the hands of clocks, fast and slow ones.

Everything is measured on the position vectors that our networks read (objectives 3.5; recurrence 3.9;
transformer 6.2; pretraining 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.demonstrations.numpy_positions import Numbers, pointers, require_pairs, vectors
from seedbed.messages import require_at_least
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """Which vectors are looked at."""

    width: int = 64  # of the vectors whose pairs are described
    widths: tuple[int, ...] = (16, 64, 512)  # of those whose length and range are measured
    positions: int = 200
    apart: int = 20  # positions from which on two are far apart
    shown: int = 16  # positions of the table that is shown
    shown_width: int = 16

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, one pair alone, or too few positions for two to be far apart.
        """
        for width in (self.width, *self.widths, self.shown_width):
            require_pairs(width)
        require_at_least(4, width=self.width)
        require_at_least(1, shown=self.shown, apart=self.apart)
        require_at_least(max(3, self.apart + 1), positions=self.positions)


def demonstrate(options: Options) -> Iterator[Observation]:
    """By width ``formula_difference``, ``smallest``, ``largest``, ``norm`` and ``nearest``; by pair its clock.

    ``formula_difference`` is the largest difference of our table from one in NumPy; ``smallest`` and ``largest``
    are its entries, ``norm`` the length of its vectors with ``norm_difference`` from the root of half the width,
    ``nearest`` the distance of the two vectors that are most alike. Of each pair, ``wavelength`` is the number of
    positions in one turn, ``neighbour_distance`` how far apart it puts two neighbours, and ``far_to_near`` how far
    at least two positions that are far apart, in units of that. ``wavelength_difference`` is the largest relative
    difference from 2π 10000^(2 pair / width), ``wavelength_ratio`` that of a pair to the one before.
    ``turn_spread`` is by how many radians the turns at different positions differ, ``pair_norm_difference`` how
    far the length of a pair is from 1. ``value`` is the table that is shown.
    """
    for width in dict.fromkeys((*options.widths, options.width)):
        yield from _of_width(_ours(options.positions, width))
    yield from _clocks(_ours(options.positions, options.width), options)
    for position, row in enumerate(_ours(options.shown, options.shown_width)):
        for column, entry in enumerate(row):
            yield Observation("value", float(entry), {"position": position, "column": column}, "number")


def _ours(positions: int, width: int) -> Numbers:
    return np.asarray(sinusoidal(positions, width).double().numpy())


def _of_width(table: Numbers) -> Iterator[Observation]:
    positions, width = table.shape
    difference = float(np.abs(table - vectors(range(positions), width)).max())
    yield Observation("formula_difference", difference, {"width": width}, "number")
    yield Observation("smallest", float(table.min()), {"width": width}, "number")
    yield Observation("largest", float(table.max()), {"width": width}, "number")
    norms = np.linalg.norm(table, axis=1)
    for of, norm in (("shortest", norms.min()), ("longest", norms.max())):
        yield Observation("norm", float(norm), {"width": width, "of": of}, "number")
    difference = float(np.abs(norms - np.sqrt(width / 2)).max())
    yield Observation("norm_difference", difference, {"width": width}, "number")
    nearest = min(np.linalg.norm(table[one + 1 :] - table[one], axis=1).min() for one in range(positions - 1))
    yield Observation("nearest", float(nearest), {"width": width}, "number")


def _clocks(table: Numbers, options: Options) -> Iterator[Observation]:
    hands = pointers(table)
    turns = np.angle(hands[1:] / hands[:-1])  # [positions - 1, pairs], radians
    wavelengths = 2 * np.pi / turns.mean(0)
    near = np.abs(hands[1] - hands[0])
    far = np.min(
        [np.abs(hands[away:] - hands[:-away]).min(0) for away in range(options.apart, options.positions)], axis=0
    )
    for metric, values, unit in (
        ("wavelength", wavelengths, "position"),
        ("neighbour_distance", near, "number"),
        ("far_to_near", far / near, "ratio"),
    ):
        for pair, value in enumerate(values):
            yield Observation(metric, float(value), {"pair": pair}, unit)
    expected = [2 * np.pi * 10000 ** (2 * pair / options.width) for pair in range(options.width // 2)]
    yield Observation("wavelength_difference", float(np.abs(wavelengths / expected - 1).max()), unit="ratio")
    ratios = wavelengths[1:] / wavelengths[:-1]
    for of, ratio in (("smallest", ratios.min()), ("largest", ratios.max())):
        yield Observation("wavelength_ratio", float(ratio), {"of": of}, "ratio")
    yield Observation("turn_spread", float(np.ptp(turns, axis=0).max()), unit="radian")
    yield Observation("pair_norm_difference", float(np.abs(np.abs(hands) - 1).max()), unit="number")
