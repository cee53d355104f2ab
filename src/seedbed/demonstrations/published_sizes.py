"""Sums and ratios of numbers that were published, as the lecture forms them (recurrence 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The published numbers."""

    entries: tuple[int, ...]  # of a collection of n-grams, from one word to the longest
    trained: tuple[str, ...]  # models: a name, billions of parameters, billions of tokens of the training

    def __post_init__(self) -> None:
        """Check the models.

        Raises:
            ValueError: one that is not a name and two numbers above 0.
        """
        for text in self.trained:
            _read(text)


def demonstrate(options: Options) -> Iterator[Observation]:
    """``entries`` of all lengths together, and ``tokens_per_parameter`` by model."""
    yield Observation("entries", sum(options.entries), unit="count")
    for text in options.trained:
        name, parameters, tokens = _read(text)
        yield Observation("tokens_per_parameter", tokens / parameters, {"model": name}, "token")


def _read(text: str) -> tuple[str, float, float]:
    try:
        name, parameters, tokens = text.split()
        if not float(parameters) > 0 or not float(tokens) > 0:
            raise ValueError(text)
    except ValueError:
        raise ValueError(f"trained: {text!r}: expected a name, parameters and tokens, both above 0") from None
    return name, float(parameters), float(tokens)
