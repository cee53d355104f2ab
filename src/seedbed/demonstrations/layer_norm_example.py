"""Layer norm of a few numbers, as a reader computes it with a pencil (recurrence, exercise 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.observations import Observation, Scalar

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The numbers, and what is done to them."""

    numbers: tuple[float, ...] = (1, 2, 3, 4)
    factor: float = 10
    shift: float = 100

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: all are equal, so that there is no deviation to divide by, or the factor is not above 0.
        """
        if len(set(self.numbers)) < 2:
            raise ValueError(f"numbers {list(self.numbers)}: expected two different ones")
        if self.factor <= 0:
            raise ValueError(f"factor {self.factor}: expected above 0")


def demonstrate(options: Options) -> Iterator[Observation]:
    """Of the numbers as they are, ``scaled`` and ``shifted``: ``mean``, ``deviation`` and ``normed``, by place."""
    numbers = np.array(options.numbers, float)
    given = {"plain": numbers, "scaled": options.factor * numbers, "shifted": options.shift + numbers}
    for name, values in given.items():
        of: dict[str, Scalar] = {"numbers": name}
        mean, deviation = values.mean(), values.std()
        yield Observation("mean", float(mean), of)
        yield Observation("deviation", float(deviation), of)
        for place, value in enumerate((values - mean) / deviation):
            yield Observation("normed", float(value), {**of, "place": place}, "deviation")
