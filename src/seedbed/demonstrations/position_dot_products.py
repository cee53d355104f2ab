"""The dot product of two position vectors is known from their distance alone.

Lectures: objectives 3.5; recurrence 3.9; transformer 6.3 and exercise 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.demonstrations.numpy_positions import Numbers, frequencies, require_pairs, vectors
from seedbed.messages import require_at_least
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The vectors, and which pairs of them are multiplied."""

    widths: tuple[int, ...] = (32, 64)
    starts: tuple[int, ...] = (0, 10, 30, 37, 50, 120, 150, 280)  # the positions from which distances are counted
    distances: tuple[int, ...] = (1, 4, 10, 50)  # at which each start has an observation
    longest: int = 100  # distance up to which everything is measured
    rising: int = 59  # distance up to which rises are counted

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no width or start, an odd width, or distances beyond the longest.
        """
        for width in self.widths:
            require_pairs(width)
        require_at_least(0, start=min(self.starts, default=-1))
        if min(self.distances, default=0) < 1 or max(*self.distances, self.rising) > self.longest:
            raise ValueError(
                f"distances {list(self.distances)}, rising {self.rising}: expected them from 1 to "
                f"longest {self.longest}"
            )
        require_at_least(2, rising=self.rising)


def demonstrate(options: Options) -> Iterator[Observation]:
    """By width the dot products of position vectors of our networks, and what they depend on.

    ``dot_product`` is by start and distance, ``by_distance`` from position 0. ``start_difference`` is the largest
    difference between two starts at a distance, ``formula_difference`` that from the sum of cos(frequency ×
    distance), ``direction_difference`` between a distance ahead and back; each also in NumPy's double precision
    (``table``). ``lead_at_zero`` is by how much distance 0 is above any other distance, ``rises`` the number of
    distances d up to ``rising`` at which that of d is above that of d − 1, ``correlation`` that of product and
    distance, from 0 to ``rising``.
    """
    positions = max(*options.starts, options.longest) + options.longest + 1
    for width in options.widths:
        ours = np.asarray(sinusoidal(positions, width).double().numpy())
        for name, table in (("seedbed", ours), ("numpy", vectors(range(positions), width))):
            for metric, difference in _differences(table, options).items():
                yield Observation(metric, difference, {"table": name, "width": width}, "number")
        for start in options.starts:
            for distance in options.distances:
                of = {"start": start, "distance": distance, "width": width}
                yield Observation("dot_product", float(ours[start] @ ours[start + distance]), of, "number")
        yield from _curve(ours[: options.longest + 1] @ ours[0], width, options)


def _differences(table: Numbers, options: Options) -> dict[str, float]:
    """The largest difference between starts, from the formula, and between the two directions."""
    starts, distances = np.array(options.starts), np.arange(options.longest + 1)
    ahead = np.stack([table[start + distances] @ table[start] for start in starts])  # [starts, distances]
    formula = np.cos(np.outer(distances, frequencies(table.shape[1]))).sum(1)
    middle = table[options.longest]
    later, earlier = (table[options.longest + sign * distances] @ middle for sign in (1, -1))
    return {
        "start_difference": float(np.ptp(ahead, axis=0).max()),
        "formula_difference": float(np.abs(ahead - formula).max()),
        "direction_difference": float(np.abs(later - earlier).max()),
    }


def _curve(products: Numbers, width: int, options: Options) -> Iterator[Observation]:
    for distance, product in enumerate(products):
        yield Observation("by_distance", float(product), {"distance": distance, "width": width}, "number")
    yield Observation("lead_at_zero", float(products[0] - products[1:].max()), {"width": width}, "number")
    near = products[: options.rising + 1]
    yield Observation("rises", int((np.diff(near) > 0).sum()), {"width": width}, "count")
    correlation = float(np.corrcoef(np.arange(len(near)), near)[0, 1])
    yield Observation("correlation", correlation, {"width": width}, "correlation")
