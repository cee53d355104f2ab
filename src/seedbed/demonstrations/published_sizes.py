"""Sums and ratios of numbers that were published, as the lecture forms them (recurrence 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from seedbed.observations import Observation

NEEDS = ()


class Model(TypedDict):
    """A model, with its parameters and the tokens of its training, both in billions."""

    name: str
    parameters: float
    tokens: float


@dataclass(frozen=True)
class Options:
    """The published numbers."""

    entries: tuple[int, ...]  # of a collection of n-grams, from one word to the longest
    trained: tuple[Model, ...]

    def __post_init__(self) -> None:
        """Check the models.

        Raises:
            ValueError: parameters or tokens that are not above 0.
        """
        for one in self.trained:
            if not (one["parameters"] > 0 and one["tokens"] > 0):
                raise ValueError(f"trained: {one['name']}: expected parameters and tokens above 0")


def demonstrate(options: Options) -> Iterator[Observation]:
    """``entries`` of all lengths together, and ``tokens_per_parameter`` by model."""
    yield Observation("entries", sum(options.entries), unit="count")
    for one in options.trained:
        ratio = one["tokens"] / one["parameters"]
        yield Observation("tokens_per_parameter", ratio, {"model": one["name"]}, "token")
