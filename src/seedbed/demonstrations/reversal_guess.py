"""How often a guess is right when symbols are to be written in reverse order (transformer 6.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.messages import require_positive
from seedbed.observations import Observation, mean

NEEDS = ("rng",)

Symbols = NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """The task of transformer 9.1, and how many sequences are guessed."""

    symbols: int = 10
    length: int = 16
    sequences: int = 500

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a number below 1.
        """
        require_positive(**vars(self))


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """``accuracy``, the share of right symbols of each sequence, by what is guessed.

    ``any``: each time one of all symbols. ``read``: one of those that were read, for who knows which they are but
    not where. ``commonest``: always the one that was read most often.
    """
    sources = rng.integers(options.symbols, size=(options.sequences, options.length))
    targets = sources[:, ::-1]
    for guess, written in {
        "any": rng.integers(options.symbols, size=sources.shape),
        "read": np.take_along_axis(sources, rng.integers(options.length, size=sources.shape), axis=1),
        "commonest": np.repeat(_commonest(sources, options.symbols)[:, None], options.length, axis=1),
    }.items():
        yield mean("accuracy", (written == targets).mean(1), {"guess": guess}, "share")


def _commonest(sources: Symbols, symbols: int) -> Symbols:
    counts = (sources[:, :, None] == np.arange(symbols)).sum(1)
    return np.asarray(counts.argmax(1))
