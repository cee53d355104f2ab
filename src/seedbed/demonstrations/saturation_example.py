"""What softmax makes of four scores, and of the same scores four times as large (recurrence, exercise 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.observations import Observation, Scalar

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The scores, and the tokens: each is its place's unit vector, times its length."""

    scores: tuple[float, ...] = (0, 1, 2, 0)
    lengths: tuple[float, ...] = (1, 1, 2, 1)
    factors: tuple[float, ...] = (1, 4)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: not a length for each score.
        """
        if len(self.scores) != len(self.lengths) or not self.scores:
            raise ValueError(f"lengths {list(self.lengths)}: expected one for each of {len(self.scores)} scores")


def demonstrate(options: Options) -> Iterator[Observation]:
    """By factor of the scores and by place: ``weight``, and ``output``, the mixture of the tokens."""
    tokens = np.diag(options.lengths)
    for factor in options.factors:
        raised = np.exp(factor * np.array(options.scores))
        weights = raised / raised.sum()
        for place, (weight, output) in enumerate(zip(weights.tolist(), (weights @ tokens).tolist(), strict=True)):
            of: dict[str, Scalar] = {"factor": factor, "place": place}
            yield Observation("weight", weight, of, "share")
            yield Observation("output", output, of, "number")
